#include "controllers/job/job_plan.h"

#include <algorithm>

namespace muster::controllers {

JobPlan plan_job(const JobState& state, PodBackoff& backoff) {
  JobPlan plan;
  const Tally tally = count_pods(state);
  backoff.observe(tally.new_succeeded, tally.new_failed);
  plan.end = find_end(state, tally);
  if (plan.end) {
    plan.pods.remove = tally.active;
    plan.keep_tracked = true;
  } else if (!state.deleting) {
    plan.pods = find_pod_changes(state, tally, backoff.until());
    plan.again = plan.pods.again;
    if (const auto deadline = deadline_of(state))
      plan.again = std::min(plan.again.value_or(*deadline), *deadline);
    if (!plan.changes_pods() && is_complete(state, tally)) plan.end = completions_reached();
    plan.too_many_succeeded =
        plan.end && state.job.completions && tally.succeeded > *state.job.completions;
  }
  const bool settled = !plan.changes_pods();
  plan.tracking =
      track_pods(state, tally, {.end = settled ? plan.end : std::nullopt, .managed = settled});
  return plan;
}

}  // namespace muster::controllers
