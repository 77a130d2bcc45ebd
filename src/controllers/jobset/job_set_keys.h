#pragma once

#include <string_view>

// Labels and annotations of JobSets, their Jobs and the Jobs' pods.
namespace muster::controllers::job_set {

inline constexpr std::string_view kSetName = "jobset.sigs.k8s.io/jobset-name";
inline constexpr std::string_view kSetUid = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr std::string_view kJobName = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr std::string_view kJobReplicas = "jobset.sigs.k8s.io/replicatedjob-replicas";
inline constexpr std::string_view kGlobalReplicas = "jobset.sigs.k8s.io/global-replicas";
inline constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
inline constexpr std::string_view kGlobalIndex = "jobset.sigs.k8s.io/job-global-index";
inline constexpr std::string_view kJobKey = "jobset.sigs.k8s.io/job-key";
inline constexpr std::string_view kGroupName = "jobset.sigs.k8s.io/group-name";
inline constexpr std::string_view kGroupReplicas = "jobset.sigs.k8s.io/group-replicas";
inline constexpr std::string_view kGroupIndex = "jobset.sigs.k8s.io/job-group-index";
inline constexpr std::string_view kRestartAttempt = "jobset.sigs.k8s.io/restart-attempt";
inline constexpr std::string_view kJobRestartAttempt = "jobset.sigs.k8s.io/job-restart-attempt";
inline constexpr std::string_view kPriority = "jobset.sigs.k8s.io/priority";
inline constexpr std::string_view kCoordinator = "jobset.sigs.k8s.io/coordinator";

// In spec.managedBy: this controller.
inline constexpr std::string_view kOwnManager = "jobset.sigs.k8s.io/jobset-controller";

// Exclusive placement on nodes that were labelled and tainted in advance.
inline constexpr std::string_view kNodeSelectorStrategy = "alpha.jobset.sigs.k8s.io/node-selector";
inline constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
inline constexpr std::string_view kNoSchedule = "alpha.jobset.sigs.k8s.io/no-schedule";

}  // namespace muster::controllers::job_set
