#pragma once

#include <string>

#include "api/json.h"
#include "scheduler/config/config_errors.h"
#include "scheduler/framework/profile.h"

namespace muster::scheduler {

// Makes the profile that a KubeSchedulerProfile describes, starting from the default plugins. What
// is wrong goes to `errors`; the profile is then unusable.
Profile build_profile(const api::Json& profile, const api::FieldPath& path,
                      const std::string& scheduler_name, ConfigErrors& errors);

}  // namespace muster::scheduler
