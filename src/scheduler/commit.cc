#include "scheduler/commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/json.h"
#include "api/views/pod_facts.h"
#include "base/log.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;

// Larger trees are beyond what one GroupBinding takes.
constexpr std::size_t kTreePodsMax = 10'000;

// So often in a row a tree is tried again at once because something changed under it.
constexpr int kConflictsMax = 10;

// What follows for the pods of larger trees once they are accepted is done in slices of so many.
// As many of them get events; the recorder drops what is beyond its queue anyway.
constexpr std::size_t kAcceptedAtOnce = 1'000;
constexpr std::size_t kAcceptedSlice = 256;

void refuse_all(const Group& group, const std::string& message, Plan& plan) {
  plan.groups.push_back({group.key, group.object, Outcome::Unresolvable, message, ""});
  for (const PendingPod& pending : group.pods)
    plan.refusals.push_back({pending.pod, Outcome::Unresolvable, message, {}, WaitsFor::Nothing});
  for (const Group& child : group.children) refuse_all(child, message, plan);
}

std::string too_many_together(std::size_t pods) {
  return fmt::format("{} pods of the tree would have to be bound together, {} can be", pods,
                     kTreePodsMax);
}

}  // namespace

Plan refused_whole(const Group& tree, const std::string& message) {
  Plan plan;
  refuse_all(tree, message, plan);
  return plan;
}

ObjectPtr pod_on(const ObjectPtr& pod, std::string_view node) {
  api::Json document = pod->document();
  api::ensure_object(document.as_object(), "spec")["nodeName"] = node;
  return api::Object::make(pod->kind(), document);
}

ClusterEvent room_made(const ObjectPtr& pod) {
  return {Resource::AssignedPod, Action::Delete, pod, nullptr};
}

Commit::Commit(const SchedulerOptions& options, ClusterModel& model, SchedulingQueue& queue,
               Report& report, client::Calls& calls, SchedulerMetrics& metrics)
    : model_(model),
      queue_(queue),
      report_(report),
      preparer_(
          model.cluster(), calls,
          [this](PreparedBatch batch, Time now) { bind_prepared(std::move(batch), now); },
          [this](const PreparedBatch& batch, const Preparer::Failure& failure, Time now) {
            preparation_failed(batch, failure, now);
          }),
      metrics_(metrics),
      binder_({.in_flight_max = options.binds_in_flight_max}, calls,
              [this](const Assignment& assignment, const std::optional<Error>& error, Time now) {
                if (error)
                  bind_failed(assignment, *error, now);
                else
                  bound(assignment, now);
              }),
      trees_({}, calls,
             [this](const TreeBinding& tree, const std::optional<Error>& error, Time now) {
               if (error)
                 tree_refused(tree, *error, now);
               else
                 tree_bound(tree, now);
             }),
      preemptions_(model, queue, report, calls, options.metrics),
      half_bound_({.release_after = options.release_half_bound_after, .metrics = options.metrics},
                  {.model = model, .queue = queue, .report = report, .calls = calls}),
      crowded_(model, report, options.metrics),
      offers_group_bindings_(options.group_bindings) {
  preparer_.observe_permits(
      [this](bool is_allowed, Duration waited) { metrics_.waited_for_permit(is_allowed, waited); });
  if (options.metrics == nullptr) return;
  const auto counter = [&](const char* served) {
    return options.metrics->counter("muster_foreign_binds_total",
                                    "Pods that somebody else bound, by whether they asked for one "
                                    "of this scheduler's profiles",
                                    {{"served", served}});
  };
  foreign_ = counter("false");
  foreign_served_ = counter("true");
}

// What is more than one GroupBinding takes is never bound in parts that somebody needs together.
// The pods of a single gang beyond its minimum can follow, though, and those of a Basic group need
// nobody.
std::optional<Plan> Commit::cut_to_one_binding(const Group& tree, const Plan& plan, Time now) {
  if (!offers_group_bindings_ || plan.assignments.size() <= kTreePodsMax) return std::nullopt;
  const bool is_leaf = tree.key.kind == GroupKind::PodGroup;
  if (is_leaf && !tree.gang) return std::nullopt;
  if (is_leaf && static_cast<std::size_t>(tree.minimum) <= kTreePodsMax) {
    Plan first = plan;
    first.assignments.resize(kTreePodsMax);
    queue_.members_changed(tree.key, true, now);  // the others are tried again at once
    return first;
  }
  Plan refused = refused_whole(tree, too_many_together(plan.assignments.size()));
  refused.steps = plan.steps;
  refused.rows_read = plan.rows_read;
  return refused;
}

