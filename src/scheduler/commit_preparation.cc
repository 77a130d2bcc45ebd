// What happens to a plan before its bindings are sent: plugins hold what pods need, and make true
// what must hold before a pod is bound.
#include <fmt/format.h>

#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/commit.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;

// The plan if none of it can be done. A lone pod is refused by the plugin; a tree is tried again
// after a while, since its pods took something from each other that the search had not seen.
Plan refuse_all(const Plan& plan, std::string_view plugin, const std::string& reason) {
  Plan refused = plan;
  const Outcome outcome = plan.groups.empty() ? Outcome::Unresolvable : Outcome::Error;
  const std::string message = fmt::format("0/1 nodes are available: 1 {}.", reason);
  refused.assignments.clear();
  for (const Assignment& assignment : plan.assignments)
    refused.refusals.push_back(
        {assignment.pod, outcome, message, {std::string(plugin)}, WaitsFor::Nothing});
  for (GroupVerdict& verdict : refused.groups) {
    if (verdict.outcome != Outcome::Placed) continue;
    verdict.outcome = outcome;
    verdict.message = message;
  }
  return refused;
}

}  // namespace

// Before the pods are counted on their nodes. If a plugin refuses, what to do instead.
std::optional<Plan> Commit::reserve(const Plan& plan) {
  for (const Assignment& assignment : plan.assignments)
    for (const auto& entry : model_.profile_of(*assignment.pod).reserves()) {
      const Reserve::Answer answer =
          entry.plugin->reserve(assignment.pod, assignment.node, model_.cluster());
      if (answer.is_held) reserved_.insert_or_assign(assignment.pod->meta().uid, assignment.pod);
      if (answer.refusal.empty()) continue;
      for (const Assignment& held : plan.assignments) unreserve(held.pod->meta().uid);
      return refuse_all(plan, entry.name, answer.refusal);
    }
  return std::nullopt;
}

void Commit::unreserve(std::string_view uid) {
  const auto at = reserved_.find(uid);
  if (at == reserved_.end()) return;
  const ObjectPtr pod = at->second;
  reserved_.erase(at);
  for (const auto& entry : std::views::reverse(model_.profile_of(*pod).reserves()))
    entry.plugin->unreserve(pod, model_.cluster());
}

bool Commit::is_prepared_first(const Plan& plan) const {
  if (plan.assignments.empty()) return false;
  return preparer_.concerns(
      plan.assignments, plan.groups.empty() ? nullptr : &plan.groups.front().key,
      [this](const api::Object& pod) -> const Profile& { return model_.profile_of(pod); });
}

// The conditions of the groups wait with the pods.
void Commit::prepare(const Plan& plan, Binding binding, Time now) {
  PreparedBatch batch{plan.assignments, std::nullopt, binding.together, false};
  if (!plan.groups.empty()) {
    batch.tree = tree_of(plan);
    batch.tree->assignments.clear();
    batch.ordered = binding.ordered;
  }
  preparer_.add(
      std::move(batch),
      [this](const api::Object& pod) -> const Profile& { return model_.profile_of(pod); }, now);
}

void Commit::bind_prepared(PreparedBatch batch, Time now) {
  for (const Assignment& assignment : batch.assignments)
    metrics_.prepared(assignment.pod->meta().uid, now);
  if (!batch.tree) return binder_.submit(batch.assignments, now);
  batch.tree->assignments = std::move(batch.assignments);
  if (batch.together && offers_group_bindings_) return trees_.submit(std::move(*batch.tree), now);
  binder_.submit(batch.tree->assignments, now);
  for (const GroupStatement& statement : batch.tree->statements)
    if (offers_group_bindings_ || statement.condition.status != "True")
      report_.write(statement, now);
}

// All pods give back what is held for them and their nodes, and are tried again after backoff.
void Commit::preparation_failed(const PreparedBatch& batch, const Preparer::Failure& failure,
                                Time now) {
  std::vector<std::string> waiting;
  std::vector<ObjectPtr> left;
  for (const Assignment& assignment : batch.assignments) {
    const std::string& uid = assignment.pod->meta().uid;
    unreserve(uid);
    metrics_.unplaced(uid);
    if (const std::string node = model_.assumed_node(uid); !node.empty())
      left.push_back(pod_on(assignment.pod, node));
    const ObjectPtr newest = model_.forget(*assignment.pod);
    half_bound_.refused(*assignment.pod, failure.message, now);
    if (newest == nullptr) continue;
    waiting.push_back(uid);
    report_.refused({newest,
                     failure.is_error ? Outcome::Error : Outcome::Unresolvable,
                     failure.message,
                     {},
                     WaitsFor::Nothing},
                    now);
  }
  if (batch.ordered) {
    queue_.tree_bind_failed(batch.tree->root, waiting, SchedulingQueue::TreeFailure::Error, now);
    report_.tree_refused(*batch.tree, failure.message, now);
  } else {
    for (const std::string& uid : waiting) queue_.bind_failed(uid, now);
  }
  for (const ObjectPtr& pod : left) queue_.wake(room_made(pod), now);
}

}  // namespace muster::scheduler
