#include "scheduler/placement/group_tree.h"

#include <algorithm>

#include "api/views/pod_view.h"

namespace muster::scheduler {

// Pods of the tree may ask about each other: once all that they ask is known, their classes are
// looked up again, since some may have been split.
GroupTree::GroupTree(const Group& root, Cluster& cluster, Standings& cache) {
  for (std::uint64_t known = 0; known != cluster.term_epoch() + 1;) {
    known = cluster.term_epoch() + 1;
    items.clear();
    held_on_.clear();
    members.clear();
    standings.clear();
    add(root, 0, cluster, cache);
  }
  sum_below();
  topology = &Topology::of(cluster, keys);
  pin(cluster);
}

std::uint32_t GroupTree::add(const Group& group, std::uint32_t parent, Cluster& cluster,
                             Standings& cache) {
  const auto id = static_cast<std::uint32_t>(items.size());
  items.emplace_back();
  held_on_.emplace_back();
  Item item;
  item.group = &group;
  item.parent = parent;
  item.minimum = std::max(1, group.minimum);
  if (!group.topology_key.empty()) item.key = key_index(group.topology_key);
  if (!group.preferred.key.empty() && group.preferred.key != group.topology_key) {
    item.preferred = key_index(group.preferred.key);
    item.insists = group.insists_until.has_value();
  }
  if (group.key.kind == GroupKind::PodGroup) {
    if (const GroupMembers* known = cluster.members(group.key.name_space, group.key.name)) {
      item.held = known->running_total + known->succeeded;
      for (const auto& [node, count] : known->running) held_on_[id].push_back(node);
    }
    // Pods of one template come in a row: the last one's class is the best guess.
    const api::Object* last = nullptr;
    std::uint32_t last_class = 0;
    for (const PendingPod& pending : group.pods) {
      if (pending.pod->meta().deletion_time) continue;
      // Claims of one template have different names; only the book knows what they ask for.
      const bool has_claims = !pending.pod->view<api::PodView>().claims.empty();
      if (last == nullptr || has_claims || !cluster.are_alike(*last, *pending.pod)) {
        Standing* standing = &cache.of_pod(pending.pod);
        const auto known = std::ranges::find(standings, standing);
        last_class = static_cast<std::uint32_t>(known - standings.begin());
        if (known == standings.end()) standings.push_back(standing);
        last = has_claims ? nullptr : pending.pod.get();
      }
      item.members.push_back(static_cast<std::uint32_t>(members.size()));
      members.push_back({&pending, id, last_class});
    }
  }
  for (const Group& child : group.children) item.children.push_back(add(child, id, cluster, cache));
  items[id] = std::move(item);
  return id;
}

std::size_t GroupTree::key_index(const std::string& key) {
  const auto known = std::ranges::find(keys, key);
  const auto index = static_cast<std::size_t>(known - keys.begin());
  if (known == keys.end()) keys.push_back(key);
  return index;
}

void GroupTree::sum_below() {
  for (std::size_t id = items.size(); id-- > 0;) {
    Item& item = items[id];
    item.classes_below.resize(standings.size(), 0);
    item.queued_below += static_cast<std::int64_t>(item.members.size());
    item.held_below += item.held;
    for (const std::uint32_t member : item.members)
      ++item.classes_below[members[member].class_index];
    if (id == 0) break;
    Item& parent = items[item.parent];
    parent.classes_below.resize(standings.size(), 0);
    parent.queued_below += item.queued_below;
    parent.held_below += item.held_below;
    for (std::size_t s = 0; s < standings.size(); ++s)
      parent.classes_below[s] += item.classes_below[s];
  }
}

void GroupTree::pin(const Cluster& cluster) {
  for (std::size_t id = 0; id < items.size(); ++id) {
    for (const NodeId node : held_on_[id])
      for (std::size_t up = id;; up = items[up].parent) {
        pin(items[up], cluster, node);
        if (up == 0) break;
      }
  }
  for (Item& item : items)
    for (std::vector<std::string>* names : {&item.pinned_to, &item.prefers_at}) {
      std::ranges::sort(*names);
      const auto repeated = std::ranges::unique(*names);
      names->erase(repeated.begin(), repeated.end());
    }
}

// A node that is gone has no labels any more.
void GroupTree::pin(Item& item, const Cluster& cluster, NodeId node) const {
  const auto value = [&](std::size_t key) {
    return cluster.nodes().contains(node) ? topology->value_of(node, key) : LabelValueId::Absent;
  };
  if (item.key) {
    if (const LabelValueId here = value(*item.key); here == LabelValueId::Absent)
      item.has_unlabelled = true;
    else
      item.pinned_to.push_back(topology->name_of(*item.key, here));
  }
  if (item.preferred)
    if (const LabelValueId here = value(*item.preferred); here != LabelValueId::Absent)
      item.prefers_at.push_back(topology->name_of(*item.preferred, here));
}

}  // namespace muster::scheduler
