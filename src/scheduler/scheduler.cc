#include "scheduler/scheduler.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "api/kinds/kind.h"
#include "api/views/pod_view.h"
#include "base/check.h"
#include "base/log.h"
#include "client/kit/calls.h"
#include "client/kit/event_recorder.h"
#include "client/kit/mirror.h"
#include "client/kit/status_writer.h"
#include "scheduler/bind/binder.h"
#include "scheduler/bind/tree_binder.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/profile.h"
#include "scheduler/groups/group_spec.h"
#include "scheduler/groups/member_traits.h"
#include "scheduler/groups/template_rules.h"
#include "scheduler/queue/changes.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/tree_reports.h"

namespace muster::scheduler {

namespace {

using api::ObjectPtr;
using api::PodView;

constexpr std::string_view kGroupApi = "scheduling.k8s.io";
// Larger trees are beyond what one GroupBinding takes.
constexpr std::size_t kTreePodsMax = 10'000;

const PodView& view_of(const ObjectPtr& pod) { return pod->view<PodView>(); }

bool is_terminating(const ObjectPtr& object) { return object->meta().deletion_time.has_value(); }

bool holds_node(const ObjectPtr& pod) {
  return !view_of(pod).node_name.empty() && !view_of(pod).is_terminal();
}

std::optional<GroupKey> group_of(const ObjectPtr& pod) {
  const std::string& group = view_of(pod).scheduling_group;
  if (group.empty()) return std::nullopt;
  return GroupKey{GroupKind::PodGroup, pod->meta().name_space, group};
}

// Tells a tree what all its members say of themselves, those included that are not queued.
void add_traits(const TraitsBook& traits, Group& group) {
  if (group.key.kind == GroupKind::PodGroup)
    group.traits = traits.of(group.key.name_space, group.key.name);
  for (Group& child : group.children) add_traits(traits, child);
}

// Pods that no plugin can tell apart: what they ask for is equal, and whom they may meet.
std::uint64_t shape_of(const ObjectPtr& pod) {
  std::uint64_t hash = view_of(pod).needs_hash;
  for (const char letter : pod->meta().name_space)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash == 0 ? 1 : hash;
}

SchedulingQueue::Fate fate_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Error: return SchedulingQueue::Fate::Failed;
    case Outcome::Unresolved: return SchedulingQueue::Fate::Unresolved;
    case Outcome::Invalid: return SchedulingQueue::Fate::Invalid;
    default: return SchedulingQueue::Fate::Rejected;
  }
}

std::string_view reason_of(Outcome outcome) {
  if (outcome == Outcome::Error) return "SchedulerError";
  return outcome == Outcome::Invalid ? "Invalid" : "Unschedulable";
}

}  // namespace

// Everything the scheduler owns, and the handlers that move things between the rooms.
struct Scheduler::State {
  State(SchedulerOptions options_given, Send send)
      : options(std::move(options_given)),
        profile(default_profile()),
        queue({.backoff = {.initial = options.initial_backoff, .max = options.max_backoff},
               .rest_max = options.rest_max},
              [this](std::string_view plugin, const api::Object& pod, const ClusterEvent& event) {
                return profile.could_help(plugin, pod, event);
              }),
        calls(std::move(send)),
        binder({.in_flight_max = options.binds_in_flight_max}, calls,
               [this](const Assignment& assignment, const std::optional<Error>& error, Time now) {
                 if (error)
                   bind_failed(assignment, *error, now);
                 else
                   bound(assignment, now);
               }),
        trees({}, calls,
              [this](const TreeBinding& tree, const std::optional<Error>& error, Time now) {
                if (error)
                  tree_refused(tree, *error, now);
                else
                  tree_bound(tree, now);
              }),
        offers_group_bindings(options.group_bindings),
        statuses({}, calls),
        recorder({.component = options.scheduler_name,
                  .instance = options.scheduler_name + "-" + options.instance},
                 calls),
        reports(queue, statuses, recorder) {}

  // --- what the watch says ---

