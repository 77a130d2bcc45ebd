#pragma once

#include <cstddef>
#include <vector>

#include "api/views/job_set_view.h"

namespace muster::controllers {

using JobCounts = std::vector<api::JobSetView::JobStatus>;  // one for each of JobSetView::jobs

// Whether all Jobs of an entry are ready, or have ended.
bool has_started(const api::JobSetView& set, const JobCounts& counts, std::size_t entry);

// Whether an entry's dependencies are far enough along that its Jobs may be made.
bool dependencies_are_met(const api::JobSetView& set, const JobCounts& counts, std::size_t entry);

// Whether the entries before it are far enough along that its Jobs may run.
bool may_start(const api::JobSetView& set, const JobCounts& counts, std::size_t entry);

}  // namespace muster::controllers
