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
  if (!group.topology_key.empty()) {
    const auto known = std::ranges::find(keys, group.topology_key);
    item.key = static_cast<std::size_t>(known - keys.begin());
    if (known == keys.end()) keys.push_back(group.topology_key);
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
        Item& item = items[up];
        if (item.key) {
          // A node that is gone has no labels any more.
          const LabelValueId value = cluster.nodes().contains(node)
                                         ? topology->value_of(node, *item.key)
                                         : LabelValueId::Absent;
          if (value == LabelValueId::Absent)
            item.has_unlabelled = true;
          else
            item.pinned_to.push_back(topology->name_of(*item.key, value));
        }
        if (up == 0) break;
      }
  }
  for (Item& item : items) {
    std::ranges::sort(item.pinned_to);
    const auto repeated = std::ranges::unique(item.pinned_to);
    item.pinned_to.erase(repeated.begin(), repeated.end());
  }
}

}  // namespace muster::scheduler
