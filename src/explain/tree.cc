#include "explain/tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "api/views/pod_view.h"
#include "explain/group_domains.h"
#include "explain/tree_plan.h"
#include "explain/words.h"
#include "scheduler/groups/group_spec.h"

namespace muster::explain {
namespace {

using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::GroupKind;
using scheduler::GroupSpec;
using scheduler::GroupVerdict;
using scheduler::Outcome;
using scheduler::PodRole;

constexpr std::size_t kClosestMax = 5;

// As deep as a tree is looked at: users may make chains of any length, and no more than this is
// valid, above the subject and below it.
constexpr int kDepthMax = 2 * static_cast<int>(scheduler::kTreeDepthMax);

// The highest group above that somebody names: the root, or the one that is missing; in a chain
// that is longer than any valid one, a group so far above.
GroupKey top_of(const ClusterModel& model, GroupKey key) {
  std::set<GroupKey> seen;
  for (const GroupSpec* spec = model.forest().find(key); spec != nullptr;
       spec = model.forest().find(key)) {
    if (spec->parent.empty() || seen.size() == scheduler::kTreeDepthMax) break;
    if (!seen.insert(key).second) break;  // a cycle
    key = {GroupKind::CompositePodGroup, key.name_space, spec->parent};
  }
  return key;
}

// Which gates the pods carry, each once.
std::string gates_of(const std::vector<api::ObjectPtr>& pods) {
  std::set<std::string> gates;
  for (const api::ObjectPtr& pod : pods)
    for (const std::string& gate : pod->view<api::PodView>().scheduling_gates) gates.insert(gate);
  return fmt::format("{}", fmt::join(gates, ", "));
}

void be_invalid(Level& level, std::string why) {
  level.state = State::Invalid;
  level.why = std::move(why);
  level.domain.clear();
  level.closest.clear();
}

// What the scheduler last wrote of a group that an attempt here finds in order: it may know a
// Workload that could not be read, or have failed by itself. Empty if there is nothing like that.
std::string last_said_of(const ClusterModel& model, const Level& level) {
  const GroupSpec* spec = model.forest().find(level.key);
  const api::Condition* said = spec == nullptr ? nullptr : scheduler::scheduled_condition_of(*spec);
  if (said == nullptr || said->status != "False") return "";
  const bool fits = level.state == State::FitsNow;
  const bool was_tried = fits || level.state == State::Unschedulable ||
                         level.state == State::Unresolved || level.state == State::Held;
  if ((said->reason == "Invalid" && was_tried) || (said->reason == "SchedulerError" && fits))
    return fmt::format("the scheduler last said {}: {}", said->reason,
                       without_full_stop(said->message));
  return "";
}

// What runs stays scheduled, whatever is wrong with its tree.
void mark_faults(const ClusterModel& model, Tree& tree) {
  for (Level& level : tree.levels) {
    if (!tree.fault.empty()) {
      if (level.state != State::Scheduled) be_invalid(level, tree.fault);
    } else if (tree.plan) {
      if (std::string said = last_said_of(model, level); !said.empty())
        be_invalid(level, std::move(said));
    }
  }
}

// "a, b, c and 5 more".
std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const auto shown = std::span(names).first(std::min(names.size(), kShown));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (shown.size() < names.size()) text += fmt::format(" and {} more", names.size() - shown.size());
  return text;
}

// A group that is being deleted goes when nothing below it is left: says what still is.
void mark_terminating(const ClusterModel& model, Tree& tree) {
  for (Level& level : tree.levels) {
    const GroupSpec* spec = model.forest().find(level.key);
    if (spec == nullptr || spec->object == nullptr || !spec->object->meta().deletion_time) continue;
    std::vector<std::string> groups;
    for (const GroupKey& child : model.forest().children(level.key)) groups.push_back(child.name);
    std::vector<std::string> pods;
    model.forest().each_leaf(level.key, [&](const GroupKey& leaf) {
      for (const PodRole role :
           {PodRole::Waiting, PodRole::Gated, PodRole::Foreign, PodRole::Running, PodRole::Lost})
        for (const api::ObjectPtr& pod : model.members(leaf, role))
          if (!pod->view<api::PodView>().is_terminal()) pods.push_back(pod->meta().name);
    });
    level.state = State::Terminating;
    level.closest.clear();
    level.why = groups.empty() && pods.empty() ? "nothing that it waits for is left" : "waits for ";
    if (!groups.empty())
      level.why +=
          fmt::format("{} ({})", count_of(std::ssize(groups), "group"), first_names(groups));
    if (!groups.empty() && !pods.empty()) level.why += " and ";
    if (!pods.empty())
      level.why += fmt::format("{} ({})", count_of(std::ssize(pods), "pod"), first_names(pods));
  }
}

// Fills the levels of a tree, children before what their parents say of them.
class Reader {
 public:
  Reader(ClusterModel& model, const GroupKey& subject, Tree& tree)
      : model_(model), subject_(subject), tree_(tree) {}