  void take(const client::Event& event, Time now) {
    const api::Kind& kind = event.object->kind();
    if (&kind == &api::kinds::pod())
      take_pod(event, now);
    else if (&kind == &api::kinds::node())
      take_node(event, now);
    else if (&kind == &api::kinds::workload())
      take_workload(event, now);
    else
      take_group(event, now);
  }

  // The group a pod is a member of, if groups are in use.
  std::optional<GroupKey> member_of(const ObjectPtr& pod) const {
    return options.gates.on(api::Gate::GenericWorkload) ? group_of(pod) : std::nullopt;
  }

  void take_pod(const client::Event& event, Time now) {
    const ObjectPtr& pod = event.object;
    if (event.type == client::Event::Type::Deleted) {
      traits.change(pods.remove(*pod).get(), nullptr);
      return pod_gone(pod, now);
    }
    ObjectPtr before = pods.put(pod);
    traits.change(before.get(), pod.get());
    if (before != nullptr && before->meta().uid != pod->meta().uid) {
      pod_gone(before, now);  // a gap in the watch hid that the name changed hands
      before = nullptr;
    }
    statuses.observed(pod->meta().uid);
    if (view_of(pod).is_terminal())
      pod_finished(before, pod, now);
    else if (holds_node(pod))
      pod_assigned(before, pod, now);
    else if (view_of(pod).scheduler_name == options.scheduler_name)
      pod_waiting(before, pod, now);
  }

  void pod_waiting(const ObjectPtr& before, const ObjectPtr& pod, Time now) {
    const std::string& uid = pod->meta().uid;
    if (is_terminating(pod)) return waiting_pod_terminates(pod, now);
    QueuePod facts{.pod = pod,
                   .priority = view_of(pod).priority,
                   .group = member_of(pod),
                   .gated = profile.pre_enqueue(*pod).has_value(),
                   .shape = shape_of(pod)};
    std::vector<ClusterEvent> changes;
    if (before != nullptr) changes = pod_changes(before, pod, Resource::TargetPod);
    queue.set_pod(std::move(facts), changes, now);
    if (before != nullptr && !cluster.is_assumed(uid) &&
        view_of(before).nominated_node != view_of(pod).nominated_node)
      release_nomination(before, now);
  }

  void waiting_pod_terminates(const ObjectPtr& pod, Time now) {
    const std::string& uid = pod->meta().uid;
    cancel_binding(uid, now);
    statuses.forget(uid);
    const bool was_queued = queue.knows(uid);
    queue.remove_pod(uid, now);
    if (const ObjectPtr held = take_from_node(pod)) {
      cluster.forget(uid);
      room_made(held, now);
    } else if (was_queued) {
      tell(pod, "Warning", "FailedScheduling", "Scheduling",
           "skip schedule deleting pod: " + api::key_text(pod->meta()), now);
      release_nomination(pod, now);
    }
  }

  void pod_assigned(const ObjectPtr& before, const ObjectPtr& pod, Time now) {
    const std::string& uid = pod->meta().uid;
    const bool held_before = before != nullptr && holds_node(before);
    cluster.set_pod(pod);
    count_member(pod, now);
    if (!held_before) {
      const ObjectPtr expected =
          take_from_node(before == nullptr ? pod : before, view_of(pod).node_name);
      binder.confirm(uid, view_of(pod).node_name, now);
      trees.confirm(uid, view_of(pod).node_name, now);
      statuses.forget(uid);
      queue.wake({Resource::AssignedPod, Action::Add, nullptr, pod}, now);
      // Somebody else bound it: the room that we had given it is free again.
      if (expected != nullptr && view_of(expected).node_name != view_of(pod).node_name)
        room_made(expected, now);
      return;
    }
    for (const ClusterEvent& change : pod_changes(before, pod, Resource::AssignedPod))
      queue.wake(change, now);
  }

