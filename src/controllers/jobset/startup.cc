#include "controllers/jobset/startup.h"

#include <algorithm>
#include <cstdint>

namespace muster::controllers {

bool has_started(const api::JobSetView& set, const JobCounts& counts, std::size_t entry) {
  const api::JobSetView::JobStatus& count = counts[entry];
  return count.ready + count.succeeded + count.failed >= set.jobs[entry].replicas;
}

bool dependencies_are_met(const api::JobSetView& set, const JobCounts& counts, std::size_t entry) {
  return std::ranges::all_of(
      set.jobs[entry].depends_on, [&](const api::JobSetView::Dependency& dependency) {
        const auto on =
            std::ranges::find(set.jobs, dependency.name, &api::JobSetView::ReplicatedJob::name);
        if (on == set.jobs.end()) return false;
        const auto at = static_cast<std::size_t>(on - set.jobs.begin());
        return dependency.complete ? counts[at].succeeded >= on->replicas
                                   : has_started(set, counts, at);
      });
}

bool may_start(const api::JobSetView& set, const JobCounts& counts, std::size_t entry) {
  if (!dependencies_are_met(set, counts, entry)) return false;
  if (!set.in_order) return true;
  for (std::size_t before = 0; before < entry; ++before)
    if (!has_started(set, counts, before)) return false;
  return true;
}

}  // namespace muster::controllers
