#include "explain/sentences.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/pod_facts.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using api::view_of;
using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::GroupKind;
using scheduler::GroupVerdict;
using scheduler::Outcome;
using scheduler::PodRole;

std::string where_text(const Level& level) {
  return level.domain.empty() ? "" : fmt::format(", in {} {}", domain_word(level), level.domain);
}

// `waiting` pods of it, or below it, have no node.
std::string scheduled_text(const Level& level, std::int64_t waiting) {
  std::string text =
      level.key.kind == GroupKind::CompositePodGroup
          ? fmt::format("is scheduled: {} of {}{}", level.scheduled,
                        count_of(level.total, "child group"), where_text(level))
          : fmt::format("is scheduled: {} of {} have a node or have finished{}", level.scheduled,
                        count_of(level.total, "pod"), where_text(level));
  if (waiting > 0)
    text += fmt::format("; {} wait{}", count_of(waiting, "extra pod"), waiting == 1 ? "s" : "");
  if (level.gated > 0) text += fmt::format("; {} carry scheduling gates", level.gated);
  return text;
}

constexpr std::string_view kDefaultScheduler = "default-scheduler";

// Who has to place pods that fit: the default scheduler speaks for itself, others may not be there.
std::string who_places(const std::vector<ObjectPtr>& waiting) {
  for (const ObjectPtr& pod : waiting)
    if (const std::string& name = view_of(pod).scheduler_name;
        !name.empty() && name != kDefaultScheduler)
      return fmt::format("the scheduler {}, which its pods ask for, has to place it", name);
  return "the scheduler will place it with its next attempt";
}

// The waiting pods of all leaves below a group.
std::vector<ObjectPtr> waiting_below(const ClusterModel& model, const GroupKey& key) {
  std::vector<ObjectPtr> pods;
  model.forest().each_leaf(key, [&](const GroupKey& leaf) {
    const std::vector<ObjectPtr> waiting = model.members(leaf, PodRole::Waiting);
    pods.insert(pods.end(), waiting.begin(), waiting.end());
  });
  return pods;
}

// Whether pods of the group, or below it, have a node or have finished.
bool runs_in_part(const Tree& tree, const Level& level) {
  const auto first = std::ranges::find(tree.levels, level.key, &Level::key);
  const auto last = std::find_if(std::next(first), tree.levels.end(),
                                 [&](const Level& other) { return other.depth <= level.depth; });
  return std::any_of(first, last, [](const Level& each) {
    return each.key.kind == GroupKind::PodGroup && each.scheduled > 0;
  });
}

std::string wait_text(const Tree& tree) {
  if (!tree.evicts_from) return "";
  return fmt::format(
      "; until {} it waits for the topology it prefers, and nobody is evicted for it",
      format_time(*tree.evicts_from));
}

std::int64_t steps_of(const Tree& tree) { return static_cast<std::int64_t>(tree.plan->steps); }

}  // namespace

const Level* culprit_above(const ClusterModel& model, const Tree& tree, const Level& level) {
  for (const Level* at = &level; at != nullptr;) {
    if (at->state != State::Held) return at;
    const scheduler::GroupSpec* spec = model.forest().find(at->key);
    if (spec == nullptr || spec->parent.empty()) return at;
    at = tree.find({GroupKind::CompositePodGroup, at->key.name_space, spec->parent});
  }
  return &level;
}

std::string ahead_text(const std::vector<std::string>& ahead) {
  if (ahead.size() == 1) return ahead.front() + " comes first and takes";
  return fmt::format("{} and {} come first and take", ahead.front(),
                     ahead.size() == 2 ? ahead[1] : fmt::format("{} others", ahead.size() - 1));
}

std::string predicate(const ClusterModel& model, const Tree& tree, const Explanation& about) {
  const Level& level = tree.subject();
  switch (about.state) {
    case State::Scheduled:
      return scheduled_text(level, std::ssize(waiting_below(model, level.key))) +
             (tree.fault.empty() || level.waiting == 0
                  ? ""
                  : "; nothing more of its tree is tried: " + tree.fault);
    case State::FitsNow:
      return fmt::format("fits now{}: {}", where_text(level),
                         who_places(waiting_below(model, level.key)));
    case State::BehindOthers:
      return fmt::format("would fit{}, but {} the room", where_text(level),
                         ahead_text(about.ahead));
    case State::Unschedulable: return "is unschedulable: " + level.why + wait_text(tree);
    case State::Unresolved:
      return "has found no place, though none is ruled out: " + level.why + wait_text(tree);
    case State::Missing: return "cannot be tried: " + level.why;
    case State::WaitsByPreference: return "waits for the topology it prefers: " + level.why;
    case State::BelowMinimum:
      return (runs_in_part(tree, level) ? "runs below its minimum: " : "waits: ") + level.why;
    case State::Gated: return "waits: " + level.why;
    case State::Invalid: return "is invalid: " + level.why;
    case State::Terminating: return "is being deleted: " + level.why;
    case State::Held: break;
  }
  if (!tree.no_root.empty()) return "waits: " + tree.no_root;
  const Level* culprit = culprit_above(model, tree, level);
  if (culprit == &level) return "waits: " + level.why;
  return fmt::format("waits for {}, which is {}: {}", name_of(culprit->key),
                     state_word(culprit->state), culprit->why);
}

std::string proof_of(const Tree& tree, const Level& level) {
  if (!tree.plan || level.state == State::Invalid) return "";
  if (!tree.insisting.empty()) return "";  // it would fit, were it not for what it prefers
  const auto verdict = std::ranges::find(tree.plan->groups, level.key, &GroupVerdict::key);
  if (verdict == tree.plan->groups.end()) return "";
  if (verdict->outcome == Outcome::Unresolved)
    return fmt::format(
        "Unresolved within the budget of the search ({}): this is no proof that it cannot fit.",
        count_of(steps_of(tree), "step"));
  const bool is_leaf = level.key.kind == GroupKind::PodGroup;
  const auto most = [&](const scheduler::DomainBound& bound) {
    return is_leaf ? bound.fits_at_most : bound.ready;
  };
  const bool by_count =
      !verdict->bounds.empty() && std::ranges::all_of(verdict->bounds, [&](const auto& bound) {
        return most(bound) < bound.needed;
      });
  std::string text;
  if (by_count) {
    const auto& best = *std::ranges::max_element(verdict->bounds, {}, most);
    const std::string_view noun = is_leaf ? "pods" : "groups";
    const std::string amount = most(best) == 0 ? "any" : std::to_string(most(best));
    text = !level.is_confined()
               ? fmt::format(
                     "Proven by counting: the cluster has room for {} of the {} {} it still "
                     "needs.",
                     most(best) == 0 ? "none" : amount, best.needed, noun)
               : fmt::format(
                     "Proven by counting: no {} has room for {}{} of the {} {} it still "
                     "needs.",
                     domain_word(level), most(best) == 0 ? "" : "more than ", amount, best.needed,
                     noun);
  } else if (!verdict->bounds.empty()) {
    text = "Proven by search: every way to place it was ruled out";
    if (tree.plan->steps > 0) text += fmt::format(" ({})", count_of(steps_of(tree), "step"));
    text += ".";
  }
  if (verdict->outcome == Outcome::Unresolvable && !text.empty())
    text += " Evicting other pods would not help.";
  return text;
}

}  // namespace muster::explain
