#include "scheduler/half_bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/pod_facts.h"
#include "base/check.h"
#include "base/log.h"

namespace muster::scheduler {

using api::ObjectPtr;

HalfBound::HalfBound(const Options& options, const Surroundings& surroundings)
    : options_(options),
      model_(surroundings.model),
      queue_(surroundings.queue),
      report_(surroundings.report),
      writes_({}, surroundings.calls),
      evictor_(writes_, {}, [this](const ObjectPtr& pod, const Error& error, Time now) {
        log(LogLevel::Warning, "pod {} of a gang that is half bound could not be deleted: {}",
            api::key_text(pod->meta()), error.message);
        left(pod->meta().uid, now);
      }) {
  if (options.metrics == nullptr) return;
  half_bound_ = options.metrics->gauge(
      "muster_half_bound_trees",
      "Trees of groups of which some pods are bound, and fewer than they need to begin");
  released_ = options.metrics->counter(
      "muster_half_bound_pods_released_total",
      "Pods that were deleted because their gang stayed half bound for too long");
}

// --- what is under way ---

HalfBound::Tree& HalfBound::tree(const GroupKey& root, Time now) {
  const auto [at, is_new] = trees_.try_emplace(root);
  if (is_new) {
    at->second.since = now;
    set_due(root, at->second, next_look(at->second, now));
  }
  return at->second;
}

Time HalfBound::next_look(const Tree& tree, Time now) const {
  const Time report = now + kPatience;
  const Time release = tree.since + options_.release_after;
  return options_.release_after > Duration::zero() && release > now ? std::min(report, release)
                                                                    : report;
}

void HalfBound::set_due(const GroupKey& root, Tree& tree, Time due) {
  due_.erase({tree.due, root});
  tree.due = due;
  due_.emplace(due, root);
}

void HalfBound::forget(const GroupKey& root) {
  const auto at = trees_.find(root);
  if (at == trees_.end()) return;
  if (at->second.is_half_bound) half_bound_.set(static_cast<double>(--half_bound_count_));
  for (const std::string& uid : at->second.leaving) leaving_.erase(uid);
  due_.erase({at->second.due, root});
  trees_.erase(at);
}

void HalfBound::started(const GroupKey& root, std::span<const Assignment> assignments,
                        std::span<const GroupVerdict> groups, Time now) {
  Tree& begun = tree(root, now);
  for (const GroupVerdict& verdict : groups)
    if (verdict.outcome == Outcome::Placed) begun.verdicts.insert_or_assign(verdict.key, verdict);
  const std::uint64_t id = ++last_batch_;
  Batch batch{root, 0};
  for (const Assignment& assignment : assignments) {
    const std::optional<GroupKey> leaf = model_.leaf_of(*assignment.pod);
    if (!leaf || !under_way_.try_emplace(assignment.pod->meta().uid, UnderWay{id, *leaf}).second)
      continue;
    ++under_way_in_[*leaf];
    ++batch.open;
  }
  if (batch.open == 0) return look(root, now);
  ++begun.batches;
  batches_.emplace(id, std::move(batch));
}

void HalfBound::end(std::string_view uid, Time now) {
  const auto at = under_way_.find(std::string(uid));
  if (at == under_way_.end()) return;
  const auto [id, leaf] = at->second;
  under_way_.erase(at);
  const auto in_leaf = under_way_in_.find(leaf);
  if (--in_leaf->second == 0) under_way_in_.erase(in_leaf);
  const auto batch = batches_.find(id);
  if (--batch->second.open > 0) return;
  const GroupKey root = batch->second.root;
  batches_.erase(batch);
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return;
  --tree->second.batches;
  look(root, now);
}

void HalfBound::refused(const api::Object& pod, const std::string& why, Time now) {
  const auto at = under_way_.find(pod.meta().uid);
  if (at == under_way_.end()) return;
  if (const auto tree = trees_.find(batches_.at(at->second.batch).root); tree != trees_.end())
    tree->second.why = "the last refusal: " + why;
  end(pod.meta().uid, now);
}

void HalfBound::left(std::string_view uid, Time now) {
  end(uid, now);
  const auto at = leaving_.find(std::string(uid));
  if (at == leaving_.end()) return;
  const GroupKey root = at->second;
  leaving_.erase(at);
  Tree& tree = trees_.at(root);
  tree.leaving.erase(std::string(uid));
  if (!tree.leaving.empty()) return;
  // Those that wait were not tried meanwhile.
  std::vector<GroupKey> leaves;
  model_.forest().each_leaf(root, [&leaves](const GroupKey& leaf) { leaves.push_back(leaf); });
  for (const GroupKey& leaf : leaves) queue_.members_changed(leaf, true, now);
  set_due(root, tree, next_look(tree, now));
}

// --- how a tree stands ---

std::size_t HalfBound::bound_pods(const GroupKey& leaf) const {
  const std::size_t present =
      model_.count(leaf, PodRole::Running) + model_.count(leaf, PodRole::Succeeded);
  const auto under_way = under_way_in_.find(leaf);
  const std::size_t open = under_way == under_way_in_.end() ? 0 : under_way->second;
  return present > open ? present - open : 0;
}

// What is deeper than any tree may be is not looked at: nothing of it is ever tried.
HalfBound::Progress HalfBound::progress_of(const GroupKey& key, std::size_t levels) const {
  if (levels == 0) return {};
  const GroupSpec* const group = model_.forest().find(key);
  Progress progress;
  std::size_t counted = 0;  // what the minimum is about: pods, or groups that are whole
  if (key.kind == GroupKind::PodGroup) {
    progress.bound = counted = bound_pods(key);
  } else {
    for (const GroupKey& child : model_.forest().children(key)) {
      const Progress below = progress_of(child, levels - 1);
      progress.bound += below.bound;
      counted += below.is_whole ? 1 : 0;
      progress.short_of.insert(progress.short_of.end(), below.short_of.begin(),
                               below.short_of.end());
    }
  }
  if (group == nullptr || group->object == nullptr) return progress;
  progress.is_whole = counted >= static_cast<std::size_t>(group->minimum);
  if (group->gang && progress.bound > 0 && !progress.is_whole && !report_.was_scheduled(*group))
    progress.short_of = {group};
  return progress;
}

// Other schedulers look after their own groups.
bool HalfBound::is_served(const GroupKey& key) const {
  bool is_served = true;
  model_.forest().each_leaf(key, [&](const GroupKey& leaf) {
    for (const PodRole role : {PodRole::Running, PodRole::Waiting, PodRole::Foreign})
      for (const ObjectPtr& pod : model_.members(leaf, role))
        is_served = is_served && model_.serves(*pod);
  });
  return is_served;
}

void HalfBound::write_whole(Tree& tree, Time now) {
  std::erase_if(tree.verdicts, [&](const auto& entry) {
    if (!progress_of(entry.first).is_whole) return false;
    report_.write_group(entry.second, now);
    return true;
  });
}

// Nothing of the tree is under way by one of its batches any more.
void HalfBound::look(const GroupKey& root, Time now) {
  Tree& tree = trees_.at(root);
  write_whole(tree, now);
  const Progress progress = progress_of(root);
  const bool was_half_bound = std::exchange(tree.is_half_bound, !progress.short_of.empty());
  if (tree.is_half_bound && !was_half_bound) ++half_bound_count_;
  if (!tree.is_half_bound && was_half_bound) --half_bound_count_;
  half_bound_.set(static_cast<double>(half_bound_count_));
  if (!tree.is_half_bound && tree.batches == 0 && tree.leaving.empty()) forget(root);
}

// --- what others left ---

void HalfBound::synced(Time now) {
  for (const GroupKey& root : model_.roots()) {
    const std::vector<GroupVerdict> silent = whole_and_silent(root);
    const bool is_half_bound = !progress_of(root).short_of.empty();
    if ((silent.empty() && !is_half_bound) || !is_served(root)) continue;
    for (const GroupVerdict& verdict : silent) report_.write_group(verdict, now);
    if (!is_half_bound) continue;
    tree(root, now).why = "the scheduler that bound them stopped before it finished";
    look(root, now);
    found_.push_back(root);
  }
}

// Groups whose pods were bound by somebody who could not say so any more.
std::vector<GroupVerdict> HalfBound::whole_and_silent(const GroupKey& root) const {
  std::vector<GroupVerdict> whole;
  model_.forest().each_group(root, [&](const GroupSpec& group) {
    if (group.object == nullptr || report_.was_scheduled(group)) return;
    const Progress progress = progress_of(group.key);
    if (progress.bound > 0 && progress.is_whole)
      whole.push_back({group.key, group.object, Outcome::Placed, "", "", {}});
  });
  std::ranges::sort(whole, {}, &GroupVerdict::key);
  return whole;
}

std::optional<GroupKey> HalfBound::next_found() {
  if (found_.empty()) return std::nullopt;
  std::optional<GroupKey> root = std::move(found_.front());
  found_.pop_front();
  return root;
}

bool HalfBound::is_released(const GroupKey& root) const {
  const auto at = trees_.find(root);
  return at != trees_.end() && !at->second.leaving.empty();
}

// --- by time ---

void HalfBound::run(Time now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const GroupKey root = due_.begin()->second;
    Tree& tree = trees_.at(root);
    set_due(root, tree, next_look(tree, now));
    look(root, now);
    if (!trees_.contains(root)) continue;
    const Progress progress = progress_of(root);
    if (progress.short_of.empty()) continue;
    const bool is_late =
        options_.release_after > Duration::zero() && tree.since + options_.release_after <= now;
    if (is_late && tree.batches == 0 && tree.leaving.empty())
      release(root, tree, progress, now);
    else
      report(tree, progress, now);
  }
  writes_.run(now);
}

