#include "scheduler/bind/preparer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/values/go_duration.h"
#include "api/views/volume_views.h"
#include "base/check.h"

namespace muster::scheduler {
namespace {

// Permits that nobody answers are asked this often.
constexpr Duration kPermitPause = std::chrono::seconds{1};
// However long a plugin would wait.
constexpr Duration kPermitMax = std::chrono::minutes{15};

std::string object_name(std::string_view kind, std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}/{}", kind, name_space, name);
}

Duration patience_of(const Permit& permit) { return std::min(permit.patience(), kPermitMax); }

}  // namespace

bool Preparer::concerns(std::span<const Assignment> assignments, const GroupKey* root,
                        const ProfileOf& profile_of) const {
  if (root != nullptr && by_root_.contains(*root)) return true;
  return std::ranges::any_of(assignments, [&](const Assignment& assignment) {
    const Profile& profile = profile_of(*assignment.pod);
    return !profile.permits().empty() ||
           std::ranges::any_of(profile.pre_binds(), [&](const auto& entry) {
             return entry.plugin->prepare_binding(assignment.pod, assignment.node, cluster_) !=
                    nullptr;
           });
  });
}

void Preparer::add(PreparedBatch content, const ProfileOf& profile_of, Time now) {
  const Id id = ++last_id_;
  Batch batch;
  batch.content = std::move(content);
  batch.is_gone.resize(batch.content.assignments.size());
  collect_steps(id, batch, profile_of, now);
  for (std::size_t i = 0; i < batch.content.assignments.size(); ++i) {
    const Assignment& assignment = batch.content.assignments[i];
    const bool is_new = by_uid_.emplace(assignment.pod->meta().uid, std::pair(id, i)).second;
    CHECK_THAT(is_new, "pod {} is bound twice", assignment.pod->meta().uid);
    by_node_.emplace(assignment.node, id);
  }
  if (batch.content.ordered) by_root_[batch.content.tree->root].push_back(id);
  batch.permits_open = batch.permits.size();
  batch.steps_open = batch.steps.size();
  const std::vector<Id> permits = batch.permits;
  batches_.emplace(id, std::move(batch));
  for (const Id permit : permits)
    if (batches_.contains(id)) ask(permit, now);
  if (permits.empty()) advance(id, now);
}

void Preparer::collect_steps(Id id, Batch& batch, const ProfileOf& profile_of, Time now) {
  for (std::size_t i = 0; i < batch.content.assignments.size(); ++i) {
    const Assignment& assignment = batch.content.assignments[i];
    const Profile& profile = profile_of(*assignment.pod);
    for (const auto& entry : profile.permits()) {
      Step step;
      step.batch = id;
      step.plugin = entry.name;
      step.permit = entry.plugin.get();
      step.assignment = i;
      step.deadline = now + patience_of(*entry.plugin);
      batch.permits.push_back(++last_id_);
      deadlines_.emplace(step.deadline, last_id_);
      steps_.emplace(last_id_, std::move(step));
    }
    for (const auto& entry : profile.pre_binds()) {
      auto preparation = entry.plugin->prepare_binding(assignment.pod, assignment.node, cluster_);
      if (preparation == nullptr) continue;
      Step step;
      step.batch = id;
      step.plugin = entry.name;
      step.assignment = i;
      step.preparation = std::move(preparation);
      batch.steps.push_back(++last_id_);
      steps_.emplace(last_id_, std::move(step));
    }
  }
}

// --- steps ---

void Preparer::ask(Id id, Time now) {
  Step& step = steps_.at(id);
  if (step.is_done || step.writes_open > 0) return;
  const Assignment& assignment = batches_.at(step.batch).content.assignments[step.assignment];
  const Progress progress = step.permit != nullptr
                                ? step.permit->permit(assignment.pod, assignment.node, cluster_)
                                : step.preparation->progress(cluster_);
  if (progress.state == Progress::State::Done) return finish_step(id, now);
  if (progress.state == Progress::State::Waits) {
    if (step.permit == nullptr) return;
    retries_.emplace(now + kPermitPause, Retry{id, 0});
    if (!step.waits_since) step.waits_since = now;
    return;
  }
  const bool is_error = step.permit == nullptr;
  const std::string plugin = step.plugin;
  note_permit(step, false, now);
  fail(step.batch, {failure_text(step, progress.why), is_error, plugin}, now);
}

