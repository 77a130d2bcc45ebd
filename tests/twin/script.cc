#include "twin/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace muster::scheduler::twin {
namespace {

std::string join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string random_name(Dice& dice) { return "n" + std::to_string(dice.below(14)); }

std::string random_term(Dice& dice) {
  switch (dice.below(5)) {
    case 0:
      return R"({"matchExpressions":[{"key":"disk","operator":"In","values":["ssd","nvme"]}]})";
    case 1: return R"({"matchExpressions":[{"key":"gen","operator":"Gt","values":["2"]}]})";
    case 2:
      return R"({"matchExpressions":[{"key":"zone","operator":"NotIn","values":["z1"]},{"key":"disk","operator":"Exists"}]})";
    case 3:
      return R"({"matchFields":[{"key":"metadata.name","operator":")" + dice.any({"In", "NotIn"}) +
             R"(","values":[")" + random_name(dice) + "\"]}]}";
    default: return R"({"matchExpressions":[{"key":"zone","operator":"DoesNotExist"}]})";
  }
}

std::string random_affinity(Dice& dice) {
  std::vector<std::string> parts;
  if (dice.chance(25))
    parts.push_back(R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
                    random_term(dice) + (dice.chance(50) ? "," + random_term(dice) : "") + "]}");
  if (dice.chance(35))
    parts.push_back(fmt::format(
        R"("preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},"preference":{}}},{{"weight":{},"preference":{}}}])",
        1 + dice.below(100), random_term(dice), 1 + dice.below(100), random_term(dice)));
  return parts.empty() ? "" : R"("nodeAffinity":{)" + join(parts) + "}";
}

// --- what pods ask about each other ---

std::string random_selector(Dice& dice) {
  switch (dice.below(8)) {
    case 0: return R"({})";
    case 1: return R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["a"]}]})";
    case 2: return R"({"matchExpressions":[{"key":"tier","operator":"Exists"}]})";
    case 3: return R"({"matchExpressions":[{"key":"app","operator":"In","values":["b","a"]}]})";
    default: return R"({"matchLabels":{"app":")" + dice.any({"a", "b"}) + "\"}}";
  }
}

std::string random_pod_term(Dice& dice) {
  std::string term =
      fmt::format(R"({{"topologyKey":"{}")", dice.any({"zone", "zone", "host", "disk"}));
  if (!dice.chance(8)) term += R"(,"labelSelector":)" + random_selector(dice);
  if (dice.chance(15)) term += R"(,"namespaces":["other"])";
  if (dice.chance(15))
    term += R"(,"namespaceSelector":)" +
            std::string(dice.chance(30) ? "{}" : R"({"matchLabels":{"team":"x"}})");
  if (dice.chance(10)) term += R"(,"matchLabelKeys":["tier"])";
  if (dice.chance(10)) term += R"(,"mismatchLabelKeys":["tier"])";
  return term + "}";
}

std::string random_weighted_term(Dice& dice) {
  return fmt::format(R"({{"weight":{},"podAffinityTerm":{}}})", 1 + dice.below(100),
                     random_pod_term(dice));
}

std::string random_pod_affinity(Dice& dice, const char* field) {
  std::vector<std::string> parts;
  if (dice.chance(40))
    parts.push_back(R"("requiredDuringSchedulingIgnoredDuringExecution":[)" +
                    random_pod_term(dice) + (dice.chance(20) ? "," + random_pod_term(dice) : "") +
                    "]");
  if (dice.chance(50))
    parts.push_back(R"("preferredDuringSchedulingIgnoredDuringExecution":[)" +
                    random_weighted_term(dice) +
                    (dice.chance(30) ? "," + random_weighted_term(dice) : "") + "]");
  return fmt::format(R"("{}":{{{}}})", field, join(parts));
}

std::string random_constraint(Dice& dice, const std::string& key) {
  std::string text = fmt::format(
      R"({{"topologyKey":"{}","maxSkew":{},"whenUnsatisfiable":"{}","labelSelector":{})", key,
      1 + dice.below(3), dice.any({"DoNotSchedule", "ScheduleAnyway"}), random_selector(dice));
  if (dice.chance(20)) text += R"(,"minDomains":3)";
  if (dice.chance(25)) text += R"(,"nodeAffinityPolicy":"Ignore")";
  if (dice.chance(25)) text += R"(,"nodeTaintsPolicy":"Honor")";
  if (dice.chance(20)) text += R"(,"matchLabelKeys":["tier"])";
  return text + "}";
}

