#include "scheduler/placement/group_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/pod_view.h"

namespace muster::scheduler {

// Pods of the tree may ask about each other: once all that they ask is known, their classes are
// looked up again, since some may have been split.
GroupTree::GroupTree(const Group& root, Cluster& cluster, Standings& cache)
    : profile(&cache.profile()) {
  for (std::uint64_t known = 0; known != cluster.term_epoch() + 1;) {
    known = cluster.term_epoch() + 1;
    items.clear();
    held_on_.clear();
    members.clear();
    standings.clear();
    add(root, 0, cluster, cache);
  }
  sum_below();
  topology = &Topology::of(cluster, keys, generated_);
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
  item.key = required_key(group);
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
  set_minimum(item);
  items[id] = std::move(item);
  return id;
}

// Only if plugins have something to say beside the topology key is there anything to generate.
std::optional<std::size_t> GroupTree::required_key(const Group& group) {
  GeneratedKey generated;
  std::string text;
  bool is_label = true;
  if (!group.placements.empty())
    for (const auto& entry : profile->placement_generators()) {
      std::string placements = entry.plugin->placements_of(group);
      if (placements.empty()) continue;
      is_label &= entry.plugin->is_label();
      text += fmt::format("{}={}; ", entry.name, placements);
      generated.parts.push_back({entry.plugin, std::move(placements)});
    }
  if (is_label && !group.topology_key.empty()) return key_index(group.topology_key);
  if (is_label) return std::nullopt;
  text += kGenerated;
  const std::size_t known = keys.size();
  const std::size_t key = generated.key = key_index(text);
  if (key == known) generated_.push_back(std::move(generated));
  return key;
}

// The least number that is enough for all plugins. That more is never worse lets halving find it.
void GroupTree::set_minimum(Item& item) const {
  const Group& group = *item.group;
  item.minimum = std::max(1, group.minimum);
  const auto all =
      static_cast<std::int64_t>(item.is_leaf() ? item.members.size() : item.children.size()) +
      item.held;
  for (const auto& entry : profile->placement_feasibles()) {
    const auto is_enough = [&](std::int64_t scheduled) {
      const PlacementProgress progress{.scheduled = scheduled,
                                       .unschedulable = std::max<std::int64_t>(0, all - scheduled)};
      return entry.plugin->status(group, progress) == PlacementStatus::Success;
    };
    if (is_enough(item.minimum)) continue;
    std::int64_t least = item.minimum + 1;
    for (std::int64_t most = std::max(all, item.minimum) + 1; least < most;) {
      const std::int64_t middle = least + (most - least) / 2;
      if (is_enough(middle))
        most = middle;
      else
        least = middle + 1;
    }
    item.minimum = least;  // one more than there are if nothing is enough
    item.demanding = entry.plugin.get();
  }
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
  if (item.key && topology->is_generated(*item.key)) {
    std::vector<std::string> here;
    if (cluster.nodes().contains(node)) here = topology->placements_of(node, *item.key);
    if (item.is_shared)
      std::erase_if(item.pinned_to, [&here](const std::string& name) {
        return !std::ranges::binary_search(here, name);
      });
    else
      item.pinned_to = std::move(here);
    item.is_shared = true;
    item.has_unlabelled = item.pinned_to.empty();
  } else if (item.key) {
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
