#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/views/job_set_view.h"
#include "controllers/jobset/child_jobs.h"

namespace muster::controllers {

// What finished Jobs mean for their JobSet.
struct SetVerdict {
  enum class What : std::uint8_t { Complete, Fail, RestartSet, RestartJob };
  What what = What::Fail;
  bool counts = true;  // a restart: towards maxRestarts
  std::string reason;  // of the condition that says so
  std::string message;
  const ChildJob* job = nullptr;  // that failed
};

// The failure policy applied to the failed Jobs: the first rule that matches any of them counts,
// for the one among its matches that failed first. None if no Job has failed.
std::optional<SetVerdict> judge_failures(const api::JobSetView& set, const ChildJobs& jobs);

// Complete, if enough Jobs have succeeded.
std::optional<SetVerdict> judge_successes(const api::JobSetView& set, const ChildJobs& jobs);

}  // namespace muster::controllers
