#include "scheduler/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/views/group_view.h"
#include "api/views/pod_facts.h"
#include "scheduler/decision_log.h"
#include "scheduler/groups/group_spec.h"
#include "scheduler/waits_for_words.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using api::view_of;

constexpr std::string_view kDisruptionTarget = "DisruptionTarget";

std::string_view reason_of(Outcome outcome) {
  return outcome == Outcome::Error ? "SchedulerError" : "Unschedulable";
}

client::EventNote failed_scheduling(std::string message) {
  return {.type = "Warning",
          .reason = "FailedScheduling",
          .action = "Scheduling",
          .message = std::move(message)};
}

client::EventNote scheduled(std::string message) {
  return {
      .type = "Normal", .reason = "Scheduled", .action = "Binding", .message = std::move(message)};
}

}  // namespace

Report::Report(const SchedulerOptions& options, ClusterModel& model, client::Calls& calls,
               SchedulerMetrics& metrics)
    : model_(model),
      metrics_(metrics),
      instance_(options.instance),
      statuses_({}, calls),
      recorder_({.component = options.profiles.first().scheduler_name,
                 .instance = options.profiles.first().scheduler_name + "-" + options.instance},
                calls),
      trees_(model, statuses_, recorder_),
      held_(model) {}

// Events speak in the name of the profile that decided.
void Report::record(const api::Object& about, client::EventNote note, Time now) {
  const std::optional<GroupKey> group = group_key(about);
  const std::string& name =
      group ? model_.scheduler_name_of(*group) : about.view<api::PodView>().scheduler_name;
  if (model_.profiles().serves(name)) {
    note.component = name;
    note.instance = name + "-" + instance_;
  }
  recorder_.record(about, std::move(note), now);
}

void Report::forget(std::string_view uid) {
  statuses_.forget(uid);
  words_.overtaken(uid);
  scheduled_unseen_.erase(std::string(uid));
  forget_pace(std::string(uid));
}

void Report::observed_group(const GroupKey& key, const std::string& uid) {
  statuses_.observed(uid);
  const GroupSpec* group = model_.forest().find(key);
  if (group != nullptr && scheduler::was_scheduled(*group)) scheduled_unseen_.erase(uid);
}

bool Report::was_scheduled(const GroupSpec& group) const {
  return scheduler::was_scheduled(group) || scheduled_unseen_.contains(group.object->meta().uid);
}

void Report::deleted_in_queue(const ObjectPtr& pod, Time now) {
  record(*pod, failed_scheduling("skip schedule deleting pod: " + api::key_text(pod->meta())), now);
}

void Report::planned(const Plan& plan, PlanOptions options, Time now) {
  using Groups = PlanOptions::Groups;
  log_refusals(plan);
  const bool is_tree = !plan.groups.empty();
  if (is_tree && plan.refusals.size() > RefusalWords::kAtOnce) {
    count_refusals(plan.refusals);
    words_.add(plan.groups.front().key, plan.refusals, true);
  } else {
    for (const Refusal& refusal : plan.refusals)
      refused(is_tree ? as_member(refusal) : refusal, now);
  }
  for (const GroupVerdict& verdict : plan.groups) {
    record_refusal(verdict, plan, now);
    if (options.groups == Groups::All ||
        (options.groups == Groups::Refused && verdict.outcome != Outcome::Placed))
      write_group(verdict, now);
  }
}

// A member that fails with its group says what holds for itself, in words that change only when
// that does; the numbers of the group are on the group. Otherwise each event anywhere would rewrite
// the conditions of every member of every group that waits. The condition of a group that was
// scheduled once stays True, so then only its members say why they wait.
Refusal Report::as_member(const Refusal& refusal) const {
  const std::optional<GroupKey> leaf = model_.leaf_of(*refusal.pod);
  const GroupSpec* spec = leaf ? model_.forest().find(*leaf) : nullptr;
  const bool is_with_group =
      spec != nullptr && !was_scheduled(*spec) && refusal.message.starts_with(kGroupUnschedulable);
  Refusal said = refusal;
  if (said.outcome == Outcome::Error) said.waits_for = WaitsFor::Nothing;
  if (is_with_group) said.message = member_message(*said.pod, said.waits_for);
  return said;
}

void Report::refused(const Refusal& refusal, Time now) {
  count_refusals({&refusal, 1});
  words_.overtaken(refusal.pod->meta().uid);
  say_refused(refusal, true, now);
}

