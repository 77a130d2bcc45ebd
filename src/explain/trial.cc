#include "explain/trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "api/views/pod_view.h"
#include "explain/words.h"
#include "scheduler/cycle/attempt.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::GroupKey;
using scheduler::GroupKind;
using scheduler::GroupSpec;
using scheduler::GroupVerdict;
using scheduler::Outcome;
using scheduler::PodRole;

constexpr std::size_t kEssentialMax = 64;  // parts looked at one by one

bool is_in_the_way(const Level& level) {
  switch (level.state) {
    case State::Scheduled:
    case State::FitsNow:
    case State::BehindOthers:
    case State::Missing:
    case State::Invalid:
    case State::Terminating: return false;
    default: return true;
  }
}

std::string where_it_runs(scheduler::ClusterModel& model, const GroupKey& key) {
  return fmt::format("{}", fmt::join(domains_it_runs_in(model, *model.forest().find(key)), ", "));
}

void drop_placements(scheduler::Group& group) {
  group.placements.clear();
  for (scheduler::Group& child : group.children) drop_placements(child);
}

void put_subject_first(std::vector<const Level*>& levels) {
  std::ranges::stable_sort(
      levels, [](const Level* a, const Level* b) { return a->is_subject && !b->is_subject; });
}

}  // namespace

bool holds_minimum(const scheduler::ClusterModel& model, const GroupKey& key, std::size_t levels) {
  const GroupSpec* spec = model.forest().find(key);
  if (spec == nullptr || levels == 0) return false;
  if (key.kind == GroupKind::PodGroup)
    return static_cast<std::int64_t>(model.count(key, PodRole::Running) +
                                     model.count(key, PodRole::Succeeded)) >= spec->minimum;
  const std::vector<GroupKey> children = model.forest().children(key);
  return std::ranges::count_if(children, [&](const GroupKey& child) {
           return holds_minimum(model, child, levels - 1);
         }) >= spec->minimum;
}

