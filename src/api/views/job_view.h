#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/values/label_selector.h"
#include "api/views/condition.h"
#include "base/time.h"

namespace muster::api {

// One rule of spec.podFailurePolicy. It looks at exit codes or at conditions.
struct PodFailureRule {
  enum class Action : std::uint8_t { FailJob, FailIndex, Ignore, Count, Unknown };
  struct Pattern {
    std::string type;
    std::string status;
  };
  Action action = Action::Unknown;
  bool on_exit_codes = false;
  std::string container;  // of exit codes; empty: any
  bool codes_not_in = false;
  std::vector<std::int32_t> codes;  // ascending
  std::vector<Pattern> conditions;
};
std::string_view action_name(PodFailureRule::Action action);

// One rule of spec.successPolicy: all of these indexes, or `count` of them, or `count` of any.
struct SuccessRule {
  std::optional<std::string> indexes;
  std::optional<std::int32_t> count;
};

struct JobCondition : Condition {
  std::optional<Time> last_transition;
};

// The fields of a Job that controllers read.
struct JobView : View {
  static std::unique_ptr<JobView> read(const Object& job);
  // From a document; `read` without an Object around it.
  static std::unique_ptr<JobView> of(const Json& document);

  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;
  std::string completion_mode;  // NonIndexed, Indexed
  std::int32_t backoff_limit = 6;
  std::optional<std::int32_t> backoff_limit_per_index;
  std::optional<std::int32_t> max_failed_indexes;
  std::optional<std::int64_t> active_deadline_s;
  std::optional<std::int64_t> ttl_s;
  bool suspend = false;
  bool replaces_failed_only = false;  // podReplacementPolicy Failed
  bool manual_selector = false;
  bool restarts_on_failure = false;  // restartPolicy OnFailure of its pods
  std::string managed_by;
  std::optional<LabelSelector> selector;  // none if it is malformed
  bool judges_failures = false;           // podFailurePolicy, even one without rules
  std::vector<PodFailureRule> failure_rules;
  std::vector<SuccessRule> success_rules;

  // What it asks of a scheduler that places whole workloads.
  bool says_scheduling = false;              // spec.scheduling, even an empty one
  std::optional<std::int32_t> gang_minimum;  // schedulingPolicy.gang.minCount, if given
  bool pods_name_group = false;              // schedulingGroup of its pods: the user groups them
  std::string pod_group;                     // that they name; empty: none
  std::string priority_class;                // of its pods

  struct Status {
    std::int32_t active = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;
    std::optional<std::int32_t> ready;
    std::optional<std::int32_t> terminating;
    std::string completed_indexes;
    std::optional<std::string> failed_indexes;
    std::vector<std::string> uncounted_succeeded;  // uids
    std::vector<std::string> uncounted_failed;
    std::optional<Time> start_time;
    std::optional<Time> completion_time;
    std::vector<JobCondition> conditions;
  };
  Status status;

  bool is_indexed() const { return completion_mode == "Indexed"; }
  const JobCondition* condition(std::string_view type) const;
  bool is_true(std::string_view type) const;
  bool is_finished() const { return is_true("Complete") || is_true("Failed"); }
};

}  // namespace muster::api
