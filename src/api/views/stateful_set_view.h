#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/values/label_selector.h"

namespace muster::api {

// The fields of a StatefulSet that controllers read; its template is in the document.
struct StatefulSetView : View {
  static std::unique_ptr<StatefulSetView> read(const Object& set);

  std::int32_t replicas = 1;
  std::int32_t first_ordinal = 0;         // spec.ordinals.start
  std::optional<LabelSelector> selector;  // none if it is malformed
  bool parallel = false;                  // podManagementPolicy Parallel
  bool on_delete = false;                 // updateStrategy OnDelete
  std::int32_t partition = 0;
  std::int32_t unavailable_max = 1;  // of a rolling update, in pods
  std::int32_t min_ready_s = 0;
  std::int32_t history_limit = 10;
  bool claims_go_with_set = false;           // persistentVolumeClaimRetentionPolicy whenDeleted
  bool claims_go_with_pod = false;           // whenScaled
  std::vector<std::string> claim_templates;  // names

  struct Status {
    std::int64_t observed_generation = 0;
    std::int32_t replicas = 0;
    std::int32_t ready = 0;
    std::int32_t available = 0;
    std::int32_t current = 0;
    std::int32_t updated = 0;
    std::string current_revision;
    std::string update_revision;
    std::optional<std::int32_t> collisions;
    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
};

}  // namespace muster::api
