#include "server/core/read/group_tally.h"

#include <utility>

#include "api/values/well_known.h"
#include "api/views/group_view.h"
#include "api/views/pod_view.h"

namespace muster::server {
namespace {

std::string path(const api::Object& object, std::string_view group) {
  return object.meta().name_space + "/" + std::string(group);
}

bool was_scheduled(const api::GroupView& group, bool is_leaf) {
  const api::GroupCondition* condition =
      group.condition(is_leaf ? api::kPodGroupScheduled : api::kCompositePodGroupScheduled);
  return condition != nullptr && condition->status == "True";
}

}  // namespace

GroupTally::GroupTally(store::Store& store) : store_(store) {
  store.listen([this](std::span<const store::Change> changes) { hear(changes); });
}

void GroupTally::hear(std::span<const store::Change> changes) const {
  const std::lock_guard lock(mutex_);
  if (!counted_) return;
  for (const store::Change& change : changes) {
    const auto from = counted_up_to_.find(&change.object->kind());
    if (from == counted_up_to_.end() || change.revision <= from->second) continue;
    const bool gone = change.type == store::Change::Type::Deleted;
    aside_.push_back({change.previous, gone ? nullptr : change.object});
  }
  if (aside_.size() <= kAsideMax) return;
  aside_ = {};
  counts_.clear();
  counted_ = false;
}

// Called with the lock held.
void GroupTally::catch_up() const {
  if (!counted_) {
    counted_ = true;
    counts_.clear();
    for (const api::Kind* kind :
         {&api::kinds::pod(), &api::kinds::pod_group(), &api::kinds::composite_pod_group()}) {
      const store::Store::Listing listing = store_.list(kind->store_prefix + "/");
      for (const api::ObjectPtr& object : listing.objects) add(*object, +1);
      counted_up_to_[kind] = listing.revision;
    }
    return;
  }
  const std::vector<Aside> changes = std::exchange(aside_, {});
  for (const Aside& change : changes) {
    if (change.before != nullptr) add(*change.before, -1);
    if (change.after != nullptr) add(*change.after, +1);
  }
}

void GroupTally::add(const api::Object& object, std::int64_t sign) const {
  if (&object.kind() == &api::kinds::pod()) {
    const auto& pod = object.view<api::PodView>();
    if (!pod.scheduling_group.empty())
      add_to({'P', path(object, pod.scheduling_group)}, !pod.node_name.empty(), sign);
    return;
  }
  const auto& group = object.view<api::GroupView>();
  const bool is_leaf = &object.kind() == &api::kinds::pod_group();
  if (!group.parent.empty())
    add_to({'C', path(object, group.parent)}, was_scheduled(group, is_leaf), sign);
}

void GroupTally::add_to(const Key& key, bool scheduled, std::int64_t sign) const {
  api::GroupCounts& counts = counts_[key];
  counts.members += sign;
  if (scheduled) counts.scheduled += sign;
  if (counts.members == 0) counts_.erase(key);
}

api::GroupCounts GroupTally::count(const api::Object& group) const {
  const std::lock_guard lock(mutex_);
  catch_up();
  const char kind = &group.kind() == &api::kinds::pod_group() ? 'P' : 'C';
  const auto at = counts_.find({kind, path(group, group.meta().name)});
  return at == counts_.end() ? api::GroupCounts{} : at->second;
}

}  // namespace muster::server
