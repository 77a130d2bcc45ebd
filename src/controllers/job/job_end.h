#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/job/tally.h"

namespace muster::controllers {

// How a Job ends, and why. First it is announced (SuccessCriteriaMet, FailureTarget), then its pods
// go and are counted, then it is final (Complete, Failed).
struct JobEnd {
  bool success = false;
  std::string reason;
  std::string message;

  std::string_view announcement() const { return success ? "SuccessCriteriaMet" : "FailureTarget"; }
  std::string_view condition() const { return success ? "Complete" : "Failed"; }
};

// Why the Job must end although pods may still run; none if it may go on.
std::optional<JobEnd> find_end(const JobState& state, const Tally& tally);

// The Job has what it wants, and nothing runs any more.
bool is_complete(const JobState& state, const Tally& tally);
JobEnd completions_reached();

// When the Job runs into its deadline.
std::optional<Time> deadline_of(const JobState& state);

}  // namespace muster::controllers
