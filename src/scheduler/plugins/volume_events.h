#pragma once

#include <algorithm>

#include "api/views/pod_view.h"
#include "api/views/volume_views.h"
#include "scheduler/framework/cluster_event.h"

// How the volume plugins judge events.
namespace muster::scheduler {

inline bool came_or_was_relabelled(const ClusterEvent& event) {
  return event.action == Action::Add || event.action == Action::UpdateNodeLabel;
}

inline bool names_claim(const api::Object& pod, const api::Object& claim) {
  return pod.meta().name_space == claim.meta().name_space &&
         std::ranges::any_of(pod.view<api::PodView>().claims, [&](const api::PodClaim& used) {
           return api::claim_name(pod, used) == claim.meta().name;
         });
}

// A claim that the pod names was added or changed.
inline bool is_claim_of(const api::Object& pod, const ClusterEvent& event) {
  return event.after != nullptr && names_claim(pod, *event.after);
}

}  // namespace muster::scheduler