std::optional<std::string> Commit::beyond_one_binding(const GroupKey& root) const {
  if (!offers_group_bindings_ || root.kind != GroupKind::PodGroup) return std::nullopt;
  const GroupSpec* gang = model_.forest().find(root);
  if (gang == nullptr || !gang->gang) return std::nullopt;
  const auto minimum = static_cast<std::size_t>(gang->minimum);
  if (minimum <= kTreePodsMax) return std::nullopt;
  const std::size_t held =
      model_.count(root, PodRole::Running) + model_.count(root, PodRole::Succeeded);
  if (minimum <= held + kTreePodsMax) return std::nullopt;
  return too_many_together(minimum - held);
}

void Commit::carry_out(const SchedulingQueue::Popped& entity, const Plan& decided, Time now) {
  const auto* tree = std::get_if<Group>(&entity);
  const bool is_loose = tree != nullptr && model_.loose(tree->key);  // before it changes by this
  std::optional<Plan> cut;
  if (tree != nullptr && !is_loose) cut = cut_to_one_binding(*tree, decided, now);
  const Plan& fitting = cut ? *cut : decided;
  const std::optional<Plan> refused = reserve(fitting);
  const Plan& plan = refused ? *refused : fitting;
  for (const Assignment& assignment : plan.assignments) {
    model_.assume(assignment.pod, assignment.node);
    // What an earlier attempt wanted to say must not overtake the binding.
    report_.forget(assignment.pod->meta().uid);
  }
  queue_.finish(entity, plan, now);
  bind_plan(entity, plan, is_loose, now);
}

void Commit::bind_plan(const SchedulingQueue::Popped& entity, const Plan& plan, bool is_loose,
                       Time now) {
  const bool is_tree = std::holds_alternative<Group>(entity);
  const bool together = goes_together(plan, is_loose);
  const bool waits = is_prepared_first(plan);
  const bool in_steps =
      !offers_group_bindings_ && !plan.groups.empty() && !plan.assignments.empty();
  if (in_steps) half_bound_.started(plan.groups.front().key, plan.assignments, plan.groups, now);
  if (waits)
    prepare(plan, {.together = together, .ordered = is_tree && (together || !is_loose)}, now);
  else if (together)
    trees_.submit(tree_of(plan), now);
  else
    binder_.submit(plan.assignments, now);
  preemptions_.carry_out(entity, plan, now);
  if (!together && !waits && !plan.groups.empty())
    preemptions_.admitted(plan.groups.front().key, now);
  using Groups = Report::PlanOptions::Groups;
  report_.planned(plan,
                  {.groups = together || waits ? Groups::None
                             : in_steps        ? Groups::Refused
                                               : Groups::All},
                  now);
}

void Commit::synced(Time now) {
  is_synced_ = true;
  preemptions_.synced(now);
  if (!offers_group_bindings_) half_bound_.synced(now);
}

void Commit::pod_seen(const ObjectPtr& pod, Time now) {
  preemptions_.pod_seen(pod, now);
  if (api::is_terminating(pod)) half_bound_.left(pod->meta().uid, now);
}

// Whether the plan's pods are bound by one GroupBinding.
bool Commit::goes_together(const Plan& plan, bool is_loose) const {
  if (!offers_group_bindings_ || plan.groups.empty() || plan.assignments.empty()) return false;
  // A pod of a loose tree needs no other, unless those placed before it are still on their way.
  if (is_loose && !trees_.contains(plan.groups.front().key)) return false;
  return plan.assignments.size() <= kTreePodsMax && plan.groups.size() <= kTreePodsMax;
}