  void pod_finished(const ObjectPtr& before, const ObjectPtr& pod, Time now) {
    const ObjectPtr held = take_from_node(before == nullptr ? pod : before);
    cancel_binding(pod->meta().uid, now);
    statuses.forget(pod->meta().uid);
    cluster.set_pod(pod);
    count_member(pod, now);
    if (held != nullptr) room_made(held, now);
  }

  void pod_gone(const ObjectPtr& pod, Time now) {
    const std::string& uid = pod->meta().uid;
    const ObjectPtr held = take_from_node(pod);
    cancel_binding(uid, now);
    statuses.forget(uid);
    queue.remove_pod(uid, now);
    cluster.remove_pod(uid);
    if (held != nullptr)
      room_made(held, now);
    else
      release_nomination(pod, now);
  }

  void cancel_binding(std::string_view uid, Time now) {
    binder.cancel(uid);
    trees.cancel(uid, now);
  }

  // The pod with the node that it held until now, by the watch or in our own books; null if it held
  // none. Hints believe only pods whose spec names a node, as upstream's assumed pods do. That a
  // pod was assumed on `confirmed` is no news: null as well, and no object is made up for it.
  ObjectPtr take_from_node(const ObjectPtr& pod, std::string_view confirmed = {}) {
    const auto at = assumed.find(pod->meta().uid);
    if (at == assumed.end()) return holds_node(pod) ? pod : nullptr;
    const std::string node = std::move(at->second);
    assumed.erase(at);
    if (holds_node(pod)) return pod;
    if (node == confirmed) return nullptr;
    api::Json document = pod->document();
    api::ensure_object(document.as_object(), "spec")["nodeName"] = node;
    return api::Object::make(pod->kind(), document);
  }

  // A pod that waits no more: what it counts for in its group. Succeeded members count, terminating
  // ones never.
  void count_member(const ObjectPtr& pod, Time now) {
    const PodView& view = view_of(pod);
    const std::optional<GroupKey> leaf = member_of(pod);
    const bool counts = holds_node(pod) || view.phase == "Succeeded";
    if (leaf && counts && !is_terminating(pod))
      queue.set_present(pod, *leaf, now);
    else
      queue.remove_pod(pod->meta().uid, now);
  }

  void room_made(const ObjectPtr& pod, Time now) {
    queue.wake({Resource::AssignedPod, Action::Delete, pod, nullptr}, now);
  }

  // A pod gave up the node it was promised: room for those that had to leave it alone.
  void release_nomination(const ObjectPtr& pod, Time now) {
    const PodView& view = view_of(pod);
    if (view.nominated_node.empty() || view.scheduler_name != options.scheduler_name) return;
    queue.wake({Resource::AssignedPod, Action::Delete, pod, nullptr}, now, view.priority);
  }

  void take_node(const client::Event& event, Time now) {
    const ObjectPtr& node = event.object;
    if (event.type == client::Event::Type::Deleted) {
      nodes.remove(*node);
      queue.wake({Resource::Node, Action::Delete, node, nullptr}, now);
      cluster.remove_node(node->meta().name);
      binder.node_vanished(node->meta().name, now);
      return trees.node_vanished(node->meta().name, now);
    }
    const ObjectPtr before = nodes.put(node);
    cluster.set_node(node);
    if (before == nullptr || before->meta().uid != node->meta().uid)
      return queue.wake({Resource::Node, Action::Add, nullptr, node}, now);
    for (const ClusterEvent& change : node_changes(before, node)) queue.wake(change, now);
  }

  void take_group(const client::Event& event, Time now) {
    std::optional<GroupSpec> group = read_group(event.object, options.gates);
    if (!group) return;
    if (event.type == client::Event::Type::Deleted) {
      statuses.forget(event.object->meta().uid);
      refused_trees.erase(group->key);
      return queue.remove_group(group->key, now);
    }
    statuses.observed(event.object->meta().uid);
    queue.set_group(std::move(*group), now);
  }

