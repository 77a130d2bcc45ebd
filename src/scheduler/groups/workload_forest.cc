#include "scheduler/groups/workload_forest.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "api/views/group_view.h"
#include "base/check.h"

namespace muster::scheduler {

namespace {

std::string_view kind_words(GroupKind kind) {
  return kind == GroupKind::PodGroup ? "pod group" : "composite pod group";
}

std::string words_for(const GroupKey& key) {
  return fmt::format("{} \"{}\"", kind_words(key.kind), key.name);
}

std::string_view class_of(const GroupSpec& group) {
  if (group.object == nullptr) return {};
  return group.object->view<api::GroupView>().priority_class;
}

std::string too_deep(const GroupKey& key) {
  return fmt::format("exceeded maximum hierarchy depth at {}: {} levels are allowed",
                     words_for(key), kTreeDepthMax);
}

}  // namespace

WorkloadForest::WorkloadForest(const WorkloadForest& other) {
  for (const auto& [key, from] : other.nodes_) {
    Node& to = nodes_.emplace_hint(nodes_.end(), key, Node{})->second;
    to.key = key;
    to.spec = from.spec;
    to.in_children = from.in_children;
    to.waiting = from.waiting;
    to.gated = from.gated;
    to.present = from.present;
    to.disagrees = from.disagrees;
    to.flags = from.flags;
    to.composite_change = from.composite_change;
  }
  composite_changes_ = other.composite_changes_;
  // Links are pointers: they must lead into this forest. Children come in the order of their keys,
  // which is the order of every set of children, so each goes to the end.
  for (const auto& [key, from] : other.nodes_) {
    if (from.parent == nullptr) continue;
    Node& child = nodes_.at(key);
    child.parent = &nodes_.at(from.parent->key);
    child.parent->children.insert(child.parent->children.end(), &child);
    if (!child.flags.idle)
      child.parent->busy_children.insert(child.parent->busy_children.end(), &child);
  }
}

WorkloadForest::Node& WorkloadForest::node(const GroupKey& key) {
  const auto [at, is_new] = nodes_.try_emplace(key);
  if (is_new) at->second.key = key;
  return at->second;
}

const WorkloadForest::Node* WorkloadForest::find_node(const GroupKey& key) const {
  const auto at = nodes_.find(key);
  return at == nodes_.end() ? nullptr : &at->second;
}

WorkloadForest::Flags WorkloadForest::flags_of(const Node& node) {
  if (node.key.kind == GroupKind::CompositePodGroup) {
    const bool ready = node.is_known() && node.in_children.ready >= node.spec->minimum;
    return {.ready = ready,
            .runnable = ready && node.in_children.runnable > 0,
            .pending = node.in_children.pending > 0,
            .needing = ready && node.in_children.needing > 0,
            .idle = node.busy_children.empty()};
  }
  const bool pending = node.waiting + node.gated > 0;
  const bool idle = !pending && node.present == 0;
  if (!node.is_known())
    return {.ready = false, .runnable = false, .pending = pending, .needing = false, .idle = idle};
  // A group that must share one domain is placed with all its pods in view, or not yet.
  const bool held = node.gated > 0 && node.spec->is_confined();
  const bool ready = !held && node.waiting + node.present >= node.spec->minimum;
  const bool runnable = ready && node.waiting > 0;
  // Any pod of a Basic group that may be anywhere will do, and none needs another.
  const bool is_basic = !node.spec->gang && !node.spec->has_topology() && node.spec->parent.empty();
  return {
      .ready = ready,
      .runnable = runnable,
      .pending = pending,
      .needing = runnable && (node.disagrees || (!is_basic && node.present < node.spec->minimum)),
      .idle = idle};
}

// A parent's counts are the sums of its children's flags. To change a flag or a link, take the
// child's share out of the sums before and put it in after: then they need not be computed again.
void WorkloadForest::add_to_parent(Node& node, std::int32_t sign) {
  if (node.parent == nullptr) return;
  if (!node.flags.idle && sign > 0) node.parent->busy_children.insert(&node);
  if (!node.flags.idle && sign < 0) node.parent->busy_children.erase(&node);
  Counts& counts = node.parent->in_children;
  if (node.flags.ready) counts.ready += sign;
  if (node.flags.runnable) counts.runnable += sign;
  if (node.flags.pending) counts.pending += sign;
  if (node.flags.needing) counts.needing += sign;
}

// Stops at the first node whose flags stay: nothing above it can change then. On a cycle each round
// must change a flag of every node, and flags_of is monotone in the counts, so few rounds are made.
void WorkloadForest::climb(Node* node) {
  for (; node != nullptr; node = node->parent) {
    const Flags flags = flags_of(*node);
    if (flags == node->flags) return;
    if (node->key.kind == GroupKind::CompositePodGroup && flags.ready != node->flags.ready)
      composite_changed(node);
    add_to_parent(*node, -1);
    node->flags = flags;
    add_to_parent(*node, +1);
  }
}

// Kept at the root, so that trees do not look at their leaves because of each other.
void WorkloadForest::composite_changed(Node* node) {
  for (std::size_t level = 0; level <= kTreeDepthMax && node->parent != nullptr; ++level)
    node = node->parent;
  node->composite_change = ++composite_changes_;
}

std::uint64_t WorkloadForest::composite_changes(const GroupKey& root) const {
  const Node* at = find_node(root);
  return at == nullptr ? 0 : at->composite_change;
}

void WorkloadForest::unlink(Node& node) {
  Node* parent = node.parent;
  if (parent == nullptr) return;
  add_to_parent(node, -1);
  parent->children.erase(&node);
  node.parent = nullptr;
  climb(parent);
  drop_if_idle(parent);
}

// Nothing refers to the node any more. It cannot have a parent: only a spec names one, and erase()
// has cut that link.
void WorkloadForest::drop_if_idle(Node* node) {
  if (node->is_known() || !node->children.empty()) return;
  if (node->waiting + node->gated + node->present > 0) return;
  CHECK(node->parent == nullptr);
  nodes_.erase(GroupKey(node->key));
}

void WorkloadForest::set(GroupSpec group) {
  CHECK(group.minimum >= 0);
  Node& at = node(group.key);
  const bool moves = at.is_known() && at.spec->parent != group.parent;
  if (moves) unlink(at);
  at.spec = std::make_shared<const GroupSpec>(std::move(group));
  // The parent need not be known: the link waits for its object, whichever comes first.
  if (at.parent == nullptr && !at.spec->parent.empty()) {
    Node& parent = node({GroupKind::CompositePodGroup, at.key.name_space, at.spec->parent});
    at.parent = &parent;
    parent.children.insert(&at);
    add_to_parent(at, +1);
    climb(&parent);
  }
  climb(&at);
}

void WorkloadForest::erase(const GroupKey& key) {
  const auto found = nodes_.find(key);
  if (found == nodes_.end()) return;
  Node& at = found->second;
  unlink(at);
  at.spec = nullptr;
  climb(&at);
  drop_if_idle(&at);
}

void WorkloadForest::count_member(const GroupKey& leaf, Membership membership,
                                  std::int32_t change) {
  CHECK(leaf.kind == GroupKind::PodGroup);
  Node& at = node(leaf);
  std::int32_t& count = membership == Membership::Waiting ? at.waiting
                        : membership == Membership::Gated ? at.gated
                                                          : at.present;
  count += change;
  CHECK_THAT(count >= 0, "{}/{} has {} members of a kind", leaf.name_space, leaf.name, count);
  climb(&at);
  drop_if_idle(&at);
}

void WorkloadForest::set_disagreement(const GroupKey& leaf, bool disagrees) {
  const auto at = nodes_.find(leaf);
  if (at == nodes_.end() || at->second.disagrees == disagrees) return;
  at->second.disagrees = disagrees;
  climb(&at->second);
}

const GroupSpec* WorkloadForest::find(const GroupKey& key) const {
  const Node* at = find_node(key);
  return at != nullptr ? at->spec.get() : nullptr;
}

// A cycle that is longer than any path may be is like any other path that is too long.
WorkloadForest::Path WorkloadForest::path_of(const Node* from) {
  Path path;
  for (const Node* at = from; at != nullptr && at->is_known(); at = at->parent) {
    path.last = at;
    if (std::ranges::find(path.nodes, at) != path.nodes.end()) {
      path.end = Path::End::Cycle;
      return path;
    }
    if (path.size == path.nodes.size()) {
      path.end = Path::End::Deep;
      return path;
    }
    path.nodes[path.size++] = at;
    if (at->parent == nullptr) {
      path.end = Path::End::Root;
      return path;
    }
    path.last = at->parent;
  }
  return path;
}

std::span<const WorkloadForest::Node* const> WorkloadForest::Path::cycle() const {
  if (end != End::Cycle) return {};
  const auto* first = std::ranges::find(nodes, last);
  return {first, nodes.begin() + size};
}

const WorkloadForest::Node* WorkloadForest::root_node(const Node* from) {
  const Path path = path_of(from);
  return path.end == Path::End::Root ? path.last : nullptr;
}

const GroupSpec* WorkloadForest::root_of(const GroupKey& key) const {
  const Node* root = root_node(find_node(key));
  return root == nullptr ? nullptr : root->spec.get();
}

std::string WorkloadForest::why_no_root(const GroupKey& key) const {
  const Path path = path_of(find_node(key));
  switch (path.end) {
    case Path::End::Cycle:
      return fmt::format("cycle detected in composite pod group hierarchy at \"{}\"",
                         path.last->key.name);
    case Path::End::Deep: return too_deep(key);
    default: break;
  }
  return words_for(path.last == nullptr ? key : path.last->key) + " does not exist";
}

std::optional<GroupKey> WorkloadForest::anchor_of(const GroupKey& key) const {
  const Path path = path_of(find_node(key));
  switch (path.end) {
    case Path::End::Root: return path.last->key;
    case Path::End::Deep: return key;
    case Path::End::Cycle: return (*std::ranges::min_element(path.cycle(), ByKey{}))->key;
    case Path::End::Missing: break;
  }
  return std::nullopt;
}

// The rules for the shape of a tree, in the order upstream checks them; the only place that has
// them. Each compares a group with its path to the root and with the root itself, so a change of
// one group can only touch the faults of groups at or below it (TreeFaults relies on that).
std::string WorkloadForest::layout_fault(const GroupKey& key) const {
  const Node* at = find_node(key);
  const Path up = path_of(at);
  if (up.end == Path::End::Deep) return too_deep(key);
  if (up.end != Path::End::Root) {
    const std::span<const Node* const> cycle = up.cycle();
    // Those that hang below a cycle are not to blame.
    if (std::ranges::find(cycle, at) == cycle.end()) return {};
    std::string path;
    auto first = std::ranges::min_element(cycle, ByKey{}) - cycle.begin();
    for (std::size_t i = 0; i <= cycle.size(); ++i)
      fmt::format_to(std::back_inserter(path), "{}\"{}\"", i == 0 ? "" : " -> ",
                     cycle[(static_cast<std::size_t>(first) + i) % cycle.size()]->key.name);
    return "cycle detected in composite pod group hierarchy: " + path;
  }
  const Node* root = up.last;
  if (up.size > kTreeDepthMax)
    return fmt::format(
        "exceeded maximum hierarchy depth at {}: it is at level {} below \"{}\", {} "
        "are allowed",
        words_for(key), up.size, root->key.name, kTreeDepthMax);
  if (at->spec->workload != root->spec->workload)
    return fmt::format(
        "all groups of a tree should belong to the same Workload, {} belongs to "
        "\"{}\" and its root \"{}\" to \"{}\"",
        words_for(key), at->spec->workload, root->key.name, root->spec->workload);
  if (at->spec->priority != root->spec->priority)
    return fmt::format(
        "all groups of a tree should have the same priority, {} has {} and its root "
        "\"{}\" has {}",
        words_for(key), at->spec->priority, root->key.name, root->spec->priority);
  if (class_of(*at->spec) != class_of(*root->spec))
    return fmt::format(
        "all groups of a tree should have the same priorityClassName, {} has \"{}\" and its root "
        "\"{}\" has \"{}\"",
        words_for(key), class_of(*at->spec), root->key.name, class_of(*root->spec));
  return {};
}

bool WorkloadForest::ready(const GroupKey& key) const {
  const Node* at = find_node(key);
  return at != nullptr && at->flags.ready;
}

bool WorkloadForest::runnable(const GroupKey& root) const {
  const Node* at = find_node(root);
  return at != nullptr && at->flags.runnable;
}

bool WorkloadForest::has_pending(const GroupKey& root) const {
  const Node* at = find_node(root);
  return at != nullptr && at->flags.pending;
}

bool WorkloadForest::loose(const GroupKey& key) const {
  const Node* at = find_node(key);
  const Node* root = root_node(at);
  if (root == nullptr || root->flags.needing) return false;
  for (; at->flags.ready; at = at->parent)
    if (at == root) return true;
  return false;
}

bool WorkloadForest::is_constrained(const GroupKey& key) const {
  const Node* at = find_node(key);
  const Node* root = root_node(at);
  if (root == nullptr) return false;
  for (; !at->spec->has_topology(); at = at->parent)
    if (at == root) return false;
  return true;
}

// Upstream's order of siblings. They are kept by key instead: creation times may change under the
// links, keys cannot.
void WorkloadForest::sort_as_siblings(std::vector<const Node*>& nodes) {
  std::ranges::sort(nodes, [](const Node* a, const Node* b) {
    return std::tie(a->spec->created, a->key.name, a->key.kind) <
           std::tie(b->spec->created, b->key.name, b->key.kind);
  });
}

std::vector<const WorkloadForest::Node*> WorkloadForest::children_in_order(const Node& node) {
  std::vector<const Node*> children(node.children.begin(), node.children.end());
  sort_as_siblings(children);
  return children;
}

std::vector<const WorkloadForest::Node*> WorkloadForest::children_to_try(const Node& node,
                                                                         std::size_t idle_max) {
  std::vector<const Node*> children(node.busy_children.begin(), node.busy_children.end());
  const std::size_t all = std::min(node.children.size(), children.size() + idle_max);
  for (auto at = node.children.begin(); children.size() < all; ++at)
    if ((*at)->flags.idle) children.push_back(*at);
  sort_as_siblings(children);
  return children;
}

void WorkloadForest::each_leaf(const GroupKey& key,
                               const std::function<void(const GroupKey&)>& call) const {
  std::set<const Node*> seen;  // a cycle must not show a leaf twice
  const auto visit = [&](const auto& self, const Node* at, std::size_t levels) -> void {
    if (at == nullptr || !seen.insert(at).second) return;
    if (at->key.kind == GroupKind::PodGroup) return call(at->key);
    if (levels == 0) return;
    for (const Node* child : children_in_order(*at)) self(self, child, levels - 1);
  };
  visit(visit, find_node(key), kTreeDepthMax + 1);
}

void WorkloadForest::each_group(const GroupKey& key,
                                const std::function<void(const GroupSpec&)>& call) const {
  std::set<const Node*> seen{find_node(key)};  // a cycle must not show a group twice
  std::vector<const Node*> level(seen.begin(), seen.end());
  for (std::size_t depth = 0; depth <= kTreeDepthMax + 1; ++depth) {
    std::vector<const Node*> below;
    for (const Node* at : level) {
      if (at == nullptr) continue;
      if (at->is_known()) call(*at->spec);
      for (const Node* child : at->children)
        if (seen.insert(child).second) below.push_back(child);
    }
    level = std::move(below);
  }
}

std::vector<GroupKey> WorkloadForest::children(const GroupKey& composite) const {
  std::vector<GroupKey> keys;
  if (const Node* at = find_node(composite))
    for (const Node* child : children_in_order(*at)) keys.push_back(child->key);
  return keys;
}

// What is not ready holds back all below it: its leaves come without pods, but they come, since
// running members below still count and pin.
Group WorkloadForest::build(const Node& node, Build& build, bool held) {
  Group group{{*node.spec}, {}, {}, {}};
  held = held || !node.flags.ready;
  if (node.key.kind == GroupKind::PodGroup) {
    if (!held) build.fill(node.key, group.pods);
    return group;
  }
  const std::vector<const Node*> children = children_to_try(node, build.idle_left);
  build.idle_left -= children.size() - node.busy_children.size();
  for (const Node* child : children)
    group.children.push_back(WorkloadForest::build(*child, build, held));
  return group;
}

Group WorkloadForest::build(const GroupKey& root, const Fill& fill) const {
  const Node* at = find_node(root);
  // Nothing below a root can be part of a cycle: every node has one parent, and a root has none.
  CHECK(at != nullptr && at->is_known() && at->parent == nullptr);
  Build build{.fill = fill};
  return WorkloadForest::build(*at, build, false);
}

}  // namespace muster::scheduler