TreeBinding Commit::tree_of(const Plan& plan) {
  const GroupVerdict& root = plan.groups.front();
  TreeBinding tree{root.key, root.object, plan.assignments, {}};
  for (const GroupVerdict& verdict : plan.groups) {
    std::optional<GroupStatement> statement = report_.statement_of(verdict);
    if (!statement) continue;
    report_.forget(statement->group->meta().uid);  // it must not overtake the binding either
    tree.statements.push_back(std::move(*statement));
  }
  return tree;
}

void Commit::confirm(std::string_view uid, std::string_view node, Time now) {
  preparer_.confirm(uid, node, now);
  binder_.confirm(uid, node, now);
  trees_.confirm(uid, node, now);
  half_bound_.accepted(uid, now);
  unreserve(uid);
}

void Commit::cancel(std::string_view uid, Time now) {
  preparer_.cancel(uid, now);
  metrics_.unplaced(uid);
  binder_.cancel(uid);
  trees_.cancel(uid, now);
  half_bound_.left(uid, now);
  unreserve(uid);
  preemptions_.pod_left(uid, now);
}

// What was decided for the node may not fit any more. Bindings that are on their way are decided by
// the server and the kubelet; the others are made again.
void Commit::bound_by_others(const api::Object& pod, std::string_view node, Time now) {
  crowded_.came(pod, node, now);
  if (!is_synced_) return;
  (model_.serves(pod) ? foreign_served_ : foreign_).add();
  if (pending() == 0) return;
  model_.nominations().count_nobody();
  if (!crowded_.is_crowded_by(pod, node)) return;
  const Error why =
      make_error(Reason::Conflict,
                 "node \"{}\" was filled by another scheduler before the binding was sent", node);
  preparer_.drop(node, why.message, now);
  binder_.drop_unsent(node, why, now);
  trees_.drop_unsent(node, why, now);
}

void Commit::node_vanished(std::string_view node, Time now) {
  preparer_.node_vanished(node, now);
  binder_.node_vanished(node, now);
  trees_.node_vanished(node, now);
}

void Commit::bound(const Assignment& assignment, Time now) {
  ++scheduled_;
  if (const std::optional<GroupKey> leaf = model_.leaf_of(*assignment.pod)) queue_.bound(*leaf);
  accepted(assignment, true, now);
}

void Commit::accepted(const Assignment& assignment, bool has_event, Time now) {
  metrics_.bound(*assignment.pod, now);
  unreserve(assignment.pod->meta().uid);
  half_bound_.accepted(assignment.pod->meta().uid, now);
  for (const auto& entry : model_.profile_of(*assignment.pod).post_binds())
    entry.plugin->bound(assignment.pod, assignment.node, model_.cluster());
  report_.bound(assignment, has_event, now);
}

void Commit::bind_failed(const Assignment& assignment, const Error& error, Time now) {
  const std::string& uid = assignment.pod->meta().uid;
  const std::string node = model_.assumed_node(uid);
  unreserve(uid);
  metrics_.bind_failed(uid, now);
  if (const ObjectPtr newest = model_.forget(*assignment.pod)) {
    queue_.bind_failed(uid, now);
    report_.refused({newest,
                     Outcome::Error,
                     fmt::format("running Bind plugin \"DefaultBinder\": {}", error.message),
                     {},
                     WaitsFor::Nothing},
                    now);
  }
  half_bound_.refused(*assignment.pod, error.message, now);
  if (!node.empty()) queue_.wake(room_made(pod_on(assignment.pod, node)), now);
}

void Commit::tree_bound(const TreeBinding& tree, Time now) {
  refused_trees_.erase(tree.root);
  report_.tree_bound(tree, now);
  if (tree.assignments.size() <= kAcceptedAtOnce) {
    for (const Assignment& assignment : tree.assignments) bound(assignment, now);
  } else {
    scheduled_ += tree.assignments.size();
    queue_.bound(tree.root);
    accepted_.push_back({.assignments = tree.assignments, .at = now});
  }
  preemptions_.admitted(tree.root, now);
}

void Commit::go_on_accepting() {
  if (accepted_.empty()) return;
  Accepted& tree = accepted_.front();
  const std::size_t end = std::min(tree.done + kAcceptedSlice, tree.assignments.size());
  for (; tree.done < end; ++tree.done)
    accepted(tree.assignments[tree.done], tree.done < kAcceptedAtOnce, tree.at);
  if (end == tree.assignments.size()) accepted_.pop_front();
}

