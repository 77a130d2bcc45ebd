#include "scheduler/volumes/volume_needs.h"

#include <algorithm>

#include "api/views/node_selector.h"

namespace muster::scheduler {
namespace {

bool is_allowed(const DelayedClaim& claim, const api::StringPairs& labels) {
  const auto holds = [&](const api::StorageClassView::Topology& topology) {
    return std::ranges::all_of(topology, [&](const auto& wanted) {
      const std::string* value = api::lookup(labels, wanted.first);
      return value != nullptr && std::ranges::find(wanted.second, *value) != wanted.second.end();
    });
  };
  return claim.allowed.empty() || std::ranges::any_of(claim.allowed, holds);
}

}  // namespace

bool reaches(const api::VolumeView& volume, const api::Object& node) {
  return !volume.has_affinity ||
         std::ranges::any_of(volume.affinity, [&](const api::NodeSelectorTerm& term) {
           return api::matches(term, node.meta().name, node.meta().labels);
         });
}

const ReportedCapacity* capacity_for(const DelayedClaim& claim, const api::StringPairs& labels) {
  const auto at = std::ranges::find_if(
      claim.capacities, [&](const ReportedCapacity& c) { return c.topology.matches(labels); });
  return at == claim.capacities.end() ? nullptr : &*at;
}

bool is_made_elsewhere(const VolumeNeeds& needs, std::string_view node) {
  return std::ranges::any_of(needs.delayed, [&](const DelayedClaim& claim) {
    return !claim.selected_node.empty() && claim.selected_node != node;
  });
}

std::string_view refuses_to_provision(const DelayedClaim& claim, const api::Object& node) {
  if (!claim.can_provision || claim.reserved.volume != nullptr) return kNoVolume;
  if (!is_allowed(claim, node.meta().labels)) return kNoVolume;
  if (claim.asks_capacity && capacity_for(claim, node.meta().labels) == nullptr) return kNoCapacity;
  return {};
}

}  // namespace muster::scheduler
