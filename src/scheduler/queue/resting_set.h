#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/queue/queue_entity.h"

namespace muster::scheduler {

// What makes resting pods equal: the plugins that refused them, their priority, and what they ask
// for.
struct WaitClassKey {
  std::uint64_t domain_of = 0;  // the tree whose domain they must be in; 0: anywhere
  const PluginSet* plugins = nullptr;
  std::size_t plugins_rank = 0;  // of interning: addresses must not decide an order
  std::int32_t priority = 0;
  std::uint64_t class_hash = 0;
  std::uint64_t only = 0;  // for pods like no other: the pod's sequence

  friend bool operator<(const WaitClassKey& a, const WaitClassKey& b) {
    return std::tie(a.domain_of, a.plugins_rank, a.priority, a.class_hash, a.only) <
           std::tie(b.domain_of, b.plugins_rank, b.priority, b.class_hash, b.only);
  }
};

// Resting entities that share one answer: an event that could help one could help each. For trees
// it holds only the shapes: PeerTrees knows who has them.
struct WaitClass {
  WaitClassKey key;
  api::ObjectPtr example;                       // any pod that was in it
  std::set<QueueEntity*, BackoffOrder> lone;    // the first is the one whose backoff ends first
  std::map<std::uint64_t, std::size_t> shapes;  // of trees: how many have it
  Time tried = Time::min();                     // when one of them was refused, last
  // Woken from `lone` on behalf of all, and not yet tried. While there is one nobody else of `lone`
  // is woken: if it is placed there may be room for the next one, which then becomes the released
  // one; if it is refused, so would be all the others. So k free slots cost k + 1 attempts, however
  // many wait.
  QueueEntity* released = nullptr;

  bool is_empty() const { return lone.empty() && shapes.empty(); }
};

// The entities that wait for an event, ordered by when they began to wait, and in wait classes. A
// lone pod is in one class; a group is in one per kind of refusal among its members.
class RestingSet {
 public:
  const PluginSet* intern(std::vector<std::string> plugins);
  // The class of a pod that was refused by `pod.refused_by`.
  WaitClassKey key_of(const QueuedPod& pod, std::int32_t priority) const;
  // The class of everything of that priority that was refused by these plugins alone.
  WaitClassKey key_of(const PluginSet* plugins, std::int32_t priority) const;

  // Begins to rest, in no class yet.
  void insert(QueueEntity& entity);
  // Stops resting, and leaves its classes.
  void erase(QueueEntity& entity);
  void join(QueueEntity& entity, const WaitClassKey& key, const api::ObjectPtr& example);
  void leave_classes(QueueEntity& entity);
  // Counts as if it had begun to rest then.
  void postpone(QueueEntity& entity, Time since);

  // The classes with somebody to wake, refused by plugins that `listen`, for which `concerns` is
  // true; in the order of their keys.
  template <typename Listen, typename Concerns>
  std::vector<WaitClass*> classes_if(Listen&& listen, Concerns&& concerns) {
    std::vector<WaitClass*> out;
    for (auto& [rank, classes] : by_plugins_) {
      if (!listen(*classes.begin()->second.key.plugins)) continue;
      for (auto& [key, wait_class] : classes)
        if (!wait_class.is_empty() && concerns(wait_class)) out.push_back(&wait_class);
    }
    return out;
  }

  // All classes with somebody in them, in the order of their keys.
  template <typename Visit>
  void for_each_class(Visit&& visit) const {
    for (const auto& [rank, classes] : by_plugins_)
      for (const auto& [key, wait_class] : classes)
        if (!wait_class.is_empty()) visit(wait_class);
  }

  // The classes of pods that must be in the domain of a tree.
  std::vector<WaitClass*> classes_of_domain(std::uint64_t tree);

  // Marks the first lone entity of a class as released; null, and the class may be gone, if there
  // is none. The caller wakes it.
  QueueEntity* release_first(WaitClass& wait_class);
  // The entity no longer stands for its class. Returns that class, which the caller hands to
  // release_first or drop_if_empty; null if it stood for none.
  WaitClass* end_release(QueueEntity& entity);
  void drop_if_empty(WaitClass& wait_class);

  bool empty() const { return by_time_.empty(); }
  std::size_t size() const { return by_time_.size(); }
  QueueEntity& first() const { return **by_time_.begin(); }
  bool contains(const QueueEntity& entity) const {
    return by_time_.contains(const_cast<QueueEntity*>(&entity));  // keyed by mutable pointers
  }

 private:
  std::set<QueueEntity*, RestOrder> by_time_;
  std::map<PluginSet, std::size_t> plugin_sets_;  // to its rank
  // By the rank of the plugins; none is empty.
  std::map<std::size_t, std::map<WaitClassKey, WaitClass>> by_plugins_;
};

}  // namespace muster::scheduler
