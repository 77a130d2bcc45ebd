#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/values/label_selector.h"
#include "api/values/string_pairs.h"
#include "api/views/condition.h"
#include "base/time.h"

namespace muster::api {

// The label by which the pods of a Deployment's ReplicaSets differ.
inline constexpr std::string_view kPodTemplateHash = "pod-template-hash";

// The fields of a ReplicaSet that controllers read; the template is read from the document when
// pods are made.
struct ReplicaSetView : View {
  static std::unique_ptr<ReplicaSetView> read(const Object& set);

  std::int64_t replicas = 1;
  Duration min_ready{};
  std::optional<LabelSelector> selector;  // none if it is malformed
  StringPairs template_labels;            // sorted
  std::string template_text;              // canonical, without the label of the hash

  struct Status {
    std::int64_t replicas = 0;
    std::int64_t fully_labeled = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::optional<std::int64_t> terminating;
    std::int64_t observed_generation = 0;
    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
  struct Failure : Condition {
    std::optional<Time> last_transition;
  };
  std::optional<Failure> failure;  // the condition ReplicaFailure
};

// A pod template as text, to compare it with others: without the label of the hash.
std::string comparable_template(const Json& pod_template);

}  // namespace muster::api