void Report::refused(const GroupKey& root, std::span<const Refusal> refusals, Time now) {
  if (refusals.size() > RefusalWords::kAtOnce) {
    count_refusals(refusals);
    return words_.add(root, refusals, false);
  }
  for (const Refusal& refusal : refusals) refused(refusal, now);
}

void Report::say_more(Time now) {
  for (const RefusalWords::Word& word : words_.next()) {
    const Refusal refusal{word.pod, word.outcome, *word.message, {}, word.waits_for};
    say_refused(word.with_group ? as_member(refusal) : refusal, word.has_event, now);
  }
}

void Report::count_refusals(std::span<const Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    ++(refusal.outcome == Outcome::Error ? errors_ : unschedulable_);
    metrics_.refused(view_of(refusal.pod).scheduler_name, refusal.outcome);
  }
}

void Report::say_refused(const Refusal& refusal, bool has_event, Time now) {
  const auto& [pod, outcome, message, plugins, waits] = refusal;
  const api::ObjectMeta& meta = pod->meta();
  const ObjectPtr known = model_.pod(meta.name_space, meta.name);
  const ObjectPtr& newest = known != nullptr && known->meta().uid == meta.uid ? known : pod;
  if (has_event) record(*newest, failed_scheduling(message), now);
  write_refused(newest, std::string(reason_of(outcome)), message, waits, now);
}

// A group that fails for a reason of its own has an event about it; one that only fails with its
// parent has not.
void Report::record_refusal(const GroupVerdict& verdict, const Plan& plan, Time now) {
  if (verdict.outcome == Outcome::Placed || verdict.object == nullptr) return;
  const GroupVerdict& root = plan.groups.front();
  if (&verdict != &root && verdict.message == root.message) return;
  record(*verdict.object, failed_scheduling(verdict.message), now);
}

std::optional<GroupStatement> Report::statement_of(const GroupVerdict& verdict) const {
  const GroupSpec* group = model_.forest().find(verdict.key);
  if (group == nullptr || group->object == nullptr) return std::nullopt;
  const bool placed = verdict.outcome == Outcome::Placed;
  if (!placed && was_scheduled(*group)) return std::nullopt;
  api::Condition wanted{.type = std::string(scheduled_condition(verdict.key.kind)),
                        .status = placed ? "True" : "False",
                        .reason = placed ? "Scheduled" : std::string(reason_of(verdict.outcome)),
                        .message = verdict.message};
  const api::Condition* current = scheduled_condition_of(*group);
  if (current != nullptr && current->status == "True" && current->reason == wanted.reason &&
      current->message == wanted.message)
    return std::nullopt;
  return GroupStatement{verdict.key, group->object, std::move(wanted)};
}

void Report::write_group(const GroupVerdict& verdict, Time now) {
  const std::optional<GroupStatement> statement = statement_of(verdict);
  if (!statement) return;
  const std::string& uid = statement->group->meta().uid;
  if (statement->condition.status == "True") {
    forget_pace(uid);
    return write(*statement, now);
  }
  const auto [at, is_new] = paces_.try_emplace(uid);
  Pace& pace = at->second;
  if (!is_new && pace.reason == statement->condition.reason && now < pace.due) {
    due_.emplace(pace.due, uid);
    pace.next = verdict;
    return;
  }
  due_.erase({pace.due, uid});
  // Each write moves the next one by the pace; what was not used up counts for a burst.
  const Time earliest = now - (kGroupBurst - 1) * kGroupPace;
  pace = {statement->condition.reason,
          (is_new ? earliest : std::max(pace.due, earliest)) + kGroupPace, std::nullopt};
  write(*statement, now);
}

void Report::forget_pace(const std::string& uid) {
  const auto at = paces_.find(uid);
  if (at == paces_.end()) return;
  due_.erase({at->second.due, uid});
  paces_.erase(at);
}

void Report::write_due(Time now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::string uid = due_.begin()->second;
    due_.erase(due_.begin());
    const std::optional<GroupVerdict> next = std::exchange(paces_.at(uid).next, std::nullopt);
    if (next) write_group(*next, now);
  }
}

