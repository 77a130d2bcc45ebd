#include "controllers/job/failure_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "api/reading.h"
#include "api/scratch.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::PodFailureRule;

struct Exit {
  std::string_view container;
  std::int64_t code = 0;
};

bool matches(const PodFailureRule& rule, const Exit& exit) {
  if (exit.code == 0 || (!rule.container.empty() && rule.container != exit.container)) return false;
  return std::ranges::binary_search(rule.codes, exit.code) != rule.codes_not_in;
}

// The container that makes an exit code rule match, in the order of the status.
std::optional<Exit> find_exit(const PodFailureRule& rule, const Json& status) {
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const Json& container : api::elements(status, list)) {
      const Json* terminated = api::find_set(api::part_of(container, "state"), "terminated");
      if (terminated == nullptr) continue;
      const Exit exit{.container = api::find_string(container, "name"),
                      .code = api::find_integer(*terminated, "exitCode").value_or(0)};
      if (matches(rule, exit)) return exit;
    }
  return std::nullopt;
}

const PodFailureRule::Pattern* find_condition(const PodFailureRule& rule, const JobPod& pod) {
  for (const PodFailureRule::Pattern& pattern : rule.conditions) {
    const api::Condition* condition = pod.view->condition(pattern.type);
    if (condition != nullptr && condition->status == pattern.status) return &pattern;
  }
  return nullptr;
}

}  // namespace

FailureJudgement judge_failure(const api::JobView& job, const JobPod& pod) {
  if (job.failure_rules.empty()) return {};
  api::Scratch scratch;
  const Json document = api::members_in(scratch, *pod.object, {"status"});
  const Json& status = api::part_of(document, "status");
  const std::string key = api::key_text(pod.object->meta());
  for (std::size_t i = 0; i < job.failure_rules.size(); ++i) {
    const PodFailureRule& rule = job.failure_rules[i];
    std::string what;
    if (rule.on_exit_codes) {
      const std::optional<Exit> exit = find_exit(rule, status);
      if (!exit) continue;
      what = fmt::format("Container {} for pod {} failed with exit code {}", exit->container, key,
                         exit->code);
    } else {
      const PodFailureRule::Pattern* pattern = find_condition(rule, pod);
      if (pattern == nullptr) continue;
      what = fmt::format("Pod {} has condition {}", key, pattern->type);
    }
    FailureJudgement out{.action = rule.action, .message = {}};
    if (rule.action == PodFailureRule::Action::FailJob)
      out.message =
          fmt::format("{} matching {} rule at index {}", what, api::action_name(rule.action), i);
    return out;
  }
  return {};
}

}  // namespace muster::controllers
