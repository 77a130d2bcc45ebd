#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/values/label_selector.h"
#include "api/views/condition.h"
#include "api/views/int_or_percent.h"
#include "base/time.h"

namespace muster::api {

struct DeploymentCondition : Condition {
  std::optional<Time> last_update;
  std::optional<Time> last_transition;
  bool operator==(const DeploymentCondition& other) const;
};

// The fields of a Deployment that its controller reads; the template is read from the document when
// a ReplicaSet is made.
struct DeploymentView : View {
  static std::unique_ptr<DeploymentView> read(const Object& deployment);

  std::int64_t replicas = 1;
  Duration min_ready{};
  std::optional<LabelSelector> selector;  // none if it is malformed
  std::string template_text;              // as ReplicaSetView has it
  bool recreates = false;                 // strategy Recreate; else RollingUpdate
  IntOrPercent max_surge;
  IntOrPercent max_unavailable;
  bool paused = false;
  std::optional<std::int64_t> history_limit;  // none: unlimited
  std::optional<Duration> progress_deadline;  // none: no progress is expected

  struct Status {
    std::int64_t observed_generation = 0;
    std::int64_t replicas = 0;
    std::int64_t updated = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::int64_t unavailable = 0;
    std::optional<std::int64_t> terminating;
    std::optional<std::int64_t> collisions;
    std::vector<DeploymentCondition> conditions;
    friend bool operator==(const Status&, const Status&) = default;

    const DeploymentCondition* condition(std::string_view type) const;
  };
  Status status;
};

}  // namespace muster::api
