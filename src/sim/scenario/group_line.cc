#include "sim/scenario/group_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/values/quantity.h"
#include "sim/pretend_nodes.h"
#include "sim/scenario/node_line.h"

namespace muster::sim {
namespace {

using api::JsonObject;

constexpr std::string_view kPodWords =
    "pods=N, cpu=1 or another resource, priority=N, gated, never-preempts, tolerates=KEY, "
    "selector=KEY=VALUE, port=N, image=NAME:TAG, host-network, own-users, "
    "claim=NAME, own-claim=CLASS:SIZE, resource-claim=NAME, "
    "runs-for=30s, stops-in=30s, exit=1";
constexpr std::string_view kGroupWords =
    "within=LEVEL, min=N, priority=N, never-preempts, disrupts=all, expects=N, "
    "prefers=LEVEL, prefers-for=10m, parent=GROUP, owned-by=POD";

// "spot", "spot:NoSchedule", "spot=yes:NoSchedule".
api::Json read_toleration(std::string_view text) {
  JsonObject toleration;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    toleration["effect"] = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  const Setting pair = read_setting(text);
  toleration["key"] = pair.name.empty() ? text : pair.name;
  toleration["operator"] = pair.name.empty() ? "Exists" : "Equal";
  if (!pair.name.empty()) toleration["value"] = pair.value;
  return toleration;
}

Result<std::string> read_duration(const Line& line, std::string_view text) {
  if (!parse_duration(text)) return fail_at(line, "{} is no length of time such as 30s", text);
  return std::string(text);
}

Result<std::string> read_level(const Line& line, std::string_view word) {
  std::string key = label_key(word);
  if (key == word && key.find('/') == std::string::npos)
    return fail_at(line,
                   "within={}: there is no such level; write zone, block, rack, host or a label "
                   "key such as example.com/row",
                   word);
  return key;
}

// One word about a group itself; false if it is none.
Result<bool> read_group_word(const Line& line, std::string_view word, GroupLine& group) {
  const Setting setting = read_setting(word);
  if (setting.name == "within")
    group.within = TRY(read_level(line, setting.value));
  else if (setting.name == "min")
    group.minimum = TRY(read_number(line, setting.value));
  else if (setting.name == "priority")
    group.priority = TRY(read_number(line, setting.value));
  else if (setting.name == "expects")
    group.expects = TRY(read_number(line, setting.value));
  else if (setting.name == "prefers")
    group.prefers = label_key(setting.value);  // also a bad one: the scheduler judges it
  else if (setting.name == "prefers-for")
    group.prefers_for = setting.value;
  else if (setting.name == "parent")
    group.parent = setting.value;
  else if (setting.name == "owned-by")
    group.owner = setting.value;
  else if (word == "disrupts=all")
    group.disrupted_together = true;
  else if (word == "never-preempts")
    group.never_preempts = true;
  else if (word == "basic" && group.role == GroupRole::Composite)
    group.basic = true;
  else
    return false;
  return true;
}

Result<PodLine> read_shape(const Line& line, PodLine pods) {
  Words words(line, 1);
  pods.name = TRY(words.need("the name of the shape"));
  while (!words.done()) {
    const std::string word(words.next());
    if (!TRY(read_pod_word(line, word, pods)))
      return fail_at(line, "unknown word `{}` about pods; there are {}, {}", word, kPodWords,
                     kCompanyWords);
  }
  return pods;
}

Result<void> read_below(const Line& line, const PodLine& pods, GroupLine& group) {
  if (group.role == GroupRole::Composite) {
    for (const Line& child : line.below) {
      if (!is_group_word(child.words.front()))
        return fail_at(child,
                       "`{}` cannot be indented under a workload; gang, basic and composite can",
                       child.words.front());
      group.children.push_back(TRY(read_group(child, Words(child))));
    }
    if (group.children.empty() && !group.minimum)
      return fail_at(line, "a workload without groups below it needs min=N");
    return {};
  }
  for (const Line& shape : line.below) {
    if (shape.words.front() != "shape")
      return fail_at(shape,
                     "`{}` cannot be indented under a group of pods; only `shape NAME pods=N` can",
                     shape.words.front());
    group.pods.push_back(TRY(read_shape(shape, pods)));
  }
  if (group.pods.empty()) group.pods.push_back(pods);
  return {};
}

}  // namespace

bool is_group_word(std::string_view word) {
  return word == "gang" || word == "basic" || word == "workload" || word == "composite";
}

Result<bool> read_pod_word(const Line& line, std::string_view word, PodLine& pods) {
  constexpr std::pair<std::string_view, bool PodLine::*> kFlags[] = {
      {"gated", &PodLine::gated},
      {"never-preempts", &PodLine::never_preempts},
      {"host-network", &PodLine::host_network},
      {"own-users", &PodLine::own_users}};
  for (const auto& [name, flag] : kFlags)
    if (word == name) return pods.*flag = true;
  const Setting setting = read_setting(word);
  if (setting.name == "pods") {
    pods.count = TRY(read_number(line, setting.value));
  } else if (setting.name == "priority") {
    pods.priority = TRY(read_number(line, setting.value));
  } else if (setting.name == "tolerates") {
    pods.tolerations.push_back(read_toleration(setting.value));
  } else if (setting.name == "selector") {
    const Setting pair = read_setting(setting.value);
    pods.node_selector[label_key(pair.name)] = pair.value;
  } else if (setting.name == "port") {
    pods.ports.push_back(TRY(read_number(line, setting.value)));
  } else if (setting.name == "image") {
    pods.image = setting.value;
  } else if (setting.name == "runs-for") {
    pods.runs_for = TRY(read_duration(line, setting.value));
  } else if (setting.name == "stops-in") {
    pods.stops_in = TRY(read_duration(line, setting.value));
  } else if (setting.name == "exit") {
    pods.exit_code = setting.value;
  } else if (setting.name == "claim") {
    pods.claims.emplace_back(setting.value);
  } else if (setting.name == "resource-claim") {
    pods.resource_claims.emplace_back(setting.value);
  } else if (setting.name == "own-claim") {
    const std::size_t colon = setting.value.find(':');
    if (colon == std::string_view::npos) return fail_at(line, "write own-claim=CLASS:SIZE");
    pods.own_claim = {std::string(setting.value.substr(0, colon)),
                      std::string(setting.value.substr(colon + 1))};
  } else if (const std::string resource = resource_name(setting.name); !resource.empty()) {
    if (!api::Quantity::parse(setting.value))
      return fail_at(line, "{}: {} is no amount such as 8, 500m or 64Gi", word, setting.value);
    std::erase_if(pods.resources, [&](const auto& known) { return known.first == resource; });
    pods.resources.emplace_back(resource, setting.value);
  } else {
    return read_company_word(line, word, pods.company);
  }
  return true;
}

Result<LonePods> read_lone_pods(const Line& line, Words words) {
  LonePods lone;
  lone.name = TRY(words.need("the name of the pod"));
  lone.pods.count = 0;  // "web", not "web/0"
  while (!words.done()) {
    const std::string word(words.next());
    if (!TRY(read_pod_word(line, word, lone.pods)))
      return fail_at(line, "unknown word `{}` about pods; there are {}, {}", word, kPodWords,
                     kCompanyWords);
  }
  if (!line.below.empty())
    return fail_at(line.below.front(), "nothing can be indented under a lone pod");
  return lone;
}

Result<GroupLine> read_group(const Line& line, Words words) {
  GroupLine group;
  const std::string_view role = words.next();
  if (!is_group_word(role))
    return fail_at(line, "`{}` is no group: write gang, basic, workload or composite", role);
  group.role = role == "gang"    ? GroupRole::Gang
               : role == "basic" ? GroupRole::Basic
                                 : GroupRole::Composite;
  group.name = TRY(words.need("the name of the group"));
  PodLine pods;
  const bool is_leaf = group.role != GroupRole::Composite;
  while (!words.done()) {
    const std::string word(words.next());
    bool known = TRY(read_group_word(line, word, group));
    if (!known && is_leaf) known = TRY(read_pod_word(line, word, pods));
    if (!known)
      return fail_at(line, "unknown word `{}` about a group; there are {}{}", word, kGroupWords,
                     is_leaf ? fmt::format("; about its pods: {}, {}", kPodWords, kCompanyWords)
                             : std::string());
  }
  if (group.role == GroupRole::Basic && group.minimum)
    return fail_at(line, "a basic group has no minimum; write gang");
  TRY(read_below(line, pods, group));
  return group;
}

}  // namespace muster::sim
