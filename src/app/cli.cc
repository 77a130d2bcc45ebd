#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/build_flags.h"
#include "app/controllers_verb.h"
#include "app/doctor_verb.h"
#include "app/explain_flags.h"
#include "app/map_verb.h"
#include "app/scheduler_verb.h"
#include "app/simulate.h"
#include "app/store_flags.h"
#include "app/uninstall_verb.h"
#include "app/up_flags.h"
#include "app/verb.h"
#include "app/version.h"
#include "base/result.h"
#include "explain/near_names.h"

namespace muster::app {
namespace {

// "muster", or "kubectl muster" when kubectl runs it as a plugin: by the name kubectl-muster.
std::string called_as(const char* path) {
  const std::string_view file = path;
  const std::size_t slash = file.rfind('/');
  return file.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with("kubectl-muster")
             ? "kubectl muster"
             : "muster";
}

// The flag or verb that was perhaps meant by a word that nobody knows; empty: none is near.
std::string meant_by(std::string_view word, const CLI::App& app) {
  std::set<std::string> known;
  const auto add_flags = [&known](const CLI::App& verb) {
    for (const CLI::Option* option : verb.get_options())
      for (const std::string& name : option->get_lnames()) known.insert("--" + name);
  };
  if (word.starts_with("--")) {
    add_flags(app);
    for (const CLI::App* verb : app.get_subcommands()) add_flags(*verb);
  } else {
    for (const CLI::App* verb : app.get_subcommands({})) known.insert(verb->get_name());
  }
  return explain::nearest(word.substr(0, word.find('=')), known);
}

// What is wrong with the words of a command line.
std::string complaint(const CLI::ParseError& error, const CLI::App& app, std::string_view program) {
  const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  // A flag is looked at before other words: those are mostly its values.
  for (const bool flags : {true, false})
    for (const std::string& word : app.remaining(true)) {
      if (!is_unknown || word.starts_with("--") != flags) continue;
      const std::string meant = meant_by(word, app);
      if (!meant.empty()) return fmt::format("{} is not known; did you mean {}?", word, meant);
    }
  return fmt::format("{}; `{} help` shows what can be said", error.what(), program);
}

Verb add_simulate_verb(CLI::App& app) {
  CLI::App* words =
      app.add_subcommand("simulate", "Play a scenario text and show what the scheduler does");
  const auto file = std::make_shared<std::string>();
  words->add_option("FILE", *file, "The text; docs/scenarios.md says how to write one")->required();
  return {words, [file] {
            const Result<void> played = simulate(*file);
            return played ? kOk : refuse(played.error().message);
          }};
}

int print_version() {
  fmt::print("muster {}\n", version());
  return kOk;
}

// `muster help [VERB]`.
int print_help(const CLI::App& app, const std::string& topic, const std::string& program) {
  if (topic.empty()) {
    // Not app.help(): that would be the help of the verb that was said, `help`.
    fmt::print("{}", app.get_formatter()->make_help(&app, program, CLI::AppFormatMode::Normal));
    return kOk;
  }
  const std::vector<const CLI::App*> verbs =
      app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = std::ranges::find(verbs, topic, &CLI::App::get_name);
  if (named == verbs.end())
    return refuse(fmt::format("there is no verb {}; `{} help` lists them", topic, program));
  fmt::print("{}", (*named)->help(program));
  return kOk;
}

}  // namespace

int run(int argc, char** argv) {
  const std::string program = called_as(argc > 0 ? argv[0] : "muster");
  CLI::App app{"Muster: workload-aware scheduling for Kubernetes"};
  app.name(program);
  app.require_subcommand(0, 1);
  bool wants_version = false;
  app.add_flag("--version", wants_version, "Print the version");
  std::vector<Verb> verbs;
  for (const auto add :
       {add_up_verb, add_scheduler_verb, add_controllers_verb, add_doctor_verb, add_uninstall_verb,
        add_store_verb, add_explain_verb, add_map_verb, add_build_verb, add_simulate_verb})
    verbs.push_back(add(app));
  verbs.push_back({app.add_subcommand("version", "Print the version"), print_version});
  CLI::App* help_verb = app.add_subcommand("help", "Print help, also of one verb: muster help up");
  std::string topic;
  help_verb->add_option("VERB", topic);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return refuse(complaint(error, app, program));
  }
  if (const auto said =
          std::ranges::find_if(verbs, [](const Verb& verb) { return verb.words->parsed(); });
      said != verbs.end())
    return said->run();
  return wants_version ? print_version() : print_help(app, topic, program);
}

}  // namespace muster::app
