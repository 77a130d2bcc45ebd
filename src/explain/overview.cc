#include "explain/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/views/pod_facts.h"
#include "explain/ahead.h"
#include "explain/sentences.h"
#include "explain/tree.h"
#include "explain/words.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/groups/group_spec.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using api::view_of;
using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::GroupSpec;
using scheduler::Plan;
using scheduler::PodRole;

// What waits, before anything is planned.
struct Entry {
  WaitingLine line;
  std::optional<GroupKey> tree;
  std::vector<ObjectPtr> lone;  // pods of one class and priority, oldest first
};

bool waits(const ObjectPtr& pod) {
  return view_of(pod).node_name.empty() && !view_of(pod).is_terminal() && !api::is_terminating(pod);
}

// The key that stands for the whole tree of a leaf, also if that is broken.
GroupKey tree_of(const ClusterModel& model, const GroupKey& leaf) {
  if (const GroupSpec* root = model.forest().root_of(leaf)) return root->key;
  return model.forest().anchor_of(leaf).value_or(leaf);
}

bool comes_first(const Entry& a, const Entry& b) {
  if (a.line.in_queue != b.line.in_queue) return a.line.in_queue;
  if (a.line.other_scheduler.empty() != b.line.other_scheduler.empty())
    return a.line.other_scheduler.empty();
  if (a.line.priority != b.line.priority) return a.line.priority > b.line.priority;
  return std::tie(a.line.since, a.line.name_space, a.line.name) <
         std::tie(b.line.since, b.line.name_space, b.line.name);
}

// So many others are looked at; a configuration has no more profiles either.
constexpr std::size_t kOthersMax = 100;

// The schedulers beside those of the model that waiting pods ask for. A tree that asks for one of
// the model's as well is left to that one.
std::set<std::string> other_schedulers(const Objects& objects, const ClusterModel& model) {
  std::set<std::string> names;
  std::map<GroupKey, std::set<std::string>> by_tree;
  for (const ObjectPtr& pod : objects.pods) {
    if (!waits(pod)) continue;
    const std::string& name = view_of(pod).scheduler_name;
    if (const std::optional<GroupKey> leaf = model.leaf_of(*pod))
      by_tree[tree_of(model, *leaf)].insert(name);
    else if (!model.serves(*pod))
      names.insert(name);
  }
  for (const auto& [tree, asked] : by_tree)
    if (std::ranges::none_of(asked,
                             [&](const auto& name) { return model.profiles().serves(name); }))
      names.insert(asked.begin(), asked.end());
  while (names.size() > kOthersMax) names.erase(std::prev(names.end()));
  return names;
}

// Collects what waits: the trees first, then classes of lone pods.
class Collector {
 public:
  // `known` are the profiles that were given, of those that the model serves.
  Collector(const Objects& objects, ClusterModel& model, const scheduler::Profiles& known)
      : objects_(objects), model_(model), known_(known) {}

  std::vector<Entry> collect() {
    for (const ObjectPtr& pod : objects_.pods) {
      if (!waits(pod)) continue;
      if (const std::optional<GroupKey> leaf = model_.leaf_of(*pod))
        add_member(tree_of(model_, *leaf), pod);
      else
        add_lone(pod);
    }
    for (const ObjectPtr& group : objects_.groups) add_empty_tree(*group);
    std::vector<Entry> entries;
    for (auto& [key, entry] : trees_) entries.push_back(finished(key, std::move(entry)));
    for (auto& [shape, entry] : classes_) entries.push_back(std::move(entry));
    std::ranges::sort(entries, comes_first);
    return entries;
  }

 private:
  void add_member(const GroupKey& tree, const ObjectPtr& pod) {
    const Time since = pod->meta().creation_time.value_or(Time{});
    const auto [at, is_new] = trees_.try_emplace(tree);
    WaitingLine& line = at->second.line;
    ++line.pods;
    line.since = is_new ? since : std::min(line.since, since);
  }

