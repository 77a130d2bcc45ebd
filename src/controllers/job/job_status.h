#pragma once

#include "api/object.h"
#include "api/request.h"
#include "api/views/job_view.h"

namespace muster::controllers {

// Writes the status of a Job, provided that nobody has changed the Job since.
api::Request status_request(const api::Object& job, const api::JobView::Status& status, Time now);

}  // namespace muster::controllers
