#include "scheduler/queue/resting_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

// Few different sets are ever seen, so they are never dropped; map nodes do not move, so a pointer
// stands for the set, and the rank for its place in the order of classes.
const PluginSet* RestingSet::intern(std::vector<std::string> plugins) {
  std::ranges::sort(plugins);
  const auto repeated = std::ranges::unique(plugins);
  plugins.erase(repeated.begin(), repeated.end());
  return &plugin_sets_.try_emplace(std::move(plugins), plugin_sets_.size()).first->first;
}

WaitClassKey RestingSet::key_of(const PluginSet* plugins, std::int32_t priority) const {
  return {.domain_of = 0,
          .plugins = plugins,
          .plugins_rank = plugin_sets_.at(*plugins),
          .priority = priority,
          .class_hash = 0,
          .only = 0};
}

WaitClassKey RestingSet::key_of(const QueuedPod& pod, std::int32_t priority) const {
  WaitClassKey key = key_of(pod.refused_by, priority);
  key.domain_of = pod.domain_of;
  key.class_hash = pod.facts.class_hash;
  if (key.class_hash == 0) key.only = pod.sequence;
  return key;
}

void RestingSet::insert(QueueEntity& entity) { CHECK(by_time_.insert(&entity).second); }

void RestingSet::erase(QueueEntity& entity) {
  leave_classes(entity);
  CHECK(by_time_.erase(&entity) == 1);
}

// The example may have left long ago: of a class it is as good as any.
void RestingSet::join(QueueEntity& entity, const WaitClassKey& key, const api::ObjectPtr& example) {
  const auto [at, is_new] = by_plugins_[key.plugins_rank].try_emplace(key);
  WaitClass& wait_class = at->second;
  if (is_new) {
    wait_class.key = key;
    wait_class.example = example;
  }
  if (entity.root)
    ++wait_class.shapes[entity.shape];
  else
    CHECK(wait_class.lone.insert(&entity).second);
  wait_class.tried = std::max(wait_class.tried, entity.rest_since);
  entity.classes.push_back(&wait_class);
}

void RestingSet::postpone(QueueEntity& entity, Time since) {
  CHECK(by_time_.erase(&entity) == 1);
  entity.rest_since = since;
  by_time_.insert(&entity);
}

void RestingSet::leave_classes(QueueEntity& entity) {
  for (WaitClass* wait_class : std::exchange(entity.classes, {})) {
    if (!entity.root) {
      CHECK(wait_class->lone.erase(&entity) == 1);
    } else if (const auto at = wait_class->shapes.find(entity.shape); --at->second == 0) {
      wait_class->shapes.erase(at);
    }
    drop_if_empty(*wait_class);
  }
}

std::vector<WaitClass*> RestingSet::classes_of_domain(std::uint64_t tree) {
  std::vector<WaitClass*> out;
  WaitClassKey first;
  first.domain_of = tree;
  first.priority = std::numeric_limits<std::int32_t>::min();
  for (auto& [rank, classes] : by_plugins_) {
    first.plugins_rank = rank;
    for (auto at = classes.lower_bound(first); at != classes.end() && at->first.domain_of == tree;
         ++at)
      out.push_back(&at->second);
  }
  return out;
}

// A class with a released entity stays although nobody rests in it: the entity points to it.
void RestingSet::drop_if_empty(WaitClass& wait_class) {
  if (!wait_class.is_empty() || wait_class.released != nullptr) return;
  const WaitClassKey key = wait_class.key;
  const auto at = by_plugins_.find(key.plugins_rank);
  at->second.erase(key);
  if (at->second.empty()) by_plugins_.erase(at);
}

// At most one entity stands for a class at a time: see WaitClass::released.
QueueEntity* RestingSet::release_first(WaitClass& wait_class) {
  CHECK(wait_class.released == nullptr);
  if (wait_class.lone.empty()) {
    drop_if_empty(wait_class);
    return nullptr;
  }
  QueueEntity& first = **wait_class.lone.begin();
  wait_class.released = &first;
  first.released_from = &wait_class;
  return &first;
}

WaitClass* RestingSet::end_release(QueueEntity& entity) {
  WaitClass* wait_class = std::exchange(entity.released_from, nullptr);
  if (wait_class == nullptr) return nullptr;
  CHECK(wait_class->released == &entity);
  wait_class->released = nullptr;
  return wait_class;
}

}  // namespace muster::scheduler
