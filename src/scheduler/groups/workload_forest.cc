#include "scheduler/groups/workload_forest.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

namespace {

std::string_view kind_words(GroupKind kind) {
  return kind == GroupKind::PodGroup ? "pod group" : "composite pod group";
}

std::string words_for(const GroupKey& key) {
  return fmt::format("{} \"{}\"", kind_words(key.kind), key.name);
}

}  // namespace

bool GroupSpec::schedules_like(const GroupSpec& other) const {
  return key == other.key && parent == other.parent && gang == other.gang &&
         minimum == other.minimum && topology_key == other.topology_key &&
         priority == other.priority && disrupted_together == other.disrupted_together &&
         declared_size == other.declared_size && created == other.created &&
         never_preempts == other.never_preempts && workload == other.workload &&
         template_name == other.template_name;
}

WorkloadForest::Node& WorkloadForest::node(const GroupKey& key) {
  const auto [at, is_new] = nodes_.try_emplace(key);
  if (is_new) at->second.spec.key = key;
  return at->second;
}

const WorkloadForest::Node* WorkloadForest::look(const GroupKey& key) const {
  const auto at = nodes_.find(key);
  return at == nodes_.end() ? nullptr : &at->second;
}

WorkloadForest::Flags WorkloadForest::judge(const Node& node) {
  if (node.spec.key.kind == GroupKind::CompositePodGroup) {
    const bool ready = node.known && node.in_children.ready >= node.spec.minimum;
    return {.ready = ready,
            .runnable = ready && node.in_children.runnable > 0,
            .pending = node.in_children.pending > 0};
  }
  const bool held = node.gated > 0 && !node.spec.topology_key.empty();
  const bool ready = node.known && !held && node.waiting + node.present >= node.spec.minimum;
  return {.ready = ready,
          .runnable = ready && node.waiting > 0,
          .pending = node.waiting + node.gated > 0};
}

void WorkloadForest::add_to_parent(const Node& node, std::int32_t sign) {
  if (node.parent == nullptr) return;
  Counts& counts = node.parent->in_children;
  if (node.flags.ready) counts.ready += sign;
  if (node.flags.runnable) counts.runnable += sign;
  if (node.flags.pending) counts.pending += sign;
}

void WorkloadForest::settle(Node* node) {
  for (; node != nullptr; node = node->parent) {
    const Flags flags = judge(*node);
    if (flags == node->flags) return;
    add_to_parent(*node, -1);
    node->flags = flags;
    add_to_parent(*node, +1);
  }
}

void WorkloadForest::unlink(Node& node) {
  Node* parent = node.parent;
  if (parent == nullptr) return;
  add_to_parent(node, -1);
  parent->children.erase(&node);
  node.parent = nullptr;
  settle(parent);
  drop_if_idle(parent);
}

void WorkloadForest::drop_if_idle(Node* node) {
  if (node->known || !node->children.empty()) return;
  if (node->waiting + node->gated + node->present > 0) return;
  CHECK(node->parent == nullptr);
  nodes_.erase(GroupKey(node->spec.key));
}

void WorkloadForest::set(GroupSpec group) {
  CHECK(group.minimum >= 0);
  Node& at = node(group.key);
  const bool moves = at.known && at.spec.parent != group.parent;
  if (moves) unlink(at);
  at.known = true;
  at.spec = std::move(group);
  if (at.parent == nullptr && !at.spec.parent.empty()) {
    Node& parent = node({GroupKind::CompositePodGroup, at.spec.key.name_space, at.spec.parent});
    at.parent = &parent;
    parent.children.insert(&at);
    add_to_parent(at, +1);
    settle(&parent);
  }
  settle(&at);
}

void WorkloadForest::erase(const GroupKey& key) {
  const auto found = nodes_.find(key);
  if (found == nodes_.end()) return;
  Node& at = found->second;
  unlink(at);
  at.known = false;
  GroupSpec unknown;
  unknown.key = key;
  at.spec = std::move(unknown);
  settle(&at);
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
  settle(&at);
  drop_if_idle(&at);
}

const GroupSpec* WorkloadForest::find(const GroupKey& key) const {
  const Node* at = look(key);
  return at != nullptr && at->known ? &at->spec : nullptr;
}

const WorkloadForest::Node* WorkloadForest::root_node(const Node* from) const {
  // `trail` follows at half the speed and is met again on a cycle.
  const Node* trail = from;
  bool trail_moves = false;
  for (const Node* at = from; at != nullptr && at->known;) {
    if (at->parent == nullptr) return at;
    at = at->parent;
    if (at == trail) return nullptr;
    if (trail_moves) trail = trail->parent;
    trail_moves = !trail_moves;
  }
  return nullptr;
}

const GroupSpec* WorkloadForest::root_of(const GroupKey& key) const {
  const Node* root = root_node(look(key));
  return root == nullptr ? nullptr : &root->spec;
}

std::string WorkloadForest::why_no_root(const GroupKey& key) const {
  std::set<const Node*> seen;
  const Node* at = look(key);
  if (at == nullptr) return fmt::format("{} \"{}\" does not exist", kind_words(key.kind), key.name);
  for (; at->known; at = at->parent) {
    CHECK(at->parent != nullptr);
    if (!seen.insert(at).second)
      return fmt::format("cycle detected in composite pod group hierarchy at \"{}\"",
                         at->spec.key.name);
  }
  return fmt::format("{} \"{}\" does not exist", kind_words(at->spec.key.kind), at->spec.key.name);
}