Edits joined(const std::vector<Edits>& parts) {
  Edits all;
  for (const Edits& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::int32_t Trial::priority() const {
  if (!target_.group) return target_.lone_pod->view<api::PodView>().priority;
  const GroupSpec* spec = model_.forest().find(*target_.group);
  return spec == nullptr ? 0 : spec->priority;
}

const Queue& Trial::queue() {
  if (!queue_) {
    queue_ = place_first(model_, before_.first, budget_);
    unplace(model_, *queue_);
  }
  return *queue_;
}

std::vector<std::string> Trial::in_the_way() {
  if (queue().names.empty() || fits({})) return {};
  return queue().names;
}

std::optional<std::string> Trial::fits(const Edits& edits) {
  const Queue& ahead = queue();
  if (is_spent()) return std::nullopt;
  apply(model_, edits);
  place_again(model_, ahead);
  std::optional<std::string> domain = attempt();
  unplace(model_, ahead);
  // More room is not always better: a sibling may find a place first and leave none for the target.
  // What is advised works whether those before it get their room or not.
  if (domain && !ahead.seats.empty() && !attempt()) domain.reset();
  revert(model_, edits);
  return domain;
}

// Most edits do not help even without a queue, so that is asked first.
std::optional<std::string> Trial::fits_in_room(const Edits& edits) {
  if (is_spent()) return std::nullopt;
  apply(model_, edits);
  std::optional<std::string> domain = attempt();
  if (domain && !before_.first.empty()) {
    const Queue ahead = place_first(model_, before_.first, budget_);
    domain = is_spent() ? std::nullopt : attempt();
    unplace(model_, ahead);
  }
  revert(model_, edits);
  return domain;
}

std::optional<std::string> Trial::fits_without_placements() {
  ignores_placements_ = true;
  std::optional<std::string> domain = fits({});
  ignores_placements_ = false;
  return domain;
}

std::optional<std::string> Trial::attempt() {
  if (!target_.group) {
    const scheduler::Plan plan = scheduler::attempt(model_, target_.lone_pod);
    budget_.charge(plan);
    return plan.assignments.empty() ? std::nullopt : std::optional<std::string>("");
  }
  if (holds_minimum(model_, *target_.group)) return where_it_runs(model_, *target_.group);
  const GroupSpec* root = model_.forest().root_of(*target_.group);
  if (root == nullptr || !model_.runnable(root->key)) return std::nullopt;
  scheduler::Group tree = model_.build(root->key);
  if (ignores_placements_) drop_placements(tree);
  model_.count_nominated(tree);
  const scheduler::Plan plan =
      scheduler::attempt_group(tree, model_.cluster(), model_.profile_of(tree));
  budget_.charge(plan);
  const auto verdict = std::ranges::find(plan.groups, *target_.group, &GroupVerdict::key);
  if (verdict == plan.groups.end() || verdict->outcome != Outcome::Placed) return std::nullopt;
  return verdict->domain;
}

std::vector<const Level*> Trial::changeable() const {
  std::vector<const Level*> levels;
  if (tree_ == nullptr) return levels;
  for (const Level& level : tree_->levels)
    if (level.state != State::Missing && level.state != State::Invalid &&
        level.state != State::Terminating)
      levels.push_back(&level);
  put_subject_first(levels);
  return levels;
}

std::vector<const Level*> Trial::obstacles() const {
  std::vector<const Level*> levels;
  if (tree_ == nullptr) return levels;
  for (const Level& level : tree_->levels)
    if (is_in_the_way(level)) levels.push_back(&level);
  put_subject_first(levels);
  return levels;
}

const Level* Trial::tightest_leaf() const {
  const Level* held = nullptr;
  for (const Level* level : obstacles()) {
    if (level->key.kind != GroupKind::PodGroup || level->waiting == 0) continue;
    if (level->state == State::Unschedulable || level->state == State::Unresolved) return level;
    if (held == nullptr) held = level;
  }
  return held;
}

std::vector<Trial::Place> Trial::places(std::size_t max) {
  std::vector<ObjectPtr> nodes = model_.nodes();
  const Level* leaf = tightest_leaf();
  if (leaf == nullptr) return {{"", std::move(nodes)}};
  // Inside the best domain of every group above that has one.
  for (const GroupSpec* spec = model_.forest().find(leaf->key); spec != nullptr;
       spec = model_.forest().find(
           {GroupKind::CompositePodGroup, spec->key.name_space, spec->parent})) {
    const Level* above = tree_->find(spec->key);
    if (above == nullptr || above == leaf || !above->is_confined()) continue;
    const std::string& domain =
        above->closest.empty() ? above->domain : above->closest.front().domain;
    if (domain.empty()) continue;
    const GroupDomains domains(model_, *spec);
    std::erase_if(nodes, [&](const ObjectPtr& node) { return !domains.holds(domain, *node); });
  }
  if (!leaf->is_confined()) return {{"", std::move(nodes)}};
  const GroupDomains domains(model_, *model_.forest().find(leaf->key));
  std::vector<Place> places;
  for (const std::string& domain : domains_to_try(*leaf, domains, nodes, max)) {
    Place place{.domain = fmt::format("{} {}", domain_word(*leaf), domain), .nodes = {}};
    for (const ObjectPtr& node : nodes)
      if (domains.holds(domain, *node)) place.nodes.push_back(node);
    places.push_back(std::move(place));
  }
  return places;
}

// Those that are short first, the closest of them first: with several groups in the tree the rest
// have their takers.
std::vector<std::string> Trial::domains_to_try(const Level& leaf, const GroupDomains& domains,
                                               const std::vector<ObjectPtr>& nodes,
                                               std::size_t max) const {
  std::set<std::string> there;
  for (const ObjectPtr& node : nodes)
    for (std::string& name : domains.of(*node)) there.insert(std::move(name));
  std::vector<std::string> found;
  for (const bool is_short : {true, false})
    for (const Closeness& close : leaf.closest)
      if ((close.fits < close.needed) == is_short && there.erase(close.domain) == 1)
        found.push_back(close.domain);
  found.insert(found.end(), there.begin(), there.end());
  if (found.size() > max) found.resize(max);
  return found;
}

std::vector<Edits> Trial::essential(std::vector<Edits> parts) {
  // Halves, quarters, and so on, down to single parts.
  for (std::size_t chunk = (parts.size() + 1) / 2; chunk > 0 && !parts.empty(); chunk /= 2) {
    if (parts.size() / chunk > kEssentialMax) break;
    for (std::size_t at = 0; at < parts.size();) {
      std::vector<Edits> fewer(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(at));
      const std::size_t end = std::min(at + chunk, parts.size());
      fewer.insert(fewer.end(), parts.begin() + static_cast<std::ptrdiff_t>(end), parts.end());
      if (fits_in_room(joined(fewer)))
        parts = std::move(fewer);
      else
        at += chunk;
    }
  }
  return parts;
}

}  // namespace muster::explain