  // A gang that nobody has made pods for waits, too.
  void add_empty_tree(const api::Object& group) {
    const std::optional<GroupKey> key = scheduler::group_key(group);
    const GroupSpec* spec = key ? model_.forest().find(*key) : nullptr;
    if (spec == nullptr || !spec->parent.empty() || !spec->gang || group.meta().deletion_time ||
        scheduler::was_scheduled(*spec) || trees_.contains(*key))
      return;
    std::size_t placed = 0;
    model_.forest().each_leaf(*key, [&](const GroupKey& leaf) {
      placed += model_.count(leaf, PodRole::Running) + model_.count(leaf, PodRole::Succeeded);
    });
    if (placed == 0) trees_[*key].line.since = group.meta().creation_time.value_or(Time{});
  }

  Entry finished(const GroupKey& key, Entry entry) const {
    entry.tree = key;
    WaitingLine& line = entry.line;
    line.kind = kind_word(key.kind);
    line.name_space = key.name_space;
    line.name = key.name;
    if (const GroupSpec* spec = model_.forest().find(key)) line.priority = spec->priority;
    line.in_queue = model_.runnable(key);
    line.other_scheduler = unless_known(model_.scheduler_name_of(key));
    model_.forest().each_leaf(key, [&](const GroupKey& leaf) {
      line.placed += static_cast<std::int64_t>(model_.count(leaf, PodRole::Running) +
                                               model_.count(leaf, PodRole::Succeeded));
    });
    return entry;
  }

  void add_lone(const ObjectPtr& pod) {
    const api::PodView& view = view_of(pod);
    const bool ours = model_.serves(*pod);
    const bool gated = ours && model_.profile_of(*pod).pre_enqueue(*pod).has_value();
    const Shape shape{model_.cluster().class_hash(*pod), view.priority, view.scheduler_name,
                      gated ? view.scheduling_gates : std::vector<std::string>{}};
    Entry& entry = classes_[shape];
    WaitingLine& line = entry.line;
    const Time since = pod->meta().creation_time.value_or(Time{});
    entry.lone.push_back(pod);
    if (++line.pods == 1 || std::tie(since, pod->meta().name) < std::tie(line.since, line.name)) {
      line.since = since;
      line.name = pod->meta().name;
    }
    line.kind = "Pod";
    line.name_space = pod->meta().name_space;
    line.priority = view.priority;
    line.in_queue = ours && !gated;
    line.other_scheduler = unless_known(view.scheduler_name);
    if (gated) {
      line.state = State::Gated;
      line.reason = fmt::format("scheduling gates: {}", fmt::join(view.scheduling_gates, ", "));
    } else if (!ours) {
      line.reason = fmt::format("asks for the scheduler {}", view.scheduler_name);
    }
  }

  std::string unless_known(const std::string& scheduler_name) const {
    return known_.serves(scheduler_name) ? "" : scheduler_name;
  }

  using Shape = std::tuple<std::uint64_t, std::int32_t, std::string, std::vector<std::string>>;
  const Objects& objects_;
  ClusterModel& model_;
  const scheduler::Profiles& known_;
  std::map<GroupKey, Entry> trees_;
  std::map<Shape, Entry> classes_;
};

// The reason of the group of a tree that is in the way.
std::string reason_of(const ClusterModel& model, const Tree& tree) {
  const Level& root = tree.levels.front();
  if (!tree.no_root.empty()) return tree.no_root;
  const Level* culprit = culprit_above(model, tree, root);
  return culprit->why;
}

// Of an admitted tree of which more waits: what is refused, and why.
std::string leftover_reason(const Tree& tree, const WaitingLine& line) {
  std::string waits =
      fmt::format("runs; {} wait{}", count_of(line.pods, "extra pod"), line.pods == 1 ? "s" : "");
  if (!tree.fault.empty()) return waits + ": " + tree.fault;
  for (const Level& level : tree.levels)
    if (level.state != State::Scheduled && level.state != State::FitsNow && !level.why.empty())
      return fmt::format("runs; {} is {}: {}", name_of(level.key), state_word(level.state),
                         level.why);
  if (!tree.plan || tree.plan->refusals.empty()) return waits;
  return fmt::format("{}: {}", waits,
                     without_full_stop(bare_message(tree.plan->refusals.front().message)));
}

// Plans entries one after the other. `alone_` is the cluster as it is; in `after_others_` those
// that were planned have the nodes they would get.
class Planner {
 public:
  Planner(ClusterModel& model, Time now, const OverviewOptions& options)
      : alone_(model),
        now_(now),
        after_others_(model.fork()),
        budget_{.attempts = options.attempts_max, .steps = options.steps_max} {}