  // Only to tell whether a group that waits for long is what its template says.
  void take_workload(const client::Event& event, Time now) {
    if (!options.gates.on(api::Gate::GenericWorkload)) return;
    std::optional<WorkloadTemplates> shape;
    if (event.type != client::Event::Type::Deleted) shape = WorkloadTemplates::read(*event.object);
    const api::ObjectMeta& meta = event.object->meta();
    queue.set_workload(meta.name_space, meta.name, std::move(shape), now);
  }

  // --- the cycle ---

  void attempt(SchedulingQueue::Popped entity, Time now) {
    ++numbers.attempts;
    if (const auto* pod = std::get_if<PendingPod>(&entity)) {
      const Plan plan = attempt_pod(*pod, cluster, profile);
      if (options.observe) options.observe(plan, now);
      settle(plan, now);
      return;
    }
    Group& root = std::get<Group>(entity);
    add_traits(traits, root);
    const Plan plan = attempt_group(root, cluster, profile);
    if (options.observe) options.observe(plan, now);
    const bool together = goes_together(plan);
    settle(plan, now);
    std::optional<SchedulingQueue::Fate> fate;
    const bool placed = plan.groups.empty() ? !plan.assignments.empty()
                                            : plan.groups.front().outcome == Outcome::Placed;
    if (!placed)
      fate = plan.groups.empty() ? SchedulingQueue::Fate::Rejected
                                 : fate_of(plan.groups.front().outcome);
    queue.finish_group(root.key, fate, now);
    for (const GroupVerdict& verdict : plan.groups) {
      tell_group(verdict, plan, now);
      if (!together) write_group(verdict, now);  // else the GroupBinding carries it
    }
  }

  // Whether the plan's pods are bound by one GroupBinding.
  bool goes_together(const Plan& plan) const {
    return offers_group_bindings && !plan.groups.empty() && !plan.assignments.empty() &&
           plan.assignments.size() <= kTreePodsMax && plan.groups.size() <= kTreePodsMax;
  }

  // Commits what was placed and sends back what was not.
  void settle(const Plan& plan, Time now) {
    for (const Assignment& assignment : plan.assignments) {
      const std::string& uid = assignment.pod->meta().uid;
      cluster.assume(assignment.pod, assignment.node);
      assumed[uid] = assignment.node;
      queue.placed(uid, now);
      statuses.forget(uid);  // what an earlier attempt wanted to say must not overtake the binding
    }
    if (goes_together(plan))
      trees.commit(tree_of(plan), now);
    else
      binder.commit(plan.assignments, now);
    for (const Refusal& refusal : plan.refusals) {
      queue.refused(refusal.pod->meta().uid, fate_of(refusal.outcome), refusal.plugins, now);
      say_why(refusal.pod, refusal.outcome, refusal.message, now);
    }
  }

  TreeBinding tree_of(const Plan& plan) {
    const GroupVerdict& root = plan.groups.front();
    TreeBinding tree{root.key, root.object, plan.assignments, {}};
    for (const GroupVerdict& verdict : plan.groups) {
      std::optional<GroupStatement> statement = statement_of(verdict);
      if (!statement) continue;
      statuses.forget(statement->group->meta().uid);  // it must not overtake the binding either
      tree.statements.push_back(std::move(*statement));
    }
    return tree;
  }

  void tree_bound(const TreeBinding& tree, Time now) {
    refused_trees.erase(tree.root);
    for (const GroupStatement& statement : tree.statements)
      if (statement.condition.status == "True")
        tell(statement.group, "Normal", "Scheduled", "Binding",
             statement.condition.type.starts_with("Composite")
                 ? "Successfully placed the groups that it needs"
                 : "Successfully placed the pods that it needs",
             now);
    for (const Assignment& assignment : tree.assignments) bound(assignment, now);
  }

