#include "sim/scenario/observation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/values/waits_for.h"
#include "api/views/group_view.h"
#include "api/views/node_view.h"
#include "api/views/pod_facts.h"
#include "sim/node_labels.h"

namespace muster::sim {
namespace {

using api::ObjectPtr;
using api::view_of;

std::string amounts_text(const api::Amounts& used, const api::Amounts& all) {
  std::vector<std::string> parts;
  if (all.cpu_milli > 0)
    parts.push_back(fmt::format("cpu {}/{}", api::Quantity::of_milli(used.cpu_milli).text(),
                                api::Quantity::of_milli(all.cpu_milli).text()));
  if (all.memory > 0)
    parts.push_back(
        fmt::format("memory {}/{}",
                    api::Quantity::of_units(used.memory, api::Quantity::Format::BinarySI).text(),
                    api::Quantity::of_units(all.memory, api::Quantity::Format::BinarySI).text()));
  for (const auto& [name, amount] : all.scalars)
    parts.push_back(
        fmt::format("{} {}/{}", name.substr(name.rfind('/') + 1), used.of(name), amount));
  return fmt::format("{}", fmt::join(parts, "  "));
}

void add(api::Amounts& sum, const api::Amounts& more) {
  sum.cpu_milli += more.cpu_milli;
  sum.memory += more.memory;
  for (const auto& [name, amount] : more.scalars) {
    const auto at = std::ranges::find(sum.scalars, name, &decltype(sum.scalars)::value_type::first);
    if (at == sum.scalars.end())
      sum.scalars.emplace_back(name, amount);
    else
      at->second += amount;
  }
}

std::string node_line(const ObjectPtr& node, const std::vector<ObjectPtr>& pods) {
  const auto& view = node->view<api::NodeView>();
  api::Amounts used;
  std::vector<std::string> names;
  for (const ObjectPtr& pod : pods)
    if (Stage::node_of(pod) == node->meta().name) {
      add(used, view_of(pod).needs.requests);
      names.push_back(pod->meta().name + (pod->meta().deletion_time ? " (terminating)" : ""));
    }
  return fmt::format("{}  {}{}{}  {}", node->meta().name, amounts_text(used, view.allocatable),
                     view.unschedulable ? "  cordoned" : "", view.taints.empty() ? "" : "  tainted",
                     names.empty() ? "-" : fmt::format("{}", fmt::join(names, " ")));
}

}  // namespace

Observation observe(const Stage& stage, const Cast::Subject& subject) {
  Observation seen;
  for (const std::size_t id : subject.pods) {
    const ObjectPtr pod = stage.pod(id);
    if (pod == nullptr) continue;
    ++seen.pods;
    seen.terminating += pod->meta().deletion_time ? 1 : 0;
    seen.running += view_of(pod).phase == "Running" ? 1 : 0;
    if (view_of(pod).is_terminal()) {
      ++seen.ended;
    } else if (const std::string node = Stage::node_of(pod); node.empty()) {
      ++seen.waiting;
      seen.gated += view_of(pod).scheduling_gates.empty() ? 0 : 1;
    } else {
      ++seen.placed;
      ++seen.nodes[node];
    }
  }
  return seen;
}

std::optional<api::Condition> condition_of(const Stage& stage, const Cast::Subject& subject) {
  if (subject.group) {
    const ObjectPtr group = stage.group(*subject.group);
    if (group == nullptr) return std::nullopt;
    const std::string_view type = stage.cast().group(*subject.group).is_leaf()
                                      ? "PodGroupInitiallyScheduled"
                                      : "CompositePodGroupInitiallyScheduled";
    const api::GroupCondition* found = group->view<api::GroupView>().condition(type);
    return found == nullptr ? std::nullopt : std::optional<api::Condition>(*found);
  }
  for (const std::size_t id : subject.pods)
    if (const ObjectPtr pod = stage.pod(id); pod != nullptr && Stage::node_of(pod).empty())
      if (const api::Condition* found = view_of(pod).condition("PodScheduled")) return *found;
  return std::nullopt;
}

std::string message_of(const Stage& stage, const Cast::Subject& subject) {
  const std::optional<api::Condition> said = condition_of(stage, subject);
  if (said && said->status == "False") return said->message;
  if (!subject.group) return {};
  const std::optional<api::Condition> pods =
      condition_of(stage, {.text = subject.text, .group = {}, .pods = subject.pods});
  return said && pods && pods->status == "False" ? pods->message : std::string();
}

std::set<std::string> waits_for(const Stage& stage, const Cast::Subject& subject) {
  std::set<std::string> said;
  for (const std::size_t id : subject.pods) {
    const ObjectPtr pod = stage.pod(id);
    if (pod == nullptr || !Stage::node_of(pod).empty()) continue;
    const api::Condition* waits = view_of(pod).condition(api::kWaitsForCondition);
    said.insert(waits == nullptr ? "nothing" : waits->reason);
  }
  return said;
}

std::string describe(const Stage& stage, const Cast::Subject& subject) {
  const Observation seen = observe(stage, subject);
  if (seen.pods == 0 && !subject.group) return "gone";
  std::vector<std::string> parts;
  if (seen.placed > 0) {
    std::vector<std::string> nodes;
    for (const auto& [node, count] : seen.nodes)
      nodes.push_back(count == 1 ? node : fmt::format("{} ({})", node, count));
    parts.push_back(
        fmt::format("placed {} of {}: {}", seen.placed, seen.pods, fmt::join(nodes, ", ")));
  }
  if (seen.ended > 0) parts.push_back(fmt::format("{} ended", seen.ended));
  if (seen.terminating > 0) parts.push_back(fmt::format("{} terminating", seen.terminating));
  if (seen.gated > 0) parts.push_back(fmt::format("{} gated", seen.gated));
  if (seen.waiting > 0) {
    const std::string message = message_of(stage, subject);
    parts.push_back(fmt::format("{} waiting: {}", seen.waiting,
                                message.empty() ? "(no condition says why)" : message));
  }
  if (parts.empty()) parts.emplace_back("no pods");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string cluster_map(const Stage& stage) {
  constexpr std::array kLevels{std::pair{"zone", kZoneLabel}, std::pair{"block", kBlockLabel},
                               std::pair{"rack", kRackLabel}};
  std::map<std::string, std::vector<ObjectPtr>> domains;
  for (const ObjectPtr& node : stage.nodes()) {
    std::vector<std::string> parts;
    for (const auto& [word, label] : kLevels)
      if (const std::string* value = api::lookup(node->meta().labels, label))
        parts.push_back(fmt::format("{} {}", word, *value));
    domains[fmt::format("{}", fmt::join(parts, ", "))].push_back(node);
  }
  const std::vector<ObjectPtr> pods = stage.pods();
  std::string text;
  for (const auto& [domain, nodes] : domains) {
    if (!domain.empty()) text += domain + "\n";
    for (const ObjectPtr& node : nodes)
      text += fmt::format("{}{}\n", domain.empty() ? "" : "  ", node_line(node, pods));
  }
  return text;
}

}  // namespace muster::sim
