// What a domain is short of, for a group that does not fit there.
#include <fmt/format.h>

#include <algorithm>

#include "api/values/quantity.h"
#include "base/saturating.h"
#include "scheduler/cycle/group_report.h"
#include "scheduler/cycle/why_not.h"
#include "scheduler/framework/counted_wants.h"

namespace muster::scheduler {
namespace {

std::string amount_text(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") return "cpu " + api::Quantity::of_milli(amount).text();
  if (resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-"))
    return resource + " " + api::Quantity::of_units(amount, api::Quantity::Format::BinarySI).text();
  return fmt::format("{} {}", resource, amount);
}

}  // namespace

// For the class with the most pods. Empty if each pod would fit alone: then totals are short, and
// the closest domain says of what.
std::string GroupReport::nobody_fits(std::uint32_t id, std::span<const Domain> domains) const {
  const GroupTree::Item& item = tree_.items[id];
  const auto most = std::ranges::max_element(item.classes_below);
  const auto s = static_cast<std::size_t>(most - item.classes_below.begin());
  std::vector<NodeId> nodes;
  for (const Domain& domain : domains)
    for (const CellId cell : domain.cells)
      nodes.insert(nodes.end(), workspace_.topology().nodes(cell).begin(),
                   workspace_.topology().nodes(cell).end());
  const Standing& standing = workspace_.standing(s);
  if (const auto& everywhere = standing.refused_everywhere())
    return fmt::format("0/{} nodes are available: {}", nodes.size(), everywhere->reason);
  const Histogram reasons = why_not(standing, nodes);
  if (reasons.reasons.empty()) return "";
  std::string text = reasons.text(nodes.size());
  text.pop_back();  // the full stop
  return text;
}

// What the pods that find no room there lack, by the class that lacks the most.
std::string GroupReport::shortage(std::uint32_t id, const Domain& domain, std::int64_t needed) {
  const GroupTree::Item& item = tree_.items[id];
  std::uint32_t worst = 0;
  std::int64_t most = -1;
  for (std::uint32_t s = 0; s < tree_.standings.size(); ++s) {
    if (item.classes_below[s] == 0) continue;
    const std::int64_t wanted = std::min<std::int64_t>(item.classes_below[s], needed);
    if (const std::int64_t lacking = wanted - workspace_.cap_sum(s, domain); lacking > most) {
      worst = s;
      most = lacking;
    }
  }
  if (most <= 0) return short_in_total(id, domain, needed);
  return scarcest(worst, domain, std::min<std::int64_t>(item.classes_below[worst], needed));
}

// Each class alone would fit; all of them together ask for more than there is of something.
std::string GroupReport::short_in_total(std::uint32_t id, const Domain& domain,
                                        std::int64_t needed) {
  const GroupTree::Item& item = tree_.items[id];
  const Workspace::Totals totals = workspace_.totals(domain);
  for (std::size_t t = 0; t < totals.amounts.size(); ++t) {
    std::int64_t wanted = 0;
    for (std::size_t s = 0; s < tree_.standings.size(); ++s)
      wanted = saturating_add(wanted,
                              saturating_multiply(item.classes_below[s], workspace_.wanted(s, t)));
    if (wanted > totals.amounts[t].free)
      return "short of " + amount_text(workspace_.cluster().resource(workspace_.tracked()[t]).name,
                                       wanted - totals.amounts[t].free);
  }
  return fmt::format("short of {} pod slots", needed - totals.slots);
}

// The resource of which the fewest pods find room in the domain, each resource looked at alone. A
// lower bound of what is missing: pods may also be short of two resources on different nodes.
std::string GroupReport::scarcest(std::uint32_t class_index, const Domain& domain,
                                  std::int64_t needed) {
  const Cluster& cluster = workspace_.cluster();
  const auto wants = counted_wants(workspace_.standing(class_index), cluster);
  std::vector<NodeId> nodes;
  for (const CellId cell : domain.cells)
    nodes.insert(nodes.end(), workspace_.topology().nodes(cell).begin(),
                 workspace_.topology().nodes(cell).end());
  const PodClass::Want* scarce = nullptr;
  std::int64_t least = needed;
  for (const PodClass::Want& want : wants) {
    const ResourceColumns& columns = cluster.resource(want.resource);
    std::int64_t room = 0;
    for (const NodeId node : nodes)
      room += std::max<std::int64_t>(0, columns.allocatable[node] - columns.requested[node]) /
              want.amount;
    if (room < least) {
      least = room;
      scarce = &want;
    }
  }
  // Room alone would do: the nodes refuse for another reason, or several resources are short on
  // different nodes.
  if (scarce == nullptr || workspace_.cap_sum(class_index, domain) == 0)
    if (Histogram reasons = why_not(workspace_.standing(class_index), nodes);
        !reasons.reasons.empty()) {
      std::string text = reasons.text(nodes.size());
      if (text.ends_with('.')) text.pop_back();
      if (workspace_.cap_sum(class_index, domain) == 0) return text;
      return "on the rest of its nodes" + text.substr(text.find(':'));
    }
  const std::int64_t lacking = needed - workspace_.cap_sum(class_index, domain);
  if (scarce == nullptr) return fmt::format("short of room for {}", lacking);
  return fmt::format("short of {} × {}", lacking,
                     amount_text(cluster.resource(scarce->resource).name, scarce->amount));
}

}  // namespace muster::scheduler