  void plan(Entry& entry) {
    WaitingLine& line = entry.line;
    if (!line.in_queue) {
      if (entry.tree) describe(*entry.tree, line);
      return;
    }
    if (budget_.is_spent()) {
      line.was_planned = false;
      return;
    }
    if (entry.tree)
      plan_tree(*entry.tree, line);
    else
      plan_class(entry);
    if (line.state == State::FitsNow && line.reason.empty() && !line.other_scheduler.empty())
      line.reason = fmt::format("the scheduler {} has to place {}", line.other_scheduler,
                                entry.lone.size() > 1 ? "them" : "it");
  }

 private:
  Tree describe(const GroupKey& key, WaitingLine& line) {
    Tree tree = read_tree(alone_, key, now_);
    if (tree.plan) budget_.charge(*tree.plan);
    line.state = tree.no_root.empty() ? tree.levels.front().state : State::Held;
    line.reason = line.state == State::Scheduled ? leftover_reason(tree, line)
                  : line.state == State::FitsNow ? ""
                                                 : reason_of(alone_, tree);
    return tree;
  }

  void plan_tree(const GroupKey& key, WaitingLine& line) {
    const Tree tree = describe(key, line);
    const bool fits = tree.plan && !tree.plan->assignments.empty();
    if (!fits) return;
    const Plan second = attempt(*after_others_, key);
    budget_.charge(second);
    if (second.assignments.empty()) return be_behind(line);
    add_plan(second, name_of(key));
  }

  void plan_class(Entry& entry) {
    WaitingLine& line = entry.line;
    const Plan first = attempt(alone_, entry.lone.front());
    budget_.charge(first);
    if (first.assignments.empty()) {
      line.state = State::Unschedulable;
      if (!first.refusals.empty())
        line.reason = without_full_stop(bare_message(first.refusals.front().message));
      return;
    }
    line.state = State::FitsNow;
    std::int64_t fit = 0;
    for (const ObjectPtr& pod : entry.lone) {
      if (budget_.is_spent()) break;
      const Plan plan = attempt(*after_others_, pod);
      budget_.charge(plan);
      if (plan.assignments.empty()) break;  // the others are like it
      add_plan(plan, fmt::format("pod {}", api::key_text(pod->meta())));
      ++fit;
    }
    if (fit == 0) return be_behind(line);
    if (fit < line.pods)
      line.reason = fmt::format("{} of them fit now, then the room is used up", fit);
  }

  void be_behind(WaitingLine& line) {
    line.state = State::BehindOthers;
    line.reason = names_.empty() ? "no room beside those ahead"
                                 : fmt::format("would fit, but {} the room", ahead_text(names_));
  }

  void add_plan(const Plan& plan, const std::string& name) {
    for (const scheduler::Assignment& assignment : plan.assignments)
      after_others_->assume(assignment.pod, assignment.node);
    names_.push_back(name);
  }

  ClusterModel& alone_;
  const Time now_;
  std::unique_ptr<ClusterModel> after_others_;
  Budget budget_;
  std::vector<std::string> names_;  // of those that fit, in the order of the queue
};

}  // namespace

Overview overview(const Objects& objects, const scheduler::Profiles& profiles,
                  const OverviewOptions& options) {
  const scheduler::ModelOptions as{.gates = options.gates};
  std::unique_ptr<ClusterModel> model = model_of(objects, profiles, as);
  if (const auto others = other_schedulers(objects, *model); !others.empty()) {
    scheduler::Profiles all = profiles;
    for (const std::string& name : others) all.add(name, profiles.first().profile);
    model = model_of(objects, all, as);
  }
  std::vector<Entry> entries = Collector(objects, *model, profiles).collect();
  Planner planner(*model, objects.read_at, options);
  Overview out{.lines = {}, .read_at = objects.read_at};
  std::int64_t ahead = 0;
  for (Entry& entry : entries) {
    entry.line.ahead = ahead;
    ahead += entry.line.in_queue ? 1 : 0;
    planner.plan(entry);
    if (!options.name_space.empty() && entry.line.name_space != options.name_space) continue;
    (entry.tree ? out.trees : out.lone_pods) += entry.tree ? 1 : entry.line.pods;
    out.lines.push_back(std::move(entry.line));
  }
  return out;
}

}  // namespace muster::explain