  void read(const GroupKey& key, int depth) {
    if (depth > kDepthMax || !seen_.insert(key).second) return;  // too deep, or a cycle
    const std::size_t at = tree_.levels.size();
    tree_.levels.emplace_back();
    describe(key, depth, tree_.levels[at]);
    if (key.kind == GroupKind::PodGroup) {
      read_leaf(tree_.levels[at]);
      return;
    }
    std::vector<std::size_t> children;
    for (const GroupKey& child : model_.forest().children(key)) {
      const std::size_t next = tree_.levels.size();
      read(child, depth + 1);
      if (tree_.levels.size() > next) children.push_back(next);
    }
    read_composite(tree_.levels[at], children);
  }

 private:
  void describe(const GroupKey& key, int depth, Level& level) {
    level.key = key;
    level.depth = depth;
    level.is_subject = key == subject_;
    if (const GroupSpec* spec = model_.forest().find(key)) {
      level.gang = spec->gang;
      level.minimum = spec->minimum;
      level.topology_key = spec->topology_key;
      for (const Generator& one : generators_of(model_, *spec))
        level.generators.emplace_back(one.name);
    } else {
      level.state = State::Missing;
    }
  }

  void read_leaf(Level& level) {
    level.waiting = count(level, PodRole::Waiting);
    level.gated = count(level, PodRole::Gated);
    level.scheduled = count(level, PodRole::Running) + count(level, PodRole::Succeeded);
    level.lost = count(level, PodRole::Lost);
    const std::int64_t foreign = count(level, PodRole::Foreign);
    level.total = level.waiting + level.gated + level.scheduled;
    if (level.state == State::Missing) {
      level.why = fmt::format("{} does not exist, though {} it", name_of(level.key),
                              count_of(level.total + foreign, "pod") +
                                  (level.total + foreign == 1 ? " names" : " name"));
      return;
    }
    if (level.scheduled >= level.minimum) return be_scheduled(level);
    const std::int64_t usable = level.waiting + level.scheduled;
    const bool all_wanted = level.gated > 0 && level.is_confined();
    if (usable + level.gated < level.minimum) {
      level.state = State::BelowMinimum;
      note_domain(level);
      level.why = fmt::format(
          "only {} of at least {} exist{}{}", usable + level.gated, count_of(level.minimum, "pod"),
          level.lost == 0 ? ""
                          : fmt::format(" ({} failed or {} terminating)", level.lost,
                                        level.lost == 1 ? "is" : "are"),
          foreign == 0 ? ""
                       : fmt::format(" ({} {} for another scheduler)", foreign,
                                     foreign == 1 ? "asks" : "ask"));
    } else if (all_wanted || usable < level.minimum) {
      level.state = State::Gated;
      level.why = fmt::format(
          "{} of {} carry scheduling gates ({}){}", level.gated, count_of(level.total, "pod"),
          gates_of(model_.members(level.key, PodRole::Gated)),
          usable < level.minimum
              ? fmt::format("; without them {} of at least {} can be tried", usable, level.minimum)
              : "; a group that must share one " + std::string(domain_word(level)) +
                    " waits for all its pods");
    } else {
      judge(level);
    }
  }

  std::int64_t count(const Level& level, PodRole role) const {
    return static_cast<std::int64_t>(model_.count(level.key, role));
  }

  void read_composite(Level& level, const std::vector<std::size_t>& children) {
    level.total = static_cast<std::int64_t>(children.size());
    std::int64_t ready = 0;
    const Level* blocking = nullptr;
    for (const std::size_t at : children) {
      const Level& child = tree_.levels[at];
      level.scheduled += child.state == State::Scheduled ? 1 : 0;
      const bool child_ready = model_.forest().ready(child.key);
      ready += child_ready ? 1 : 0;
      if (!child_ready && blocking == nullptr) blocking = &child;
    }
    level.waiting = level.total - level.scheduled;
    if (level.state == State::Missing) {
      level.why =
          fmt::format("{} does not exist, though {} it as parent", name_of(level.key),
                      count_of(level.total, "group") + (level.total == 1 ? " names" : " name"));
      return;
    }
    if (level.scheduled >= level.minimum) return be_scheduled(level);
    if (ready >= level.minimum) return judge(level);
    level.state = State::BelowMinimum;
    note_domain(level);
    level.why = level.total < level.minimum
                    ? fmt::format("only {} of at least {} exist", level.total,
                                  count_of(level.minimum, "child group"))
                    : fmt::format("only {} of at least {} are ready", ready,
                                  count_of(level.minimum, "child group"));
    if (blocking != nullptr)
      level.why += fmt::format("; {}: {}", blocking->key.name, blocking->why);
  }

