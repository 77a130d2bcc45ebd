#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "scheduler/cache/ids.h"
#include "scheduler/volumes/volume_needs.h"

namespace muster::scheduler {

// Pods that filters and scores cannot tell apart: equal needs (api::PodNeeds), claims that ask for
// the same (VolumeNeeds), and no question about other pods tells them apart either. Of labels and
// namespace it holds only which terms of living classes they match. Name, owner and priority are
// left out, so that a gang is a handful of classes. Lives in the cluster until it
// is released.
//
// Pods that hold a node, or are expected on one, are counted under classes of their own, which no
// filter and no score is prepared for. The node is not part of these, nor are images: both matter
// only to a pod that looks for a node.
struct PodClass {
  struct Want {
    ResourceId resource;
    std::int64_t amount;
  };

  ClassId id{};
  bool is_counted = false;  // of pods on nodes
  api::ObjectPtr sample;    // one pod of the class; owns `needs`
  const api::PodNeeds* needs = nullptr;
  // Why its pods run nowhere, whatever plugins say: they ask more about others than is judged, or
  // their namespace does (kTermsMax, TermLimits). Then `needs` leaves out what they ask about
  // others.
  std::string refusal;
  std::shared_ptr<const api::PodNeeds> needs_left;
  std::string node_name;  // spec.nodeName of pods that are asked about nonetheless
  // What its claims ask for, as they were when the class was
  // made: a pod whose claims have changed is of another class.
  // Null for pods without claims and disks.
  std::shared_ptr<const VolumeNeeds> volumes;
  std::vector<Want> wants;  // requests above 0, by column: what must be free
  std::vector<Want> usage;  // what a pod of the class takes on a node, above 0
  // Resources that it wants or uses and that had no columns when it was made; names inside `needs`.
  std::vector<std::string_view> missing;
  // Those of its images that some node has; repeated as often as it needs them.
  std::vector<ImageId> images;
  // The node labels that are compared for it; sorted.
  std::vector<std::string> labels;
  // What it asks about other pods: its needs' pod terms, then its spread constraints, in order, and
  // the default term.
  std::vector<TermId> terms;
  // The pods that its service or set selects, for default spread constraints.
  std::optional<TermId> default_term;
  // What others ask about it; sorted. May hold terms that nobody asks any more. If it is counted, a
  // new term is added here as soon as somebody asks it: what was there before stays.
  std::vector<TermId> matches;
  // It has no matches, whatever is asked about it: its namespace has more than are kept
  // (TermLimits::matches). No question about pods counts them.
  bool is_left_out = false;
  std::uint64_t hash = 0;     // of all that sets it apart
  std::uint32_t users = 0;    // how many hold on to it
  std::uint32_t running = 0;  // of these: pods that hold a node, if they are followed

  bool is_matched_by(TermId term) const { return std::ranges::binary_search(matches, term); }
};

}  // namespace muster::scheduler
