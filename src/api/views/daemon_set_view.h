#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "api/object.h"
#include "api/values/label_selector.h"
#include "api/views/int_or_percent.h"
#include "base/time.h"

namespace muster::api {

// The fields of a DaemonSet that its controller reads; the template is read from the document.
struct DaemonSetView : View {
  static std::unique_ptr<DaemonSetView> read(const Object& set);

  std::optional<LabelSelector> selector;  // none if it is malformed
  Duration min_ready{};
  std::int64_t history_limit = 10;
  bool on_delete = false;  // updateStrategy OnDelete; else RollingUpdate
  IntOrPercent max_surge;
  IntOrPercent max_unavailable;

  struct Status {
    std::int64_t current = 0;       // nodes that should run a pod and do
    std::int64_t misscheduled = 0;  // nodes that run one and should not
    std::int64_t desired = 0;
    std::int64_t ready = 0;
    std::int64_t updated = 0;
    std::int64_t available = 0;
    std::int64_t unavailable = 0;
    std::int64_t observed_generation = 0;
    std::optional<std::int64_t> collisions;
    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
};

}  // namespace muster::api