std::string Preparer::failure_text(const Step& step, const std::string& why) const {
  if (step.permit == nullptr)
    return fmt::format("running PreBind plugin \"{}\": {}", step.plugin, why);
  return fmt::format("0/1 nodes are available: 1 {}.", why);
}

void Preparer::finish_step(Id id, Time now) {
  Step& step = steps_.at(id);
  step.is_done = true;
  note_permit(step, true, now);
  Batch& batch = batches_.at(step.batch);
  std::size_t& open = step.permit != nullptr ? batch.permits_open : batch.steps_open;
  CHECK(open > 0);
  --open;
  const Id batch_id = step.batch;
  drop_step(id);
  advance(batch_id, now);
}

void Preparer::note_permit(const Step& step, bool is_allowed, Time now) const {
  if (on_permit_ && step.waits_since) on_permit_(is_allowed, now - *step.waits_since);
}

// Goes on with a batch as far as it can: writes after all permits, ready after all writes and what
// they wait for, and in the order of decisions.
void Preparer::advance(Id id, Time now) {
  const auto at = batches_.find(id);
  if (at == batches_.end() || at->second.permits_open > 0) return;
  if (!at->second.are_steps_started) {
    at->second.are_steps_started = true;
    return start_steps(id, now);
  }
  if (at->second.steps_open > 0) return;
  std::optional<GroupKey> root;
  if (at->second.content.ordered) root = at->second.content.tree->root;
  if (root && by_root_.at(*root).front() != id) return;
  on_ready_(extract(id), now);
  if (!root) return;
  if (const auto next = by_root_.find(*root); next != by_root_.end())
    advance(next->second.front(), now);
}

void Preparer::start_steps(Id id, Time now) {
  const std::vector<Id> all = batches_.at(id).steps;
  for (const Id step_id : all) {
    const auto at = steps_.find(step_id);
    if (at == steps_.end()) continue;  // the batch has failed, or the pod is gone
    Step& step = at->second;
    step.deadline = now + step.preparation->patience();
    deadlines_.emplace(step.deadline, step_id);
    step.waits_on = step.preparation->waits_on();
    for (const std::string& object : step.waits_on) watchers_.emplace(object, step_id);
    std::vector<api::Request> writes = step.preparation->writes();
    step.writes_open = writes.size();
    for (std::size_t i = 0; i < writes.size(); ++i) send(step_id, i, std::move(writes[i]));
    if (step.writes_open == 0) ask(step_id, now);
  }
  if (all.empty()) advance(id, now);
}

void Preparer::send(Id id, std::size_t index, api::Request request) {
  calls_.send(std::move(request), [this, id, index](const client::Outcome& outcome, Time now) {
    const auto at = steps_.find(id);
    if (at == steps_.end()) return;
    Step& step = at->second;
    if (outcome) {
      step.preparation->written(index, *outcome);
      if (--step.writes_open == 0) ask(id, now);
      return;
    }
    if (const auto delay = client::retry_delay(outcome.error(), ++step.tries, {})) {
      retries_.emplace(now + *delay, Retry{id, index});
      return;
    }
    const std::string plugin = step.plugin;
    fail(step.batch,
         {failure_text(step, step.preparation->context() + outcome.error().message), true, plugin},
         now);
  });
}

// --- ends ---

void Preparer::drop_step(Id id) {
  const auto at = steps_.find(id);
  if (at == steps_.end()) return;
  deadlines_.erase({at->second.deadline, id});
  for (const std::string& object : at->second.waits_on) watchers_.erase({object, id});
  steps_.erase(at);
}

