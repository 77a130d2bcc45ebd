#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/job_view.h"
#include "base/time.h"

namespace muster::api {

// The fields of a JobSet that its controller reads; templates are read from the document when Jobs
// are made.
struct JobSetView : View {
  static std::unique_ptr<JobSetView> read(const Object& set);
  // From a document; `read` without an Object around it.
  static std::unique_ptr<JobSetView> of(const Json& document);

  struct Dependency {
    std::string name;
    bool complete = false;  // all its Jobs have succeeded; else all are ready
  };
  struct ReplicatedJob {
    std::string name = {};
    std::string group = "default";
    std::int32_t replicas = 1;
    std::int32_t parallelism = 1;
    std::optional<std::int32_t> completions = {};
    std::vector<Dependency> depends_on = {};
  };
  enum class Action : std::uint8_t {
    FailJobSet,
    RestartJobSet,
    RestartJobSetAndIgnoreMaxRestarts,
    RestartJob,
    RestartJobAndIgnoreMaxRestarts,
  };
  // One rule of spec.failurePolicy; an empty list matches everything.
  struct FailureRule {
    std::string name = {};
    Action action = Action::RestartJobSet;
    std::vector<std::string> reasons = {};
    std::vector<std::string> message_patterns = {};
    std::vector<std::string> targets = {};
  };
  struct FailurePolicy {
    std::int32_t max_restarts = 0;
    bool blocking = false;  // BlockingRecreate: no new Job before all old ones are gone
    std::vector<FailureRule> rules = {};
  };

  std::vector<ReplicatedJob> jobs;
  bool suspend = false;
  bool in_order = false;  // startupPolicy
  bool any_success = false;
  std::vector<std::string> success_targets;  // empty: all
  std::optional<FailurePolicy> failure_policy;
  std::string managed_by;
  std::optional<std::int64_t> ttl_s;
  bool dns_hostnames = true;
  bool publish_not_ready = true;
  std::string subdomain;  // of its pods; the name of the set unless it says otherwise
  // spec.scheduling of the set or of a template, even an empty one.
  bool says_scheduling = false;

  struct JobStatus {
    std::string name;
    std::int32_t ready = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;
    std::int32_t active = 0;
    std::int32_t suspended = 0;
    // By index of the Job; shorter than replicas where no Job was restarted by itself.
    std::vector<std::int32_t> restarts = {};
    std::vector<std::int32_t> counted_restarts = {};
    friend bool operator==(const JobStatus&, const JobStatus&) = default;
  };
  struct Status {
    std::vector<JobCondition> conditions;
    std::int32_t restarts = 0;
    std::int32_t counted_restarts = 0;  // restartsCountTowardsMax
    std::string terminal_state;
    std::vector<JobStatus> jobs;
  };
  Status status;

  // Null if there is none of that name.
  const ReplicatedJob* job(std::string_view name) const;
  const JobCondition* condition(std::string_view type) const;
  bool is_true(std::string_view type) const;
  bool is_finished() const { return is_true("Completed") || is_true("Failed"); }
  bool starts_in_turn() const;  // not all Jobs start at once
};

std::string_view action_name(JobSetView::Action action);

}  // namespace muster::api
