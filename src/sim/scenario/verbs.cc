#include "sim/scenario/verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/scenario/node_line.h"
#include "sim/scenario/node_verbs.h"
#include "sim/scenario/storage_verbs.h"

namespace muster::sim {
namespace {

// A name in the text, perhaps with the word that says which of two is meant.
struct Named {
  std::string role;
  std::string path;

  Result<Cast::Subject> find(const Stage& stage) const { return stage.cast().find(role, path); }
};

Result<Named> read_named(Words& words) {
  Named named;
  if (role_of(words.peek()) || words.peek() == "pod") named.role = words.next();
  named.path = TRY(words.need("a name"));
  return named;
}

Result<std::vector<Named>> read_all_named(Words& words) {
  std::vector<Named> all;
  do all.push_back(TRY(read_named(words)));
  while (!words.done());
  return all;
}

Result<std::size_t> group_of(const Stage& stage, const Named& named) {
  const Cast::Subject subject = TRY(named.find(stage));
  if (!subject.group) return fail(Reason::Invalid, "{} is no group", named.path);
  return *subject.group;
}

// Does something to everybody who is named.
template <typename Do>
Action to_all(std::vector<Named> all, const Do& act) {
  return [all = std::move(all), act](Stage& stage) -> Result<void> {
    for (const Named& named : all) {
      const Cast::Subject subject = TRY(named.find(stage));
      TRY(act(stage, subject));
    }
    return {};
  };
}

// --- who comes ---

struct RunningLine {
  std::string name;
  std::string node;
  std::string group;
  PodLine pods;
};

Result<RunningLine> read_running_line(const Line& line) {
  RunningLine running;
  Words words(line);
  running.name = TRY(words.need("a name"));
  while (!words.done()) {
    const std::string word(words.next());
    if (word == "on")
      running.node = TRY(words.need("the name of a node"));
    else if (word.starts_with("of="))
      running.group = word.substr(3);
    else if (!TRY(read_pod_word(line, word, running.pods)))
      return fail_at(line, "unknown word `{}`; write NAME on NODE cpu=1, and of=GANG for a member",
                     word);
  }
  if (running.node.empty()) return fail_at(line, "`{}` says not where: write on NODE", line.text);
  return running;
}

Result<void> run(Stage& stage, const RunningLine& running) {
  std::optional<std::size_t> group;
  if (!running.group.empty()) group = TRY(group_of(stage, {"", running.group}));
  const std::string base = group ? running.group + "/" + running.name : running.name;
  for (int i = 0; i < running.pods.count; ++i) {
    std::string path = running.pods.count == 1 ? base : fmt::format("{}/{}", base, i);
    const std::size_t pod = TRY(stage.cast().add_pod(std::move(path), running.pods, group));
    TRY(stage.run_pod(pod, running.node));
  }
  return {};
}

Result<Action> read_running(const Line& line) {
  if (line.words.size() > 1) return fail_at(line, "list what runs in the lines below");
  std::vector<RunningLine> all;
  for (const Line& below : line.below) all.push_back(TRY(read_running_line(below)));
  return [all](Stage& stage) -> Result<void> {
    for (const RunningLine& running : all) TRY(run(stage, running));
    return {};
  };
}

// Everything of the subject that was not sent yet: groups from the top, then pods.
Result<void> send_rest(Stage& stage, const Cast::Subject& subject) {
  if (subject.group)
    for (const std::size_t group : stage.cast().subtree(*subject.group))
      TRY(stage.send_group(group));
  return stage.send_pods(subject.pods);
}

// `submit` sends at once what `define` only describes.
Result<Action> read_submit(const Line& line) {
  const bool sends = line.words.front() == "submit";
  Words words(line, 1);
  if (words.next_if("pod") || words.next_if("pods")) {
    const LonePods lone = TRY(read_lone_pods(line, words));
    return [lone, sends](Stage& stage) -> Result<void> {
      stage.retire_gone();
      TRY(stage.cast().add(lone));
      if (!sends) return {};
      const Cast::Subject subject = TRY(stage.cast().find("pod", lone.name));
      return stage.send_pods(subject.pods);
    };
  }
  const GroupLine group = TRY(read_group(line, words));
  return [group, sends](Stage& stage) -> Result<void> {
    stage.retire_gone();
    const std::size_t id = TRY(stage.cast().add(group));
    if (!sends) return {};
    return send_rest(stage, {.text = group.name, .group = id, .pods = stage.cast().members(id)});
  };
}

Result<Action> read_send(const Line& line) {
  Words words(line, 1);
  const std::string what = TRY(words.need("group, pods or rest"));
  const Named named = TRY(read_named(words));
  std::optional<int> count;
  if (what == "pods" && !words.done()) count = TRY(words.need_number("how many pods"));
  TRY(words.end());
  if (what == "group")
    return [named](Stage& stage) -> Result<void> {
      return stage.send_group(TRY(group_of(stage, named)));
    };
  if (what == "rest") return to_all({named}, send_rest);
  if (what != "pods")
    return fail_at(line, "`send {}`: write send group X, send pods X, send pods X N or send rest X",
                   what);
  return to_all({named}, [count](Stage& stage, const Cast::Subject& subject) {
    std::vector<std::size_t> pods = subject.pods;
    std::erase_if(pods, [&](std::size_t id) { return stage.cast().pod(id).sent; });
    if (count) pods.resize(std::min(pods.size(), static_cast<std::size_t>(*count)));
    return stage.send_pods(pods);
  });
}

// --- what happens to them ---

Result<Action> read_end(const Line& line) {
  const std::string phase = line.words.front() == "finish" ? "Succeeded" : "Failed";
  Words words(line, 1);
  return to_all(TRY(read_all_named(words)), [phase](Stage& stage, const Cast::Subject& subject) {
    return stage.end_pods(subject.pods, phase);
  });
}

Result<Action> read_delete(const Line& line) {
  Words words(line, 1);
  const bool only_pods = words.next_if("pods");
  const bool only_group = !only_pods && words.next_if("group");
  std::vector<Named> all;
  std::optional<std::int64_t> grace;
  do {
    if (words.next_if("now"))
      grace = 0;
    else
      all.push_back(TRY(read_named(words)));
  } while (!words.done());
  return to_all(
      std::move(all),
      [only_pods, only_group, grace](Stage& stage, const Cast::Subject& subject) -> Result<void> {
        if (!only_group) TRY(stage.delete_pods(subject.pods, grace));
        if (only_pods || !subject.group) return {};
        std::vector<std::size_t> groups =
            only_group ? std::vector{*subject.group} : stage.cast().subtree(*subject.group);
        for (const std::size_t group : groups) TRY(stage.delete_group(group));
        return {};
      });
}

Result<Action> read_set(const Line& line) {
  Words words(line, 1);
  const Named named = TRY(read_named(words));
  const std::string word = TRY(words.need("min=N"));
  const Setting setting = read_setting(word);
  if (setting.name == "prefers") {
    TRY(words.end());
    return [named, key = label_key(setting.value)](Stage& stage) -> Result<void> {
      return stage.set_preferred(TRY(group_of(stage, named)), key);
    };
  }
  if (setting.name != "min")
    return fail_at(line, "`{}` cannot be set; write set X min=N or set X prefers=LEVEL", word);
  const int minimum = TRY(read_number(line, setting.value));
  TRY(words.end());
  return [named, minimum](Stage& stage) -> Result<void> {
    return stage.set_minimum(TRY(group_of(stage, named)), minimum);
  };
}

Result<Action> read_scale(const Line& line) {
  Words words(line, 1);
  const Named named = TRY(read_named(words));
  const std::string word = TRY(words.need("pods=N"));
  const Setting setting = read_setting(word);
  if (setting.name != "pods") return fail_at(line, "`{}`: write scale X pods=N", word);
  const int pods = TRY(read_number(line, setting.value));
  TRY(words.end());
  return [named, pods](Stage& stage) -> Result<void> {
    return stage.scale(TRY(group_of(stage, named)), pods);
  };
}

Result<Action> read_ungate(const Line& line) {
  Words words(line, 1);
  return to_all(TRY(read_all_named(words)), [](Stage& stage, const Cast::Subject& subject) {
    return stage.ungate(subject.pods);
  });
}

// "refuse bindings of X", "allow deletions"
Result<Action> read_refusal(const Line& line) {
  const bool refuse = line.words.front() == "refuse";
  Words words(line, 1);
  const bool deletions = words.next_if("deletions");
  if (!deletions && !words.next_if("bindings"))
    return fail_at(line, "write refuse bindings of X, or allow bindings; or deletions");
  const auto what = deletions ? Stage::Refused::Deletions : Stage::Refused::Bindings;
  if (!refuse) {
    TRY(words.end());
    return [what](Stage& stage) -> Result<void> {
      stage.refuse(what, {});
      return {};
    };
  }
  if (!words.next_if("of")) return fail_at(line, "say whose: refuse bindings of X");
  const Named named = TRY(read_named(words));
  return [named, what](Stage& stage) -> Result<void> {
    const Cast::Subject subject = TRY(named.find(stage));
    std::set<std::string> names;
    for (const std::size_t id : subject.pods) names.insert(stage.cast().pod(id).name);
    stage.refuse(what, std::move(names));
    return {};
  };
}

// "service web  app=web"
Result<Action> read_service(const Line& line) {
  Words words(line, 1);
  const std::string name = TRY(words.need("the name of the service"));
  api::JsonObject labels;
  while (!words.done()) {
    const Setting setting = read_setting(words.next());
    if (setting.name.empty()) return fail_at(line, "write service NAME KEY=VALUE");
    labels[setting.name] = setting.value;
  }
  if (labels.empty()) return fail_at(line, "write service NAME KEY=VALUE");
  return [name, labels](Stage& stage) { return stage.create_service(name, labels); };
}

// "budget web  app=web  min-available=2"
Result<Action> read_budget(const Line& line) {
  Words words(line, 1);
  const std::string name = TRY(words.need("the name of the budget"));
  api::JsonObject labels;
  int min_available = 1;
  while (!words.done()) {
    const Setting setting = read_setting(words.next());
    if (setting.name == "min-available")
      min_available = TRY(read_number(line, setting.value));
    else if (!setting.name.empty())
      labels[setting.name] = setting.value;
    else
      return fail_at(line, "write budget NAME KEY=VALUE min-available=N");
  }
  if (labels.empty()) return fail_at(line, "write budget NAME KEY=VALUE min-available=N");
  return [name, labels, min_available](Stage& stage) {
    return stage.create_budget(name, labels, min_available);
  };
}

// --- time ---

Result<Action> read_wait(const Line& line) {
  Words words(line, 1);
  const std::string text = TRY(words.need("a length of time such as 30s"));
  const std::optional<Duration> duration = parse_duration(text);
  if (!duration) return fail_at(line, "{} is no length of time such as 30s", text);
  TRY(words.end());
  return [duration](Stage& stage) -> Result<void> {
    stage.wait(*duration);
    return {};
  };
}

Result<Action> read_cycle(const Line& line) {
  TRY(Words(line, 1).end());
  return [](Stage& stage) -> Result<void> {
    stage.cycle();
    return {};
  };
}

Result<Action> read_restart(const Line& line) {
  Words words(line, 1);
  if (!words.next_if("scheduler")) return fail_at(line, "write restart scheduler");
  TRY(words.end());
  return [](Stage& stage) -> Result<void> {
    stage.restart_scheduler();
    return {};
  };
}

Result<Action> read_expect(const Line& line) {
  TRY(Words(line, 1).end());
  return [](Stage&) -> Result<void> { return {}; };
}

struct Verb {
  std::string_view word;
  Result<Action> (*read)(const Line& line);
  bool has_lines = false;  // of its own below it
};
constexpr Verb kVerbs[] = {{"cluster", read_add_nodes, true},
                           {"add", read_add_nodes, true},
                           {"storage", read_storage, true},
                           {"running", read_running, true},
                           {"submit", read_submit, true},
                           {"define", read_submit, true},
                           {"send", read_send},
                           {"cycle", read_cycle},
                           {"wait", read_wait},
                           {"expect", read_expect},
                           {"finish", read_end},
                           {"fail", read_end},
                           {"delete", read_delete},
                           {"remove", read_remove},
                           {"cordon", read_cordon},
                           {"uncordon", read_cordon},
                           {"unready", read_readiness},
                           {"ready", read_readiness},
                           {"label", read_label},
                           {"unlabel", read_label},
                           {"taint", read_taint_verb},
                           {"untaint", read_taint_verb},
                           {"set", read_set},
                           {"scale", read_scale},
                           {"ungate", read_ungate},
                           {"service", read_service},
                           {"budget", read_budget},
                           {"restart", read_restart},
                           {"refuse", read_refusal},
                           {"allow", read_refusal}};

}  // namespace

bool takes_expectations(std::string_view verb) {
  return verb == "cycle" || verb == "wait" || verb == "expect";
}

Result<Action> read_action(const Line& line) {
  const std::string& word = line.words.front();
  const auto* const verb = std::ranges::find(kVerbs, word, &Verb::word);
  if (verb == std::end(kVerbs)) {
    std::vector<std::string_view> words;
    for (const Verb& known : kVerbs) words.push_back(known.word);
    return fail_at(line, "unknown word `{}`; a step begins with one of {}", word,
                   fmt::join(words, ", "));
  }
  if (!verb->has_lines && !takes_expectations(word) && !line.below.empty())
    return fail_at(line.below.front(),
                   "nothing can be indented under `{}`; expectations belong under cycle,"
                   " wait or expect",
                   word);
  return verb->read(line);
}

}  // namespace muster::sim