std::string random_spread(Dice& dice) {
  std::vector<std::string> parts;
  if (dice.chance(70)) parts.push_back(random_constraint(dice, "zone"));
  if (dice.chance(50)) parts.push_back(random_constraint(dice, "kubernetes.io/hostname"));
  if (dice.chance(20)) parts.push_back(random_constraint(dice, "disk"));
  return R"("topologySpreadConstraints":[)" + join(parts) + "]";
}

std::string text_of(const PodSample& pod) {
  return fmt::format("{}/{}{}{}{} cpu={} memory={}{}{}{}", pod.name_space, pod.name,
                     pod.labels.empty() ? "" : fmt::format(" {}", pod.labels),
                     pod.terminating ? " terminating" : "",
                     pod.node_name.empty() ? "" : " on " + pod.node_name, pod.cpu, pod.memory,
                     pod.extended.empty() ? "" : fmt::format(" {}", pod.extended),
                     pod.ports.empty() ? "" : " ports=" + pod.ports,
                     pod.spec.empty() ? "" : " {" + pod.spec + "}") +
         (pod.metadata.empty() ? "" : " " + pod.metadata);
}

std::string text_of(const Change& change) {
  const NodeSample& node = change.node;
  switch (change.kind) {
    case Change::Kind::SetNode:
      return fmt::format("node {} cpu={} memory={} pods={} labels={} {} {}{} {}", node.name,
                         node.cpu, node.memory, node.pods, node.labels, node.extended, node.taints,
                         node.unschedulable ? " unschedulable" : "", node.status);
    case Change::Kind::RemoveNode: return "no more node " + node.name;
    case Change::Kind::SetPod: return "pod " + text_of(change.pod);
    case Change::Kind::AssumePod: return "assumed " + text_of(change.pod);
    case Change::Kind::RemovePod: return "no more pod " + change.pod.name;
    case Change::Kind::KeepFor: return "kept for " + text_of(change.pod);
    case Change::Kind::SetNamespace: return fmt::format("namespace {} {}", node.name, node.labels);
    case Change::Kind::SetObject:
      return fmt::format("{} {}", change.object->kind().kind,
                         api::to_text(change.object->document()));
    case Change::Kind::RemoveObject:
      return fmt::format("no more {} {}", change.object->kind().kind, change.object->meta().name);
    case Change::Kind::Look: return "look";
  }
  return "";
}

}  // namespace

std::vector<api::ObjectPtr> Script::asking() const {
  std::vector<api::ObjectPtr> objects;
  for (const PodSample& pod : pods) objects.push_back(pod.make());
  return objects;
}

std::string Script::text() const {
  std::string text;
  for (const Change& change : history) text += "  " + text_of(change) + "\n";
  for (const PodSample& pod : pods) text += "  asks " + text_of(pod) + "\n";
  for (const Move& move : moves)
    text += move.kind == Move::Kind::Mark   ? "  checkpoint\n"
            : move.kind == Move::Kind::Undo ? "  undo\n"
                                            : fmt::format("  place {} {}\n", move.shape, move.zone);
  return text;
}

NodeSample random_node(Dice& dice) {
  NodeSample node{.name = random_name(dice)};
  node.cpu = std::to_string(1 + dice.below(8));
  node.memory = std::to_string(1 + dice.below(16)) + "Gi";
  if (dice.chance(5)) node.memory = "0";
  node.pods = static_cast<std::int64_t>(dice.below(10));
  if (dice.chance(60)) node.labels["disk"] = dice.any({"ssd", "hdd", "nvme"});
  if (dice.chance(60)) node.labels["gen"] = std::to_string(dice.below(5));
  if (dice.chance(70)) node.labels["zone"] = dice.any({"z1", "z2", "z3"});
  if (dice.chance(85)) node.labels["host"] = node.name;
  if (dice.chance(85)) node.labels["kubernetes.io/hostname"] = node.name;
  if (dice.chance(30)) node.extended["example.com/gpu"] = std::to_string(dice.below(5));
  if (dice.chance(40))
    node.taints = R"([{"key":")" + dice.any({"k", "l"}) + R"(","effect":")" +
                  dice.any({"NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"}) +
                  "\"}" + (dice.chance(40) ? R"(,{"key":"m","effect":"PreferNoSchedule"}])" : "]");
  node.unschedulable = dice.chance(10);
  return node;
}