void Report::write(const GroupStatement& statement, Time now) {
  if (statement.condition.status == "True") scheduled_unseen_.insert(statement.group->meta().uid);
  const auto& view = statement.group->view<api::GroupView>();
  statuses_.write(statement.group, view.condition(statement.condition.type), statement.condition,
                  now);
}

void Report::preempted(const ObjectPtr& pod, std::string message, Time now) {
  log_eviction(*pod, message);
  record(*pod,
         {.type = "Normal",
          .reason = "Preempted",
          .action = "Preempting",
          .message = std::move(message)},
         now);
}

void Report::not_evicted(const api::Object& pod, std::string message, Time now) {
  record(pod,
         {.type = "Warning",
          .reason = "EvictionRefused",
          .action = "Preempting",
          .message = std::move(message)},
         now);
}

void Report::reserved(const api::Object& group, std::string message, Time now) {
  record(group,
         {.type = "Normal",
          .reason = "Reserved",
          .action = "Scheduling",
          .message = std::move(message)},
         now);
}

void Report::disrupted(const GroupKey& key, const std::string& message, Time now) {
  std::vector<const GroupSpec*> groups;
  model_.forest().each_group(key, [&](const GroupSpec& group) { groups.push_back(&group); });
  std::ranges::sort(groups, {}, [](const GroupSpec* group) { return group->key; });
  for (const GroupSpec* group : groups) {
    if (group->object == nullptr || group->key == key) continue;
    statuses_.write(group->object,
                    group->object->view<api::GroupView>().condition(kDisruptionTarget),
                    {.type = std::string(kDisruptionTarget),
                     .status = "True",
                     .reason = "PreemptionByScheduler",
                     .message = message},
                    now);
  }
}

void Report::bound(const Assignment& assignment, bool has_event, Time now) {
  log_bound(assignment);
  if (!has_event) return;
  record(*assignment.pod,
         scheduled(fmt::format("Successfully assigned {} to {}",
                               api::key_text(assignment.pod->meta()), assignment.node)),
         now);
}

void Report::tree_bound(const TreeBinding& tree, Time now) {
  log_bound(tree);
  for (const GroupStatement& statement : tree.statements) {
    if (statement.condition.status != "True") continue;
    record(*statement.group,
           scheduled(statement.key.kind == GroupKind::CompositePodGroup
                         ? "Successfully placed the groups that it needs"
                         : "Successfully placed the pods that it needs"),
           now);
    // The watch may have been faster than the answer.
    const GroupSpec* group = model_.forest().find(statement.key);
    if (group != nullptr && !scheduler::was_scheduled(*group))
      scheduled_unseen_.insert(statement.group->meta().uid);
  }
}

void Report::tree_refused(const TreeBinding& tree, const std::string& message, Time now) {
  record(*tree.object,
         {.type = "Warning", .reason = "FailedScheduling", .action = "Binding", .message = message},
         now);
  for (const GroupStatement& statement : tree.statements)
    write_group({statement.key, statement.group, Outcome::Error, message, "", {}}, now);
}

void Report::half_bound(const api::Object& group, std::string message, Time now) {
  record(group,
         {.type = "Warning",
          .reason = "FailedScheduling",
          .action = "Binding",
          .message = std::move(message)},
         now);
}

void Report::overcommitted(const api::Object& node, std::string message, Time now) {
  recorder_.record(node,
                   {.type = "Warning",
                    .reason = "Overcommitted",
                    .action = "Scheduling",
                    .message = std::move(message)},
                   now);
}

void Report::stranded(const SchedulingQueue::Stranded& stranded, Time now) {
  const GroupSpec* group = model_.forest().find(stranded.leaf);
  const bool on_group = group != nullptr && group->object != nullptr;
  record(on_group ? *group->object : *stranded.pod,
         failed_scheduling(
             fmt::format("pods of pod group \"{}\" wait: {}", stranded.leaf.name, stranded.why)),
         now);
}

void Report::run(Time now) {
  write_held(now);
  write_due(now);
  statuses_.run(now);
  recorder_.run(now);
}

std::optional<Time> Report::next_deadline() const {
  const std::optional<Time> statuses = statuses_.next_deadline();
  const std::optional<Time> events = recorder_.next_deadline();
  std::optional<Time> next = due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
  for (const std::optional<Time>& other : {statuses, events, held_.next_deadline()})
    if (other) next = std::min(next.value_or(*other), *other);
  return next;
}

}  // namespace muster::scheduler