  // The server took nothing of it. All pods give their nodes back and the tree is tried again after
  // backoff. A pod or node that changed while the request was on its way is nobody's fault and soon
  // told by the watch; what is refused again, or for another reason, is worth telling.
  void tree_refused(const TreeBinding& tree, const Error& error, Time now) {
    const bool unknown =
        error.reason == Reason::NotFound || error.reason == Reason::MethodNotAllowed;
    if (unknown && offers_group_bindings) return bind_one_by_one(tree, error, now);
    std::vector<std::string> waiting;
    std::vector<ObjectPtr> left;
    for (const Assignment& assignment : tree.assignments) {
      const std::string& uid = assignment.pod->meta().uid;
      if (ObjectPtr held = take_from_node(assignment.pod)) left.push_back(std::move(held));
      cluster.forget(uid);
      if (newest_waiting(assignment.pod) != nullptr) waiting.push_back(uid);
    }
    queue.tree_bind_failed(tree.root, waiting, now);
    const int times = ++refused_trees[tree.root];
    log(LogLevel::Info, "binding {}/{} was refused: {}", tree.root.name_space, tree.root.name,
        error.message);
    if (error.reason != Reason::Conflict || times > 1) say_why_not_bound(tree, error, now);
    for (const ObjectPtr& held : left) room_made(held, now);
  }

  void say_why_not_bound(const TreeBinding& tree, const Error& error, Time now) {
    const std::string message = "binding all pods together failed: " + error.message;
    tell(tree.object, "Warning", "FailedScheduling", "Binding", message, now);
    for (const GroupStatement& statement : tree.statements)
      write_group({statement.key, statement.group, Outcome::Error, message, "", {}}, now);
    for (const Assignment& assignment : tree.assignments)
      if (const ObjectPtr newest = newest_waiting(assignment.pod))
        say_why(newest, Outcome::Error, message, now);
  }

  // The server does not know GroupBindings, and will not learn.
  void bind_one_by_one(const TreeBinding& tree, const Error& error, Time now) {
    log(LogLevel::Warning, "the server takes no GroupBindings, pods are bound one by one: {}",
        error.message);
    offers_group_bindings = false;
    binder.commit(tree.assignments, now);
    for (const GroupStatement& statement : tree.statements)
      write_condition(statement.group, statement.condition, now);
  }

  void bound(const Assignment& assignment, Time now) {
    ++numbers.scheduled;
    queue.bound(assignment.pod->meta().uid);
    tell(assignment.pod, "Normal", "Scheduled", "Binding",
         fmt::format("Successfully assigned {} to {}", api::key_text(assignment.pod->meta()),
                     assignment.node),
         now);
  }

  void bind_failed(const Assignment& assignment, const Error& error, Time now) {
    const api::ObjectMeta& meta = assignment.pod->meta();
    const ObjectPtr held = take_from_node(assignment.pod);
    cluster.forget(meta.uid);
    if (const ObjectPtr newest = newest_waiting(assignment.pod)) {
      queue.bind_failed(meta.uid, now);
      say_why(newest, Outcome::Error,
              fmt::format("running Bind plugin \"DefaultBinder\": {}", error.message), now);
    }
    if (held != nullptr) room_made(held, now);
  }

  // The pod as it is now; null if it is gone, replaced or bound by others meanwhile: the watch has
  // said what there is to say.
  ObjectPtr newest_waiting(const ObjectPtr& pod) const {
    const api::ObjectMeta& meta = pod->meta();
    ObjectPtr newest = pods.find(meta.name_space, meta.name);
    const bool waits = newest != nullptr && newest->meta().uid == meta.uid && !holds_node(newest) &&
                       !view_of(newest).is_terminal() && !is_terminating(newest);
    return waits ? newest : nullptr;
  }

  // --- what users read ---

  void say_why(const ObjectPtr& pod, Outcome outcome, const std::string& message, Time now) {
    ++(outcome == Outcome::Error ? numbers.errors : numbers.unschedulable);
    const api::ObjectMeta& meta = pod->meta();
    const ObjectPtr known = pods.find(meta.name_space, meta.name);
    const ObjectPtr& newest = known != nullptr && known->meta().uid == meta.uid ? known : pod;
    tell(newest, "Warning", "FailedScheduling", "Scheduling", message, now);
    if (outcome == Outcome::Invalid) return;  // the fault is the group's, and its condition says so
    statuses.write(newest, view_of(newest).condition("PodScheduled"),
                   {.type = "PodScheduled",
                    .status = "False",
                    .reason = std::string(reason_of(outcome)),
                    .message = message},
                   now);
  }

