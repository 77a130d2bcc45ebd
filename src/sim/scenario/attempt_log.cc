#include "sim/scenario/attempt_log.h"

#include <fmt/format.h>

namespace muster::sim {

using scheduler::Assignment;
using scheduler::GroupKey;
using scheduler::GroupVerdict;
using scheduler::Refusal;

void AttemptLog::record(const scheduler::Plan& plan, Time now) {
  ++attempts_;
  search_steps_ += plan.steps;
  placements_ += plan.assignments.size();
  text_ += fmt::format("{} attempt, {} steps\n", format_micro_time(now), plan.steps);
  for (const GroupVerdict& verdict : plan.groups) {
    text_ += fmt::format("  group {}: {} in \"{}\": {}\n", verdict.key.name,
                         static_cast<int>(verdict.outcome), verdict.domain, verdict.message);
    verdicts_.insert_or_assign(verdict.key, verdict);
  }
  for (const Assignment& assignment : plan.assignments) {
    text_ += fmt::format("  {} on {}\n", assignment.pod->meta().name, assignment.node);
    assigned_.insert(assignment.pod->meta().uid);
  }
  for (const Refusal& refusal : plan.refusals)
    text_ += fmt::format("  {} refused: {}\n", refusal.pod->meta().name, refusal.message);
  if (!plan.groups.empty()) {
    ++by_root_[plan.groups.front().key];
    return;
  }
  for (const Assignment& assignment : plan.assignments) ++by_pod_[assignment.pod->meta().name];
  for (const Refusal& refusal : plan.refusals) ++by_pod_[refusal.pod->meta().name];
}

void AttemptLog::begin_step() {
  attempts_ = 0;
  search_steps_ = 0;
  placements_ = 0;
  by_root_.clear();
  by_pod_.clear();
}

std::uint64_t AttemptLog::attempts_at(const GroupKey& root) const {
  const auto at = by_root_.find(root);
  return at == by_root_.end() ? 0 : at->second;
}

std::uint64_t AttemptLog::attempts_at_pod(const std::string& name) const {
  const auto at = by_pod_.find(name);
  return at == by_pod_.end() ? 0 : at->second;
}

const GroupVerdict* AttemptLog::verdict(const GroupKey& group) const {
  const auto at = verdicts_.find(group);
  return at == verdicts_.end() ? nullptr : &at->second;
}

}  // namespace muster::sim
