#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

// What upstream serves as custom resources: updates need a resourceVersion.
std::vector<Kind> third_party_kinds() {
  Kind job_set =
      plain_kind({.group = "jobset.x-k8s.io", .version = "v1alpha2", .package = "jobset/v1alpha2"},
                 "JobSet", "jobsets");
  job_set.subresources = {status_part(job_set)};

  Kind leader_worker_set = plain_kind(
      {.group = "leaderworkerset.x-k8s.io", .version = "v1", .package = "leaderworkerset/v1"},
      "LeaderWorkerSet", "leaderworkersets");
  leader_worker_set.short_names = {"lws"};
  leader_worker_set.subresources = {scale_part(), status_part(leader_worker_set)};

  std::vector<Kind> kinds{job_set, leader_worker_set};
  for (Kind& kind : kinds) {
    kind.unconditional_update = false;
    kind.keeps_generation = true;
  }
  return kinds;
}

}  // namespace muster::api::kinds