std::vector<const WorkloadForest::Node*> WorkloadForest::cycle_above(const Node* from) {
  std::set<const Node*> seen;
  const Node* at = from;
  while (at != nullptr && at->known && seen.insert(at).second) at = at->parent;
  if (at == nullptr || !at->known) return {};
  std::vector<const Node*> cycle;
  const Node* const first = at;
  do {
    cycle.push_back(at);
    at = at->parent;
  } while (at != first);
  return cycle;
}

std::optional<GroupKey> WorkloadForest::anchor_of(const GroupKey& key) const {
  const Node* at = look(key);
  if (const Node* root = root_node(at)) return root->spec.key;
  const std::vector<const Node*> cycle = cycle_above(at);
  if (cycle.empty()) return std::nullopt;
  return (*std::ranges::min_element(cycle, ByKey{}))->spec.key;
}

std::string WorkloadForest::layout_fault(const GroupKey& key) const {
  const Node* at = look(key);
  const Node* root = root_node(at);
  if (root == nullptr) {
    const std::vector<const Node*> cycle = cycle_above(at);
    // Those that hang below a cycle are not to blame.
    if (std::ranges::find(cycle, at) == cycle.end()) return {};
    std::string path;
    auto first = std::ranges::min_element(cycle, ByKey{}) - cycle.begin();
    for (std::size_t i = 0; i <= cycle.size(); ++i)
      fmt::format_to(std::back_inserter(path), "{}\"{}\"", i == 0 ? "" : " -> ",
                     cycle[(static_cast<std::size_t>(first) + i) % cycle.size()]->spec.key.name);
    return "cycle detected in composite pod group hierarchy: " + path;
  }
  std::size_t level = 1;
  for (const Node* up = at; up != root; up = up->parent) ++level;
  if (level > kTreeDepthMax)
    return fmt::format(
        "exceeded maximum hierarchy depth at {}: it is at level {} below \"{}\", {} "
        "are allowed",
        words_for(key), level, root->spec.key.name, kTreeDepthMax);
  if (at->spec.workload != root->spec.workload)
    return fmt::format(
        "all groups of a tree should belong to the same Workload, {} belongs to "
        "\"{}\" and its root \"{}\" to \"{}\"",
        words_for(key), at->spec.workload, root->spec.key.name, root->spec.workload);
  if (at->spec.priority != root->spec.priority)
    return fmt::format(
        "all groups of a tree should have the same priority, {} has {} and its root "
        "\"{}\" has {}",
        words_for(key), at->spec.priority, root->spec.key.name, root->spec.priority);
  return {};
}

bool WorkloadForest::ready(const GroupKey& key) const {
  const Node* at = look(key);
  return at != nullptr && at->flags.ready;
}

bool WorkloadForest::runnable(const GroupKey& root) const {
  const Node* at = look(root);
  return at != nullptr && at->flags.runnable;
}

bool WorkloadForest::has_pending(const GroupKey& root) const {
  const Node* at = look(root);
  return at != nullptr && at->flags.pending;
}

std::vector<const WorkloadForest::Node*> WorkloadForest::children_in_order(const Node& node) {
  std::vector<const Node*> children(node.children.begin(), node.children.end());
  std::ranges::sort(children, [](const Node* a, const Node* b) {
    return std::tie(a->spec.created, a->spec.key.name, a->spec.key.kind) <
           std::tie(b->spec.created, b->spec.key.name, b->spec.key.kind);
  });
  return children;
}

void WorkloadForest::each_leaf(const GroupKey& key,
                               const std::function<void(const GroupKey&)>& call) const {
  std::set<const Node*> seen;  // a cycle must not keep us for ever
  const auto visit = [&](const auto& self, const Node* at) -> void {
    if (at == nullptr || !seen.insert(at).second) return;
    if (at->spec.key.kind == GroupKind::PodGroup) return call(at->spec.key);
    for (const Node* child : children_in_order(*at)) self(self, child);
  };
  visit(visit, look(key));
}

void WorkloadForest::each_group(const GroupKey& key,
                                const std::function<void(const GroupSpec&)>& call) const {
  std::set<const Node*> seen;  // a cycle must not keep us for ever
  std::vector<const Node*> left{look(key)};
  while (!left.empty()) {
    const Node* at = left.back();
    left.pop_back();
    if (at == nullptr || !seen.insert(at).second) continue;
    if (at->known) call(at->spec);
    left.insert(left.end(), at->children.begin(), at->children.end());
  }
}

Group WorkloadForest::build(const Node& node, const Fill& fill, bool held) {
  const GroupSpec& spec = node.spec;
  Group group{.key = spec.key,
              .object = spec.object,
              .gang = spec.gang,
              .minimum = spec.minimum,
              .topology_key = spec.topology_key,
              .priority = spec.priority,
              .disrupted_together = spec.disrupted_together,
              .created = spec.created,
              .pods = {},
              .children = {},
              .declared_size = spec.declared_size,
              .never_preempts = spec.never_preempts,
              .traits = {}};
  held = held || !node.flags.ready;
  if (spec.key.kind == GroupKind::PodGroup) {
    if (!held) fill(spec.key, group.pods);
    return group;
  }
  for (const Node* child : children_in_order(node))
    group.children.push_back(build(*child, fill, held));
  return group;
}

Group WorkloadForest::build(const GroupKey& root, const Fill& fill) const {
  const Node* at = look(root);
  // Nothing below a root can be part of a cycle: every node has one parent, and a root has none.
  CHECK(at != nullptr && at->known && at->parent == nullptr);
  return build(*at, fill, false);
}

}  // namespace muster::scheduler