  void be_scheduled(Level& level) {
    level.state = State::Scheduled;
    note_domain(level);
  }

  // Where its pods run, if they must be in one domain.
  void note_domain(Level& level) {
    if (!level.is_confined()) return;
    level.domain = fmt::format(
        "{}", fmt::join(domains_it_runs_in(model_, *model_.forest().find(level.key)), ", "));
  }

  // What the attempt says of a group that is ready.
  void judge(Level& level) {
    const GroupVerdict* verdict = tree_.plan ? verdict_of(*tree_.plan, level.key) : nullptr;
    if (verdict == nullptr) {
      level.state = State::Held;
      level.why = "ready, waits for its parent";
      return;
    }
    level.why = bare_message(verdict->message);
    level.domain = verdict->domain;
    switch (verdict->outcome) {
      case Outcome::Placed: level.state = State::FitsNow; break;
      case Outcome::Unschedulable:
      case Outcome::Unresolvable:
        level.state = tree_.insisting.empty() ? State::Unschedulable : State::WaitsByPreference;
        break;
      case Outcome::Unresolved: level.state = State::Unresolved; break;
      case Outcome::Error: level.state = State::Invalid; break;
    }
    if (is_refused_with_parent(*verdict)) {
      level.state = State::Held;
      level.why = "could find a place by itself, but its parent cannot";
    }
    if (!level.is_confined()) return;
    level.domains = static_cast<std::int64_t>(verdict->bounds.size());
    for (const scheduler::DomainBound& bound : verdict->bounds) {
      if (level.closest.size() == kClosestMax) break;
      const bool is_leaf = level.key.kind == GroupKind::PodGroup;
      level.closest.push_back({.domain = bound.domain,
                               .fits = is_leaf ? bound.fits_at_most : bound.ready,
                               .needed = bound.needed});
    }
  }

  // The attempt repeats a parent's words for children that are not at fault themselves.
  bool is_refused_with_parent(const GroupVerdict& verdict) const {
    if (verdict.outcome == Outcome::Placed || !verdict.bounds.empty()) return false;
    const GroupSpec* spec = model_.forest().find(verdict.key);
    if (spec == nullptr || spec->parent.empty()) return false;
    const GroupVerdict* parent = verdict_of(
        *tree_.plan, {GroupKind::CompositePodGroup, verdict.key.name_space, spec->parent});
    return parent != nullptr && parent->message == verdict.message &&
           parent->outcome != Outcome::Error;
  }

  ClusterModel& model_;
  const GroupKey& subject_;
  Tree& tree_;
  std::set<GroupKey> seen_;
};

}  // namespace

const Level& Tree::subject() const {
  const auto at = std::ranges::find(levels, true, &Level::is_subject);
  return at == levels.end() ? levels.front() : *at;
}

const Level* Tree::find(const GroupKey& key) const {
  const auto at = std::ranges::find(levels, key, &Level::key);
  return at == levels.end() ? nullptr : &*at;
}

Tree read_tree(ClusterModel& model, const GroupKey& subject, Time now) {
  Tree tree;
  if (const std::string* fault = model.fault(subject)) {
    tree.fault = *fault;
  } else if (const GroupSpec* root = model.forest().root_of(subject)) {
    tree.root = root->key;
    if (model.runnable(*tree.root)) {
      TreePlan made = plan_tree(model, *tree.root, now);
      tree.plan = std::move(made.plan);
      tree.insisting = std::move(made.insisting);
      tree.evicts_from = made.evicts_from;
    }
  } else {
    tree.no_root = model.forest().why_no_root(subject);
  }
  Reader(model, subject, tree).read(top_of(model, subject), 0);
  mark_faults(model, tree);
  mark_terminating(model, tree);
  return tree;
}

std::string_view bare_message(std::string_view message) {
  constexpr std::string_view kStart = "pod group is unschedulable, ";
  if (message.starts_with(kStart)) message.remove_prefix(kStart.size());
  return message;
}

}  // namespace muster::explain
