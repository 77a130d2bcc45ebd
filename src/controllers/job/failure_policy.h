#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/views/job_view.h"
#include "controllers/job/job_pods.h"

namespace muster::controllers {

// What a Job's podFailurePolicy says about a failed pod.
struct FailureJudgement {
  std::optional<api::PodFailureRule::Action> action;  // of the first rule that matches
  std::string message;                                // why the Job fails; of FailJob only

  // Whether the failure counts for the backoff limits.
  bool counts() const { return action != api::PodFailureRule::Action::Ignore; }
};

FailureJudgement judge_failure(const api::JobView& job, const JobPod& pod);

}  // namespace muster::controllers