// The server took nothing of it. All pods give their nodes back and the tree is tried again after
// backoff. A pod or node that changed while the request was on its way is nobody's fault, and the
// watch will say so soon; what is refused again, or for another reason, is worth reporting.
void Commit::tree_refused(const TreeBinding& tree, const Error& error, Time now) {
  const bool unknown = error.reason == Reason::NotFound || error.reason == Reason::MethodNotAllowed;
  if (unknown && offers_group_bindings_) return bind_one_by_one(tree, error, now);
  std::vector<std::string> waiting;
  std::vector<ObjectPtr> left;
  bool is_explained = false;  // the watch has shown what changed
  for (const Assignment& assignment : tree.assignments) {
    const std::string& uid = assignment.pod->meta().uid;
    unreserve(uid);
    metrics_.bind_failed(uid, now);
    if (const std::string node = model_.assumed_node(uid); !node.empty())
      left.push_back(pod_on(assignment.pod, node));
    const ObjectPtr newest = model_.forget(*assignment.pod);
    if (newest != assignment.pod) is_explained = true;
    if (newest != nullptr) waiting.push_back(uid);
  }
  preemptions_.forget_tree(tree.root);
  const int times = ++refused_trees_[tree.root];
  using Failure = SchedulingQueue::TreeFailure;
  const bool is_conflict = error.reason == Reason::Conflict;
  const Failure failure = !is_conflict                             ? Failure::Error
                          : is_explained && times <= kConflictsMax ? Failure::Outdated
                                                                   : Failure::Conflict;
  queue_.tree_bind_failed(tree.root, waiting, failure, now);
  log(LogLevel::Info, "binding {}/{} was refused: {}", tree.root.name_space, tree.root.name,
      error.message);
  if (error.reason != Reason::Conflict || times > 1) report_refused_tree(tree, error, now);
  // One event per node and kind of pod: hints cannot tell the others apart.
  std::set<std::pair<std::string_view, std::uint64_t>> made;
  for (const ObjectPtr& pod : left)
    if (made.emplace(api::view_of(pod).node_name, api::view_of(pod).needs_hash).second)
      queue_.wake(room_made(pod), now);
}

void Commit::report_refused_tree(const TreeBinding& tree, const Error& error, Time now) {
  const std::string message = "binding all pods together failed: " + error.message;
  report_.tree_refused(tree, message, now);
  std::vector<Refusal> refusals;
  for (const Assignment& assignment : tree.assignments) {
    const api::ObjectMeta& meta = assignment.pod->meta();
    if (queue_.knows(meta.uid))
      refusals.push_back(
          {model_.pod(meta.name_space, meta.name), Outcome::Error, message, {}, WaitsFor::Nothing});
  }
  report_.refused(tree.root, refusals, now);
}

// The server does not know GroupBindings, and will not learn.
void Commit::bind_one_by_one(const TreeBinding& tree, const Error& error, Time now) {
  log(LogLevel::Warning, "the server takes no GroupBindings, pods are bound one by one: {}",
      error.message);
  offers_group_bindings_ = false;
  std::vector<GroupVerdict> groups;
  for (const GroupStatement& statement : tree.statements)
    if (statement.condition.status == "True")
      groups.push_back(
          {statement.key, statement.group, Outcome::Placed, statement.condition.message, "", {}});
    else
      report_.write(statement, now);
  half_bound_.started(tree.root, tree.assignments, groups, now);
  binder_.submit(tree.assignments, now);
}

void Commit::run(Time now) {
  preparer_.run(now);
  binder_.run(now);
  trees_.run(now);
  preemptions_.run(now);
  half_bound_.run(now);
  crowded_.run(now);
}

std::optional<Time> Commit::next_deadline() const {
  std::optional<Time> next;
  for (const std::optional<Time>& due :
       {preparer_.next_deadline(), binder_.next_deadline(), trees_.next_deadline(),
        preemptions_.next_deadline(), half_bound_.next_deadline(), crowded_.next_deadline()})
    if (due) next = next ? std::min(*next, *due) : *due;
  return next;
}

}  // namespace muster::scheduler