void HalfBound::report(const Tree& tree, const Progress& progress, Time now) {
  for (const GroupSpec* group : progress.short_of) {
    const std::string_view what = group->key.kind == GroupKind::PodGroup ? "pods" : "groups";
    std::size_t counted = bound_pods(group->key);
    if (group->key.kind == GroupKind::CompositePodGroup)
      counted = static_cast<std::size_t>(
          std::ranges::count_if(model_.forest().children(group->key),
                                [this](const GroupKey& key) { return progress_of(key).is_whole; }));
    report_.half_bound(
        *group->object,
        fmt::format("only {} of the {} {} that it needs are bound; {}", counted, group->minimum,
                    what, tree.why.empty() ? "the other bindings are under way" : tree.why),
        now);
  }
}

// Its pods go as those of a preemption do: a controller that owns them makes others, and counts
// them as disrupted, not as failed.
void HalfBound::release(const GroupKey& root, Tree& tree, const Progress& progress, Time now) {
  tree.since = now;  // those that come after them have as long again
  for (const GroupSpec* group : progress.short_of) {
    std::vector<ObjectPtr> pods;
    model_.forest().each_leaf(group->key, [&](const GroupKey& leaf) {
      const std::vector<ObjectPtr> members = model_.members(leaf, PodRole::Running);
      pods.insert(pods.end(), members.begin(), members.end());
    });
    report_.half_bound(*group->object,
                       fmt::format("stayed half bound for too long: its {} pods that are bound are "
                                   "deleted; {}",
                                   pods.size(), tree.why),
                       now);
    for (const ObjectPtr& pod : pods) {
      tree.leaving.insert(pod->meta().uid);
      leaving_.emplace(pod->meta().uid, root);
      released_.add();
      evictor_.evict(pod, "the pod's group stayed half bound for too long", now);
    }
  }
}

std::optional<Time> HalfBound::next_deadline() const {
  std::optional<Time> next = writes_.next_deadline();
  if (!due_.empty()) next = std::min(next.value_or(due_.begin()->first), due_.begin()->first);
  return next;
}

}  // namespace muster::scheduler
