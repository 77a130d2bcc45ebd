#include "server/core/read/group_tally.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/views/group_view.h"
#include "api/views/pod_view.h"

namespace muster::server {
namespace {

std::string path(const api::Object& object, std::string_view group) {
  return object.meta().name_space + "/" + std::string(group);
}

// What groups are counted from.
const std::array<const api::Kind*, 3>& counted_kinds() {
  static const std::array kKinds{&api::kinds::pod(), &api::kinds::pod_group(),
                                 &api::kinds::composite_pod_group()};
  return kKinds;
}

}  // namespace

GroupTally::GroupTally(store::Store& store) : store_(store) {
  store.listen([this](std::span<const store::Change> changes) { hear(changes); });
}

// On the thread that commits: puts aside what has changed, and waits for no question.
void GroupTally::hear(std::span<const store::Change> changes) const {
  const std::lock_guard lock(aside_mutex_);
  if (!listening_) return;
  for (const store::Change& change : changes) {
    if (std::ranges::find(counted_kinds(), &change.object->kind()) == counted_kinds().end())
      continue;
    const bool gone = change.type == store::Change::Type::Deleted;
    aside_.push_back({change.previous, gone ? nullptr : change.object, change.revision});
    // All that is current is held by the store anyhow.
    if (change.previous) aside_bytes_ += change.previous->memory();
  }
  if (aside_.size() <= kAsideMax && aside_bytes_ <= kAsideBytesMax) return;
  aside_ = {};
  aside_bytes_ = 0;
  listening_ = false;
}

// Called with mutex_ held. Counting takes long if there is much to count: what changes meanwhile is
// put aside like all else.
void GroupTally::catch_up() const {
  if (const std::optional<std::vector<Aside>> changes = take_aside())
    for (const Aside& change : *changes) add_change(change);
  else
    count_from_start();
}

// What was put aside since the last question; nullopt if some of it was dropped, or if nobody has
// listened yet. From now on somebody listens.
std::optional<std::vector<GroupTally::Aside>> GroupTally::take_aside() const {
  const std::lock_guard lock(aside_mutex_);
  if (!std::exchange(listening_, true)) return std::nullopt;
  aside_bytes_ = 0;
  return std::exchange(aside_, {});
}

void GroupTally::count_from_start() const {
  if (const auto call = std::exchange(before_listing_, nullptr)) call();
  groups_.clear();
  for (const api::Kind* kind : counted_kinds()) {
    const store::Store::Listing listing = store_.list(kind->store_prefix + "/");
    for (const api::ObjectPtr& object : listing.objects) add(*object, +1);
    counted_up_to_[kind] = listing.revision;
  }
}

// What was put aside before its kind was listed is in the list already.
void GroupTally::add_change(const Aside& change) const {
  const api::Object& newest = change.after == nullptr ? *change.before : *change.after;
  if (change.revision <= counted_up_to_[&newest.kind()]) return;
  if (change.before != nullptr) add(*change.before, -1);
  if (change.after != nullptr) add(*change.after, +1);
}

void GroupTally::add(const api::Object& object, std::int32_t sign) const {
  if (&object.kind() == &api::kinds::pod())
    add_pod(object, sign);
  else
    add_group(object, sign);
}

void GroupTally::add_pod(const api::Object& object, std::int32_t sign) const {
  const auto& pod = object.view<api::PodView>();
  if (pod.scheduling_group.empty()) return;
  const Key key{'P', path(object, pod.scheduling_group)};
  Group& group = groups_[key];
  const bool succeeded = pod.phase == "Succeeded";
  const bool is_lost = pod.phase == "Failed" || (!succeeded && object.meta().deletion_time);
  const bool runs = !pod.node_name.empty() && !pod.is_terminal();
  if (!pod.is_terminal()) group.unfinished += sign;
  if (!is_lost) {
    group.members += sign;
    if (runs || succeeded) group.present += sign;
    if (runs) {
      std::int32_t& here = group.nodes[pod.node_name];
      here += sign;
      if (here == 0) group.nodes.erase(pod.node_name);
    }
  }
  drop_if_idle(key);
}

void GroupTally::add_group(const api::Object& object, std::int32_t sign) const {
  const auto& view = object.view<api::GroupView>();
  const char kind = &object.kind() == &api::kinds::pod_group() ? 'P' : 'C';
  const Key key{kind, path(object, object.meta().name)};
  Group& group = groups_[key];
  group.exists = sign > 0;
  group.minimum = sign > 0 ? view.minimum : 1;
  drop_if_idle(key);
  if (view.parent.empty()) return;
  const Key parent{'C', path(object, view.parent)};
  std::set<Key>& children = groups_[parent].children;
  if (sign > 0)
    children.insert(key);
  else
    children.erase(key);
  drop_if_idle(parent);
}

void GroupTally::drop_if_idle(const Key& key) const {
  const auto at = groups_.find(key);
  if (at != groups_.end() && at->second.is_idle()) groups_.erase(at);
}

const GroupTally::Group* GroupTally::find(const Key& key) const {
  const auto at = groups_.find(key);
  return at == groups_.end() ? nullptr : &at->second;
}

// What is deeper than any valid tree, or beyond what may be looked at, does not count.
bool GroupTally::is_met(const Key& key, Look& look) const {
  const Group* group = find(key);
  if (group == nullptr || look.levels == 0 || --look.groups < 0) return false;
  if (key.first == 'P') return group->present >= group->minimum;
  std::int64_t met = 0;
  --look.levels;
  for (const Key& child : group->children) met += is_met(child, look) ? 1 : 0;
  ++look.levels;
  return met >= group->minimum;
}

std::int64_t GroupTally::unfinished_below(const Key& key, Look& look) const {
  const Group* group = find(key);
  if (group == nullptr || look.levels == 0 || --look.groups < 0) return 0;
  std::int64_t sum = group->unfinished;
  --look.levels;
  for (const Key& child : group->children) sum += unfinished_below(child, look);
  ++look.levels;
  return sum;
}

void GroupTally::collect_nodes(const Key& key, Look& look, std::set<std::string>& nodes) const {
  const Group* group = find(key);
  if (group == nullptr || look.levels == 0 || --look.groups < 0) return;
  for (const auto& [node, pods] : group->nodes) {
    if (nodes.size() == kNodesMax) return;
    nodes.insert(node);
  }
  --look.levels;
  for (const Key& child : group->children) collect_nodes(child, look, nodes);
  ++look.levels;
}

std::string GroupTally::domains_of(const Key& key, const std::string& topology_key) const {
  if (topology_key.empty()) return {};
  Look look;
  std::set<std::string> nodes;
  collect_nodes(key, look, nodes);
  std::set<std::string> domains;
  for (const std::string& name : nodes)
    if (const api::ObjectPtr node = store_.get(store::make_key(api::kinds::node(), "", name)))
      if (const std::string* value = api::lookup(node->meta().labels, topology_key))
        domains.insert(*value);
  return fmt::format("{}", fmt::join(domains, ","));
}

std::string GroupTally::held_by(const Key& key, const Group& group) const {
  const auto count_of = [](std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  if (key.first == 'P')
    return group.unfinished == 0 ? std::string() : count_of(group.unfinished, "pod");
  if (group.children.empty()) return {};
  constexpr std::size_t kNamesMax = 3;
  std::vector<std::string_view> names;
  for (const Key& child : group.children) {
    if (names.size() == kNamesMax) break;
    names.push_back(std::string_view(child.second).substr(child.second.find('/') + 1));
  }
  Look look;
  const std::size_t more = group.children.size() - names.size();
  return fmt::format("{} {}{}, {}", group.children.size() == 1 ? "group" : "groups",
                     fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                     count_of(unfinished_below(key, look), "pod"));
}

api::GroupCounts GroupTally::count(const api::Object& object) const {
  const std::lock_guard lock(mutex_);
  catch_up();
  const bool is_leaf = &object.kind() == &api::kinds::pod_group();
  const Key key{is_leaf ? 'P' : 'C', path(object, object.meta().name)};
  const Group* group = find(key);
  if (group == nullptr) return {};
  api::GroupCounts counts;
  if (is_leaf) {
    counts.members = group->members;
    counts.scheduled = group->present;
  } else {
    Look look;
    counts.members = std::ssize(group->children);
    for (const Key& child : group->children) counts.scheduled += is_met(child, look) ? 1 : 0;
  }
  counts.domains = domains_of(key, object.view<api::GroupView>().topology_key);
  if (object.meta().deletion_time) counts.held_by = held_by(key, *group);
  return counts;
}

}  // namespace muster::server
