#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "api/views/volume_views.h"

namespace muster::scheduler {

// A volume that nobody has claimed and that would do for a claim, or the one that is reserved for
// it.
struct VolumeCandidate {
  api::ObjectPtr volume;
  const api::VolumeView* view = nullptr;  // of `volume`
};
// The smallest first, then by name.
using VolumeCandidates = std::vector<VolumeCandidate>;

// Free capacity that a driver has reported for a storage class and that is enough for a claim.
struct ReportedCapacity {
  api::LabelSelector topology;
  std::int64_t capacity = 0;  // bytes
};

// A claim that waits for its first consumer: what it takes to give it a volume on a node.
struct DelayedClaim {
  std::string key;         // namespace/name; empty unless other pods use the claim too
  std::string class_name;  // of the storage class
  std::int64_t request = 0;
  std::string selected_node;  // a provisioner was asked to make it reachable from this node
  VolumeCandidate reserved;   // a volume that names this claim; null: none does
  std::shared_ptr<const VolumeCandidates> candidates;  // never null
  bool can_provision = false;
  std::vector<api::StorageClassView::Topology> allowed;  // empty: everywhere
  bool asks_capacity = false;                            // the driver reports where it has room
  std::vector<ReportedCapacity> capacities;
};

// What the volumes of a pod ask of nodes, as the book knows claims and volumes now. Pods with equal
// texts are alike, whatever their claims are called: a thousand pods with a claim each of one
// template are one class of pods.
struct VolumeNeeds {
  std::string text;

  // Why the pod can run nowhere, by the plugin that says so; empty: it does not.
  std::string restrictions_refusal;
  std::string limits_refusal;
  std::string binding_refusal;
  std::string zone_refusal;

  // Of volumes that are bound: each must match one of its terms.
  std::vector<std::vector<api::NodeSelectorTerm>> affinities;
  bool lost_volume = false;  // some claim is bound to a volume that does not exist
  // Topology labels of bound volumes: the node's value must be among these.
  struct Zone {
    std::string key;
    std::vector<std::string> values;
    friend auto operator<=>(const Zone&, const Zone&) = default;
  };
  std::vector<Zone> zones;

  std::vector<DelayedClaim> delayed;  // the smallest first

  // What has to be attached, by driver.
  struct Attached {
    std::string driver;
    std::int64_t own = 0;              // volumes that no other pod uses
    std::vector<std::string> handles;  // of those that others use too
    bool required_on_node = false;     // only nodes that have the driver will do
    friend auto operator<=>(const Attached&, const Attached&) = default;
  };
  std::vector<Attached> attached;
  // Claims for one pod at a time (ReadWriteOncePod) that other pods name too.
  std::vector<std::string> exclusive;

  std::vector<std::string> label_keys;  // of nodes, that passes read by column
};

// Whether the node can reach the volume.
bool reaches(const api::VolumeView& volume, const api::Object& node);

// The reasons of VolumeBinding.
inline constexpr std::string_view kNoVolume =
    "node(s) didn't find available persistent volumes to bind";
inline constexpr std::string_view kNoCapacity = "node(s) did not have enough free storage";

// Whether a volume is being made for one of the claims, to be reached from another node.
bool is_made_elsewhere(const VolumeNeeds& needs, std::string_view node);
// Why no volume can be made for the claim on the node; empty: one can.
std::string_view refuses_to_provision(const DelayedClaim& claim, const api::Object& node);
// The reported capacity that serves the node; null: none does.
const ReportedCapacity* capacity_for(const DelayedClaim& claim, const api::StringPairs& labels);

// A volume for each delayed claim; null where one has to be made.
struct VolumeChoice {
  std::vector<VolumeCandidate> volumes;
};
// Gives each claim the smallest volume that `reaches` and is not `taken`, nor given to a claim
// before it. A claim that has its volume already gets that one or none.
template <typename Reaches, typename Taken>
VolumeChoice choose_volumes(const VolumeNeeds& needs, Reaches&& reaches, Taken&& taken) {
  VolumeChoice choice;
  const auto is_given = [&](const VolumeCandidate& candidate) {
    for (const VolumeCandidate& given : choice.volumes)
      if (given.volume == candidate.volume) return true;
    return false;
  };
  for (const DelayedClaim& claim : needs.delayed) {
    VolumeCandidate found;
    if (claim.reserved.volume != nullptr) {
      if (reaches(claim.reserved)) found = claim.reserved;
    } else if (claim.selected_node.empty()) {
      for (const VolumeCandidate& candidate : *claim.candidates)
        if (!taken(candidate) && !is_given(candidate) && reaches(candidate)) {
          found = candidate;
          break;
        }
    }
    choice.volumes.push_back(found);
  }
  return choice;
}

}  // namespace muster::scheduler