PodSample random_pod(Dice& dice, const std::string& name) {
  PodSample pod{.name = name};
  if (dice.chance(80)) pod.cpu = std::to_string(dice.below(12) * 250) + "m";
  if (dice.chance(70)) pod.memory = std::to_string(dice.below(8) * 512) + "Mi";
  if (dice.chance(20)) pod.extended["example.com/gpu"] = std::to_string(dice.below(4));
  if (dice.chance(15))
    pod.ports =
        fmt::format(R"([{{"containerPort":80,"hostPort":{},"protocol":"{}","hostIP":"{}"}}])",
                    8080 + dice.below(2), dice.any({"TCP", "TCP", "UDP"}),
                    dice.any({"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}));
  std::vector<std::string> parts;
  if (dice.chance(25))
    parts.push_back(R"("nodeSelector":{"disk":")" + dice.any({"ssd", "hdd"}) + "\"}");
  if (dice.chance(40))
    parts.push_back(R"("tolerations":[{"key":")" + dice.any({"k", "l", ""}) +
                    R"(","operator":"Exists","effect":")" +
                    dice.any({"", "NoSchedule", "PreferNoSchedule", "NoExecute"}) + "\"}]");
  std::vector<std::string> affinities;
  if (std::string affinity = random_affinity(dice); !affinity.empty())
    affinities.push_back(affinity);
  if (dice.chance(20)) affinities.push_back(random_pod_affinity(dice, "podAffinity"));
  if (dice.chance(20)) affinities.push_back(random_pod_affinity(dice, "podAntiAffinity"));
  if (!affinities.empty()) parts.push_back(R"("affinity":{)" + join(affinities) + "}");
  if (dice.chance(25)) parts.push_back(random_spread(dice));
  if (dice.chance(60)) pod.labels["app"] = dice.any({"a", "b"});
  if (dice.chance(30)) pod.labels["tier"] = dice.any({"1", "2"});
  pod.spec = join(parts);
  return pod;
}

Script random_script(std::uint64_t seed) {
  Dice dice(seed);
  Script script;
  int next = 0;
  std::vector<PodSample> living;
  const auto set_node = [&] {
    script.history.push_back({.kind = Change::Kind::SetNode, .node = random_node(dice)});
  };
  const auto change = [&] {
    switch (dice.below(8)) {
      case 0: set_node(); return;
      case 1:
        if (dice.chance(30))
          script.history.push_back(
              {.kind = Change::Kind::RemoveNode, .node = {.name = random_name(dice)}});
        return;
      case 4:
        if (living.empty()) return;
        std::swap(living[dice.below(living.size())], living.back());
        script.history.push_back({.kind = Change::Kind::RemovePod, .pod = living.back()});
        living.pop_back();
        return;
      case 5:
        if (dice.chance(60)) return;
        script.history.push_back(
            {.kind = Change::Kind::SetNamespace, .node = {.name = dice.any({"default", "other"})}});
        if (dice.chance(60)) script.history.back().node.labels["team"] = dice.any({"x", "y"});
        return;
      default: {
        PodSample pod = random_pod(dice, "p" + std::to_string(next++));
        pod.node_name = random_name(dice);
        if (dice.chance(20)) pod.name_space = "other";
        pod.terminating = dice.chance(8);
        living.push_back(pod);
        script.history.push_back(
            {.kind = dice.chance(40) ? Change::Kind::SetPod : Change::Kind::AssumePod, .pod = pod});
      }
    }
  };
  for (std::uint64_t i = 1 + dice.below(12); i > 0; --i) set_node();
  for (int i = 0; i < 20; ++i) change();
  for (int round = 0; round < 3; ++round) {
    script.history.push_back({});
    for (int i = 0; i < 5; ++i) change();
  }
  script.history.push_back({});
  for (int i = 0; i < 3; ++i) script.pods.push_back(random_pod(dice, "ask" + std::to_string(i)));
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t kind = dice.below(6);
    script.moves.push_back({.kind = kind == 0   ? Move::Kind::Mark
                                    : kind == 1 ? Move::Kind::Undo
                                                : Move::Kind::Place,
                            .shape = dice.below(3),
                            .zone = dice.chance(50) ? "" : dice.any({"z1", "z2", "z3"})});
  }
  return script;
}