  // What a group shall say of itself; nullopt if it says so already. Once a group was scheduled its
  // condition stays True, whatever happens to pods that come later.
  std::optional<GroupStatement> statement_of(const GroupVerdict& verdict) const {
    const GroupSpec* group = queue.forest().find(verdict.key);
    if (group == nullptr || group->object == nullptr) return std::nullopt;
    const bool placed = verdict.outcome == Outcome::Placed;
    api::Condition wanted{.type = std::string(scheduled_condition(verdict.key.kind)),
                          .status = placed ? "True" : "False",
                          .reason = placed ? "Scheduled" : std::string(reason_of(verdict.outcome)),
                          .message = verdict.message};
    const std::vector<api::Condition> conditions = api::read_conditions(group->object->document());
    const api::Condition* current = api::lookup(conditions, wanted.type);
    if (current != nullptr && current->status == "True" &&
        (!placed || (current->reason == wanted.reason && current->message == wanted.message)))
      return std::nullopt;
    return GroupStatement{verdict.key, group->object, std::move(wanted)};
  }

  void write_group(const GroupVerdict& verdict, Time now) {
    if (const std::optional<GroupStatement> statement = statement_of(verdict))
      write_condition(statement->group, statement->condition, now);
  }

  void write_condition(const ObjectPtr& object, const api::Condition& wanted, Time now) {
    const std::vector<api::Condition> conditions = api::read_conditions(object->document());
    statuses.write(object, api::lookup(conditions, wanted.type), wanted, now);
  }

  // A group that fails for a reason of its own has an event about it; one that only falls with its
  // parent has not.
  void tell_group(const GroupVerdict& verdict, const Plan& plan, Time now) {
    if (verdict.outcome == Outcome::Placed || verdict.object == nullptr) return;
    const GroupVerdict& root = plan.groups.front();
    if (&verdict != &root && verdict.message == root.message) return;
    tell(verdict.object, "Warning", "FailedScheduling", "Scheduling", verdict.message, now);
  }

  void tell(const ObjectPtr& about, std::string type, std::string reason, std::string action,
            std::string message, Time now) {
    recorder.record(*about,
                    {.type = std::move(type),
                     .reason = std::move(reason),
                     .action = std::move(action),
                     .message = std::move(message)},
                    now);
  }

  void report_stranded(Time now) {
    for (const SchedulingQueue::Stranded& stranded : queue.take_stranded(now)) {
      const GroupSpec* group = queue.forest().find(stranded.leaf);
      const bool on_group = group != nullptr && group->object != nullptr;
      tell(on_group ? group->object : stranded.pod, "Warning", "FailedScheduling", "Scheduling",
           fmt::format("pods of pod group \"{}\" wait: {}", stranded.leaf.name, stranded.why), now);
    }
  }

  void send_due(Time now) {
    binder.run(now);
    trees.run(now);
    statuses.run(now);
    recorder.run(now);
  }

  // No point in deciding more: the server is behind.
  bool full() const { return binder.full() || trees.full(); }

  // A clock may be set back; time as the scheduler knows it never goes back.
  Time forward(Time now) { return last_now = std::max(last_now, now); }

  const SchedulerOptions options;
  const Profile profile;
  Cluster cluster;
  // By uid: the nodes of pods that the cluster counts and the watch has not confirmed. Never
  // iterated.
  boost::unordered_flat_map<std::string, std::string> assumed;
  client::Mirror pods;
  client::Mirror nodes;
  TraitsBook traits;
  SchedulingQueue queue;
  client::Calls calls;
  Binder binder;
  TreeBinder trees;
  bool offers_group_bindings;             // as far as we know
  std::map<GroupKey, int> refused_trees;  // by root: how often in a row
  client::StatusWriter statuses;
  client::EventRecorder recorder;
  TreeReports reports;
  bool synced = false;
  bool busy = false;  // inside apply or run_once
  Time last_now = Time::min();
  Numbers numbers;
};

