#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {

// A KubeSchedulerConfiguration, once read.
struct SchedulerConfig {
  Profiles profiles = default_profile();
  Duration initial_backoff = std::chrono::seconds{1};
  Duration max_backoff = std::chrono::seconds{10};
};

// Reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), YAML or JSON. The error
// names everything that is wrong: line, field and reason, in upstream's words where it has any.
Result<SchedulerConfig> read_scheduler_config(std::string_view text);

// The text of a configuration that fills nodes which already use `resource` before it touches empty
// ones (docs/scheduler-config.md). Invalid if that is not a resource name.
Result<std::string> packing_config(std::string_view resource);

}  // namespace muster::scheduler
