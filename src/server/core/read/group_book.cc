#include "server/core/read/group_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "api/views/group_view.h"
#include "api/views/pod_view.h"

namespace muster::server {
namespace {

std::string path(const api::Object& object, std::string_view group) {
  return object.meta().name_space + "/" + std::string(group);
}

// What a level adds for the one above it, which is asked about one level more. False if that is
// nothing: what is at the last level is out of sight there.
template <typename Sums>
bool raise(Sums& sums) {
  bool any = false;
  for (std::size_t level = sums.size() - 1; level > 0; --level) {
    sums[level] = sums[level - 1];
    any |= sums[level] != 0;
  }
  sums[0] = 0;
  return any;
}

}  // namespace

bool GroupBook::ByKey::operator()(const Named* a, const Named* b) const {
  return a->first < b->first;
}

bool GroupBook::Group::is_idle() const {
  return !exists && members == 0 && pods.unfinished[0] == 0 && children.empty();
}

GroupBook::Key GroupBook::key_of(const api::Object& group) {
  const bool is_leaf = &group.kind() == &api::kinds::pod_group();
  return {is_leaf ? 'P' : 'C', path(group, group.meta().name)};
}

const GroupBook::Named* GroupBook::find(const Key& key) const {
  const auto found = groups_.find(key);
  return found == groups_.end() ? nullptr : &*found;
}

void GroupBook::drop_if_idle(const Key& key) {
  const auto found = groups_.find(key);
  if (found != groups_.end() && found->second.is_idle()) groups_.erase(found);
}

// Whether the group has what it needs, as 0 or 1: what is out of sight does not count.
GroupBook::ByLevels GroupBook::met(const Named& named) {
  const Group& group = named.second;
  ByLevels out{};
  for (std::size_t level = 0; level < kLevels; ++level) {
    const std::int64_t children = level == 0 ? 0 : group.met_children[level - 1];
    out[level] = (named.first.first == 'P' ? group.present : children) >= group.minimum ? 1 : 0;
  }
  return out;
}

void GroupBook::add(const api::Object& object, std::int32_t sign) {
  if (&object.kind() == &api::kinds::pod())
    add_pod(object, sign);
  else
    add_group(object, sign);
}

void GroupBook::add_pod(const api::Object& object, std::int32_t sign) {
  const auto& pod = object.view<api::PodView>();
  if (pod.scheduling_group.empty()) return;
  const Key key{'P', path(object, pod.scheduling_group)};
  Named& named = at(key);
  Group& group = named.second;
  const ByLevels before = met(named);
  const bool succeeded = pod.phase == "Succeeded";
  const bool is_lost = pod.phase == "Failed" || (!succeeded && object.meta().deletion_time);
  const bool runs = !is_lost && !pod.node_name.empty() && !pod.is_terminal();
  Pods change;
  if (!pod.is_terminal()) change.unfinished.fill(sign);
  if (runs) change.running.fill(sign);
  if (!is_lost) {
    group.members += sign;
    if (runs || succeeded) group.present += sign;
  }
  if (runs) {
    std::int32_t& here = group.nodes[pod.node_name];
    here += sign;
    if (here == 0) group.nodes.erase(pod.node_name);
  }
  add_pods(&named, change);
  pass_up(&named, before);
  drop_if_idle(key);
}

void GroupBook::add_group(const api::Object& object, std::int32_t sign) {
  const auto& view = object.view<api::GroupView>();
  const Key key = key_of(object);
  Named& named = at(key);
  detach(named);
  const ByLevels before = met(named);
  named.second.exists = sign > 0;
  named.second.minimum = sign > 0 ? view.minimum : 1;
  pass_up(&named, before);
  if (sign > 0 && !view.parent.empty()) attach(named, at({'C', path(object, view.parent)}));
  drop_if_idle(key);
}

void GroupBook::attach(Named& child, Named& parent) {
  child.second.parent = &parent;
  parent.second.children.insert(&child);
  if (child.second.pods.running[kLevels - 2] != 0) parent.second.placed.insert(&child);
  const ByLevels before = met(parent);
  const ByLevels child_met = met(child);
  for (std::size_t level = 0; level < kLevels; ++level)
    parent.second.met_children[level] += child_met[level];
  pass_up(&parent, before);
  Pods change = child.second.pods;
  const bool unfinished = raise(change.unfinished);
  const bool running = raise(change.running);
  if (unfinished || running) add_pods(&parent, change);
}

void GroupBook::detach(Named& child) {
  if (child.second.parent == nullptr) return;
  Named& parent = *std::exchange(child.second.parent, nullptr);
  parent.second.children.erase(&child);
  parent.second.placed.erase(&child);
  const ByLevels before = met(parent);
  const ByLevels child_met = met(child);
  for (std::size_t level = 0; level < kLevels; ++level)
    parent.second.met_children[level] -= child_met[level];
  pass_up(&parent, before);
  Pods change = child.second.pods;
  const bool unfinished = raise(change.unfinished);
  const bool running = raise(change.running);
  for (ByLevels* sums : {&change.unfinished, &change.running})
    for (std::int64_t& sum : *sums) sum = -sum;
  if (unfinished || running) add_pods(&parent, change);
  const Key key = parent.first;
  if (&parent != &child) drop_if_idle(key);
}

// To a group and those above it that see it.
void GroupBook::add_pods(Named* group, Pods change) {
  while (true) {
    ++looks_;
    Pods& pods = group->second.pods;
    for (std::size_t level = 0; level < kLevels; ++level) {
      pods.unfinished[level] += change.unfinished[level];
      pods.running[level] += change.running[level];
    }
    Named* const parent = group->second.parent;
    if (parent == nullptr) return;
    if (pods.running[kLevels - 2] != 0)
      parent->second.placed.insert(group);
    else
      parent->second.placed.erase(group);
    const bool unfinished = raise(change.unfinished);
    const bool running = raise(change.running);
    if (!unfinished && !running) return;
    group = parent;
  }
}

// Tells those above a group whether it has what it needs, if that is not as it was before. What
// changes for a group asked about some levels changes for its parent at one level more, so this
// ends, on circles as well.
void GroupBook::pass_up(Named* group, ByLevels before) {
  while (true) {
    ++looks_;
    const ByLevels after = met(*group);
    Named* const parent = group->second.parent;
    if (after == before || parent == nullptr) return;
    const ByLevels before_above = met(*parent);
    for (std::size_t level = 0; level < kLevels; ++level)
      parent->second.met_children[level] += after[level] - before[level];
    group = parent;
    before = before_above;
  }
}

void GroupBook::collect_nodes(const Group& group, std::size_t level, std::size_t& looks,
                              std::set<std::string>& nodes) const {
  ++looks_;
  for (const auto& [node, pods] : group.nodes) {
    if (nodes.size() == kNodesMax) return;
    nodes.insert(node);
  }
  if (level == 0) return;
  for (const Named* child : group.placed) {
    if (nodes.size() == kNodesMax || looks == 0) return;
    --looks;
    collect_nodes(child->second, level - 1, looks, nodes);
  }
}

std::string GroupBook::domains_of(const Group& group, const std::string& topology_key,
                                  const store::Store& nodes) const {
  if (topology_key.empty()) return {};
  std::size_t looks = kLooksMax;
  std::set<std::string> names;
  collect_nodes(group, kLevels - 1, looks, names);
  std::set<std::string> domains;
  for (const std::string& name : names)
    if (const api::ObjectPtr node = nodes.get(store::make_key(api::kinds::node(), "", name)))
      if (const std::string* value = api::lookup(node->meta().labels, topology_key))
        domains.insert(*value);
  return fmt::format("{}", fmt::join(domains, ","));
}

std::string GroupBook::held_by(const Named& named) {
  const auto count_of = [](std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  const Group& group = named.second;
  const std::int64_t pods = group.pods.unfinished[kLevels - 1];
  if (named.first.first == 'P') return pods == 0 ? std::string() : count_of(pods, "pod");
  if (group.children.empty()) return {};
  constexpr std::size_t kNamesMax = 3;
  std::vector<std::string_view> names;
  for (const Named* child : group.children) {
    if (names.size() == kNamesMax) break;
    const std::string_view child_path = child->first.second;
    names.push_back(child_path.substr(child_path.find('/') + 1));
  }
  const std::size_t more = group.children.size() - names.size();
  return fmt::format("{} {}{}, {}", group.children.size() == 1 ? "group" : "groups",
                     fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                     count_of(pods, "pod"));
}

api::GroupCounts GroupBook::count(const api::Object& object, const store::Store& nodes) const {
  ++looks_;
  const Named* const named = find(key_of(object));
  if (named == nullptr) return {};
  const Group& group = named->second;
  api::GroupCounts counts;
  if (named->first.first == 'P') {
    counts.members = group.members;
    counts.scheduled = group.present;
  } else {
    counts.members = std::ssize(group.children);
    counts.scheduled = group.met_children[kLevels - 1];
  }
  counts.domains = domains_of(group, object.view<api::GroupView>().topology_key, nodes);
  if (object.meta().deletion_time) counts.held_by = held_by(*named);
  return counts;
}

}  // namespace muster::server