namespace {

template <typename T>
void without_some(const Script& from, std::vector<T> Script::* list, std::vector<Script>& into) {
  const std::size_t size = (from.*list).size();
  for (std::size_t chunk = size; chunk >= 1; chunk /= 2)
    for (std::size_t at = 0; at + chunk <= size; at += chunk) {
      Script& copy = into.emplace_back(from);
      const auto first = (copy.*list).begin() + static_cast<std::ptrdiff_t>(at);
      (copy.*list).erase(first, first + static_cast<std::ptrdiff_t>(chunk));
    }
}

std::vector<PodSample> simpler_pods(const PodSample& from) {
  std::vector<PodSample> simple;
  const auto clear = [&](auto member, const auto& empty) {
    if (from.*member == empty) return;
    simple.push_back(from);
    simple.back().*member = empty;
  };
  clear(&PodSample::spec, std::string());
  clear(&PodSample::ports, std::string());
  clear(&PodSample::cpu, std::string());
  clear(&PodSample::memory, std::string());
  clear(&PodSample::extended, std::map<std::string, std::string>());
  clear(&PodSample::labels, std::map<std::string, std::string>());
  clear(&PodSample::terminating, false);
  clear(&PodSample::metadata, std::string());
  return simple;
}

std::vector<NodeSample> simpler_nodes(const NodeSample& from) {
  std::vector<NodeSample> simple;
  const auto clear = [&](auto member, const auto& empty) {
    if (from.*member == empty) return;
    simple.push_back(from);
    simple.back().*member = empty;
  };
  clear(&NodeSample::taints, std::string());
  clear(&NodeSample::labels, std::map<std::string, std::string>());
  clear(&NodeSample::extended, std::map<std::string, std::string>());
  clear(&NodeSample::unschedulable, false);
  clear(&NodeSample::status, std::string());
  return simple;
}

}  // namespace

std::vector<Script> simpler(const Script& from) {
  std::vector<Script> scripts;
  without_some(from, &Script::history, scripts);
  without_some(from, &Script::moves, scripts);
  if (from.pods.size() > 1) without_some(from, &Script::pods, scripts);
  for (std::size_t i = 0; i < from.pods.size(); ++i)
    for (const PodSample& pod : simpler_pods(from.pods[i]))
      scripts.emplace_back(from).pods[i] = pod;
  for (std::size_t i = 0; i < from.history.size(); ++i) {
    for (const PodSample& pod : simpler_pods(from.history[i].pod))
      scripts.emplace_back(from).history[i].pod = pod;
    for (const NodeSample& node : simpler_nodes(from.history[i].node))
      if (from.history[i].kind == Change::Kind::SetNode)
        scripts.emplace_back(from).history[i].node = node;
  }
  return scripts;
}

Script random_script_with_kept_nodes(std::uint64_t seed) {
  const bool has_storage = seed % 3 == 0;
  Script script = has_storage ? random_storage_script(seed) : random_script(seed);
  Dice dice(seed);
  std::vector<Change> history;
  int next = 0;
  for (Change& change : script.history) {
    if (change.kind == Change::Kind::Look)
      for (std::uint64_t i = 1 + dice.below(4); i > 0; --i) {
        PodSample pod = random_pod(dice, "k" + std::to_string(next++));
        if (has_storage && dice.chance(50)) pod.spec = script.pods[dice.below(3)].spec;
        pod.node_name = "n" + std::to_string(dice.below(has_storage ? 6 : 14));
        history.push_back({.kind = Change::Kind::KeepFor, .pod = pod});
      }
    history.push_back(std::move(change));
  }
  script.history = std::move(history);
  return script;
}

}  // namespace muster::scheduler::twin