PreparedBatch Preparer::extract(Id id) {
  const auto at = batches_.find(id);
  Batch batch = std::move(at->second);
  batches_.erase(at);
  for (const std::vector<Id>* ids : {&batch.permits, &batch.steps})
    for (const Id step : *ids) drop_step(step);
  PreparedBatch content = std::move(batch.content);
  for (std::size_t i = content.assignments.size(); i-- > 0;) {
    by_node_.erase({content.assignments[i].node, id});
    if (!batch.is_gone[i]) by_uid_.erase(content.assignments[i].pod->meta().uid);
    if (batch.is_gone[i])
      content.assignments.erase(content.assignments.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (content.ordered) {
    std::deque<Id>& same_root = by_root_.at(content.tree->root);
    std::erase(same_root, id);
    if (same_root.empty()) by_root_.erase(content.tree->root);
  }
  return content;
}

// What was decided later for the same tree falls with it.
void Preparer::fail(Id id, const Failure& failure, Time now) {
  std::vector<Id> fallen{id};
  if (const PreparedBatch& content = batches_.at(id).content; content.ordered) {
    const std::deque<Id>& same_root = by_root_.at(content.tree->root);
    const auto at = std::ranges::find(same_root, id);
    fallen.insert(fallen.end(), std::next(at), same_root.end());
  }
  std::vector<PreparedBatch> contents;
  contents.reserve(fallen.size());
  for (const Id each : fallen) contents.push_back(extract(each));
  for (PreparedBatch& content : contents) on_failed_(std::move(content), failure, now);
}

// --- from the watch ---

void Preparer::object_changed(const api::Object& object, Time now) {
  if (watchers_.empty()) return;
  std::vector<std::string> names{
      object_name(object.kind().kind, object.meta().name_space, object.meta().name)};
  if (object.kind().kind == "PersistentVolume")
    if (const auto& view = object.view<api::VolumeView>(); !view.claim_name.empty())
      names.push_back(object_name("PersistentVolumeClaim", view.claim_namespace, view.claim_name));
  std::vector<Id> concerned;
  for (const std::string& name : names)
    for (auto at = watchers_.lower_bound({name, 0}); at != watchers_.end() && at->first == name;
         ++at)
      concerned.push_back(at->second);
  for (const Id step : concerned)
    if (steps_.contains(step)) ask(step, now);
}

void Preparer::confirm(std::string_view uid, std::string_view node, Time now) {
  const auto at = by_uid_.find(std::string(uid));
  if (at == by_uid_.end()) return;
  const auto [id, index] = at->second;
  Batch& batch = batches_.at(id);
  const Assignment& planned = batch.content.assignments[index];
  if (batch.content.ordered && planned.node == node) return;  // what binds the rest confirms it
  cancel(uid, now);
}

void Preparer::cancel(std::string_view uid, Time now) {
  const auto at = by_uid_.find(std::string(uid));
  if (at == by_uid_.end()) return;
  const auto [id, index] = at->second;
  by_uid_.erase(at);
  Batch& batch = batches_.at(id);
  batch.is_gone[index] = true;
  if (!batch.content.ordered && batch.content.assignments.size() == 1) {
    extract(id);
    return;
  }
  const std::string name = batch.content.assignments[index].pod->meta().name;
  fail(id, {fmt::format("pod {} does not exist any more", name), true, {}}, now);
}

void Preparer::node_vanished(std::string_view node, Time now) {
  drop(node, fmt::format("node \"{}\" was deleted before the pod was bound to it", node), now);
}

void Preparer::drop(std::string_view node, const std::string& why, Time now) {
  while (true) {
    const auto at = by_node_.lower_bound({std::string(node), 0});
    if (at == by_node_.end() || at->first != node) return;
    fail(at->second, {why, true, {}}, now);
  }
}

// --- time ---

void Preparer::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const Retry retry = retries_.begin()->second;
    retries_.erase(retries_.begin());
    const auto at = steps_.find(retry.step);
    if (at == steps_.end()) continue;
    if (at->second.permit != nullptr)
      ask(retry.step, now);
    else
      send(retry.step, retry.index, std::move(at->second.preparation->writes()[retry.index]));
  }
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const Step& step = steps_.at(deadlines_.begin()->second);
    const std::string plugin = step.plugin;
    const bool is_error = step.permit == nullptr;
    const std::string why =
        is_error ? step.preparation->context() + "context deadline exceeded"
                 : fmt::format("rejected due to timeout after waiting {} at plugin {}",
                               api::print_go_duration(patience_of(*step.permit)), plugin);
    note_permit(step, false, now);
    fail(step.batch, {failure_text(step, why), is_error, plugin}, now);
  }
}

std::optional<Time> Preparer::next_deadline() const {
  std::optional<Time> next;
  if (!deadlines_.empty()) next = deadlines_.begin()->first;
  if (!retries_.empty() && (!next || retries_.begin()->first < *next))
    next = retries_.begin()->first;
  return next;
}

}  // namespace muster::scheduler