namespace {

// Guards against a `send` that calls back.
class Busy {
 public:
  explicit Busy(bool& busy) : busy_(busy) {
    CHECK(!busy_);
    busy_ = true;
  }
  ~Busy() { busy_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& busy_;
};

}  // namespace

static_assert(client::Component<Scheduler>);

Scheduler::Scheduler(SchedulerOptions options, Send send)
    : state_(std::make_unique<State>(std::move(options), std::move(send))) {}

Scheduler::~Scheduler() = default;

void Scheduler::apply(Input input, Time now) {
  const Busy busy(state_->busy);
  now = state_->forward(now);
  if (const auto* event = std::get_if<client::Event>(&input))
    state_->take(*event, now);
  else if (const auto* called = std::get_if<Called>(&input))
    state_->calls.complete(called->ticket, called->outcome, now);
  else
    state_->synced = true;
  state_->send_due(now);
}

std::size_t Scheduler::run_once(Time now, std::size_t attempts_max) {
  const Busy busy(state_->busy);
  now = state_->forward(now);
  std::size_t attempts = 0;
  while (state_->synced && attempts < attempts_max && !state_->full()) {
    std::optional<SchedulingQueue::Popped> next = state_->queue.pop(now);
    if (!next) break;
    state_->attempt(std::move(*next), now);
    ++attempts;
  }
  if (state_->synced) {
    state_->report_stranded(now);
    state_->reports.run(now);
  }
  state_->send_due(now);
  return attempts;
}

std::optional<Time> Scheduler::next_deadline() const {
  std::optional<Time> next;
  const auto offer = [&next](std::optional<Time> time) {
    if (time) next = next ? std::min(*next, *time) : *time;
  };
  offer(state_->binder.next_deadline());
  offer(state_->trees.next_deadline());
  offer(state_->statuses.next_deadline());
  offer(state_->recorder.next_deadline());
  if (!state_->synced || state_->full()) return next;
  if (state_->queue.has_runnable()) return state_->last_now;
  offer(state_->queue.next_deadline());
  return next;
}

std::vector<const api::Kind*> Scheduler::watched_kinds() {
  std::vector<const api::Kind*> kinds{&api::kinds::pod(), &api::kinds::node()};
  for (const std::string_view name : {"Workload", "PodGroup", "CompositePodGroup"})
    if (const api::Kind* kind = api::find_kind(kGroupApi, name)) kinds.push_back(kind);
  return kinds;
}

Scheduler::Numbers Scheduler::numbers() const {
  Numbers numbers = state_->numbers;
  const SchedulingQueue::Counts counts = state_->queue.counts();
  numbers.active = counts.active;
  numbers.backoff = counts.backoff;
  numbers.unschedulable_now = counts.resting;
  numbers.gated = counts.gated;
  numbers.incomplete = counts.incomplete;
  numbers.binding = state_->binder.pending() + state_->trees.pending();
  return numbers;
}

std::string Scheduler::audit(std::span<const ObjectPtr> nodes,
                             std::span<const ObjectPtr> pods) const {
  if (std::string wrong = state_->queue.inconsistency(); !wrong.empty()) return wrong;
  Cluster rebuilt;
  for (const ObjectPtr& node : nodes) rebuilt.set_node(node);
  for (const ObjectPtr& pod : pods) {
    rebuilt.set_pod(pod);
    const bool waits = view_of(pod).node_name.empty() && !view_of(pod).is_terminal() &&
                       !is_terminating(pod) &&
                       view_of(pod).scheduler_name == state_->options.scheduler_name;
    if (waits && !state_->queue.knows(pod->meta().uid))
      return fmt::format("pod {} waits and the queue does not know it", api::key_text(pod->meta()));
  }
  return state_->cluster.difference(rebuilt);
}

}  // namespace muster::scheduler
