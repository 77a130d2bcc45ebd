#include "explain/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/views/pod_view.h"
#include "explain/words.h"
#include "scheduler/cycle/attempt.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::GroupKind;
using scheduler::GroupSpec;
using scheduler::GroupVerdict;
using scheduler::Outcome;

constexpr std::size_t kEssentialMax = 64;  // parts looked at one by one

bool is_in_the_way(const Level& level) {
  switch (level.state) {
    case State::Scheduled:
    case State::FitsNow:
    case State::BehindOthers:
    case State::Missing:
    case State::Invalid: return false;
    default: return true;
  }
}

const std::string* label_of(const ObjectPtr& node, std::string_view key) {
  return api::lookup(node->meta().labels, key);
}

}  // namespace

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

std::optional<std::string> Trial::fits(const Edits& edits) {
  if (is_spent()) return std::nullopt;
  apply(model_, edits);
  std::optional<std::string> domain = attempt();
  revert(model_, edits);
  return domain;
}

std::optional<std::string> Trial::attempt() {
  if (!target_.group) {
    const scheduler::Plan plan = scheduler::attempt(model_, target_.lone_pod);
    budget_.charge(plan);
    return plan.assignments.empty() ? std::nullopt : std::optional<std::string>("");
  }
  const scheduler::WorkloadForest& forest = model_.forest();
  const GroupSpec* root = forest.root_of(*target_.group);
  if (root == nullptr) return std::nullopt;
  if (!model_.runnable(root->key)) {
    // Nothing is left to place: it fits if what is there is enough.
    const bool enough = target_.group->kind == GroupKind::PodGroup &&
                        forest.ready(*target_.group) &&
                        model_.count(*target_.group, scheduler::PodRole::Waiting) == 0;
    return enough ? std::optional<std::string>("") : std::nullopt;
  }
  const scheduler::Plan plan = scheduler::attempt(model_, root->key);
  budget_.charge(plan);
  const auto verdict = std::ranges::find(plan.groups, *target_.group, &GroupVerdict::key);
  if (verdict == plan.groups.end() || verdict->outcome != Outcome::Placed) return std::nullopt;
  return verdict->domain;
}

std::vector<const Level*> Trial::obstacles() const {
  std::vector<const Level*> levels;
  if (tree_ == nullptr) return levels;
  for (const Level& level : tree_->levels)
    if (is_in_the_way(level)) levels.push_back(&level);
  std::ranges::stable_sort(
      levels, [](const Level* a, const Level* b) { return a->is_subject && !b->is_subject; });
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
    if (above == nullptr || above == leaf || above->topology_key.empty()) continue;
    const std::string& domain =
        above->closest.empty() ? above->domain : above->closest.front().domain;
    if (domain.empty()) continue;
    std::erase_if(nodes, [&](const ObjectPtr& node) {
      const std::string* value = label_of(node, above->topology_key);
      return value == nullptr || *value != domain;
    });
  }
  if (leaf->topology_key.empty()) return {{"", std::move(nodes)}};
  std::vector<Place> places;
  for (const std::string& domain : domains_to_try(*leaf, nodes, max)) {
    Place place{.domain = fmt::format("{} {}", word_of(leaf->topology_key), domain), .nodes = {}};
    for (const ObjectPtr& node : nodes)
      if (const std::string* value = label_of(node, leaf->topology_key);
          value != nullptr && *value == domain)
        place.nodes.push_back(node);
    places.push_back(std::move(place));
  }
  return places;
}

// Those that are short first, the closest of them first: with several groups in the tree the rest
// have their takers.
std::vector<std::string> Trial::domains_to_try(const Level& leaf,
                                               const std::vector<ObjectPtr>& nodes,
                                               std::size_t max) const {
  std::set<std::string> there;
  for (const ObjectPtr& node : nodes)
    if (const std::string* value = label_of(node, leaf.topology_key)) there.insert(*value);
  std::vector<std::string> domains;
  for (const bool is_short : {true, false})
    for (const Closeness& close : leaf.closest)
      if ((close.fits < close.needed) == is_short && there.erase(close.domain) == 1)
        domains.push_back(close.domain);
  domains.insert(domains.end(), there.begin(), there.end());
  if (domains.size() > max) domains.resize(max);
  return domains;
}

std::vector<Edits> Trial::essential(std::vector<Edits> parts) {
  // Halves, quarters, and so on, down to single parts.
  for (std::size_t chunk = (parts.size() + 1) / 2; chunk > 0 && !parts.empty(); chunk /= 2) {
    if (parts.size() / chunk > kEssentialMax) break;
    for (std::size_t at = 0; at < parts.size();) {
      std::vector<Edits> fewer(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(at));
      const std::size_t end = std::min(at + chunk, parts.size());
      fewer.insert(fewer.end(), parts.begin() + static_cast<std::ptrdiff_t>(end), parts.end());
      if (fits(joined(fewer)))
        parts = std::move(fewer);
      else
        at += chunk;
    }
  }
  return parts;
}

}  // namespace muster::explain
