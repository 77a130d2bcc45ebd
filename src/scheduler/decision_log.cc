#include "scheduler/decision_log.h"

#include "base/log.h"

namespace muster::scheduler {
namespace {

std::string_view word_of(GroupKind kind) {
  return kind == GroupKind::PodGroup ? "podgroup" : "compositepodgroup";
}

}  // namespace

void log_refusals(const Plan& plan) {
  if (!log_enabled(LogLevel::Debug)) return;
  if (!plan.groups.empty() && plan.groups.front().outcome != Outcome::Placed) {
    const GroupVerdict& root = plan.groups.front();
    return log(LogLevel::Debug, "refused {} {}/{}: {}", word_of(root.key.kind), root.key.name_space,
               root.key.name, root.message);
  }
  for (const Refusal& refusal : plan.refusals)
    log(LogLevel::Debug, "refused pod {}: {}", api::key_text(refusal.pod->meta()), refusal.message);
}

void log_bound(const Assignment& assignment) {
  if (log_enabled(LogLevel::Debug))
    log(LogLevel::Debug, "bound pod {} to {}", api::key_text(assignment.pod->meta()),
        assignment.node);
}

void log_bound(const TreeBinding& tree) {
  if (!log_enabled(LogLevel::Debug)) return;
  for (const GroupStatement& statement : tree.statements)
    if (statement.condition.status == "True")
      log(LogLevel::Debug, "placed {} {}/{}", word_of(statement.key.kind), statement.key.name_space,
          statement.key.name);
}

void log_eviction(const api::Object& pod, std::string_view why) {
  if (log_enabled(LogLevel::Debug))
    log(LogLevel::Debug, "evicts pod {}: {}", api::key_text(pod.meta()), why);
}

}  // namespace muster::scheduler
