#include "app/explain_flags.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/explain_verb.h"
#include "app/terminal.h"
#include "explain/words.h"

namespace muster::app {
namespace {

void add_explain_flags(CLI::App& verb, ExplainFlags& flags) {
  verb.add_option(
      "KIND", flags.kind,
      "podgroup (pg), compositepodgroup (cpg), pod (po), or job, jobset, leaderworkerset "
      "(lws): all its groups; without it: everything that waits, a line each");
  verb.add_option("NAME", flags.name, "Its name; KIND/NAME is fine too");
  verb.add_option("-n,--namespace", flags.name_space,
                  "Its namespace (default: the context's; of everything that waits: all)");
  add_cluster_flags(verb, flags.cluster);
  verb.add_option("-o,--output", flags.output, "text or json")->capture_default_str();
  verb.add_option("--scheduler-config", flags.scheduler_config,
                  "How the cluster's scheduler is configured (default: as `muster up` says in the "
                  "config map kube-public/muster-scheduler, else upstream's defaults)")
      ->type_name("FILE");
  verb.add_option("--feature-gates", flags.feature_gates, "Its feature gates, likewise")
      ->allow_extra_args(false)
      ->type_name("NAME=BOOL,...");
}

int explain(const ExplainFlags& flags) {
  const std::size_t columns = terminal_size().columns;
  const Result<std::string> text =
      flags.kind.empty() ? overview_of_cluster(flags, columns) : explain_from_cluster(flags);
  if (!text) return refuse(text.error().message);
  const bool wraps = !flags.kind.empty() && flags.output == "text";
  fmt::print("{}", wraps ? explain::wrapped(*text, columns) : *text);
  return kOk;
}

}  // namespace

Verb add_explain_verb(CLI::App& app) {
  CLI::App* words = app.add_subcommand(
      "explain",
      "Say why a group or a pod waits, and what would help; without a name: all that waits");
  const auto flags = std::make_shared<ExplainFlags>();
  add_explain_flags(*words, *flags);
  return {words, [flags] { return explain(*flags); }};
}

}  // namespace muster::app
