#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "api/object.h"
#include "store/store.h"

namespace muster::server {

// An object before and after a change; null: it is new, or deleted.
struct ObjectChange {
  api::ObjectPtr before;
  api::ObjectPtr after;
  api::Revision revision;
};

// The changes to a namespace's objects while somebody goes through them slice by slice: the objects
// as they were read, plus the changes since, are always the current state.
class NamespaceFeeds {
 public:
  // Listens to the store from now on, so it must exist before the first commit and outlive the
  // last.
  explicit NamespaceFeeds(store::Store& store);
  ~NamespaceFeeds();  // after all feeds
  NamespaceFeeds(const NamespaceFeeds&) = delete;
  NamespaceFeeds& operator=(const NamespaceFeeds&) = delete;

  // What changes may hold in memory (store::memory_held_by) between two calls of drain(): the
  // objects that they have replaced would otherwise stay for as long as somebody counts.
  static constexpr std::size_t kBytesMax = std::size_t{16} << 20U;

  // The changes of some kinds in one namespace, from when it is opened until it is destroyed.
  // Belongs to the registry's thread.
  class Feed {
   public:
    Feed(NamespaceFeeds& feeds, std::string name_space)
        : feeds_(feeds), name_space_(std::move(name_space)) {}
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    // What has become durable since the last call, oldest first. nullopt: that was more than
    // kBytesMax, so it was not kept, and nobody can say what has changed.
    std::optional<std::vector<ObjectChange>> drain();

   private:
    NamespaceFeeds& feeds_;
    const std::string name_space_;
  };

  // A namespace has one feed at a time, so that what it keeps does not grow with the readers.
  bool is_open(const std::string& name_space) const;
  // Not while one is open there.
  std::unique_ptr<Feed> open(const std::string& name_space,
                             const std::vector<const api::Kind*>& kinds);

 private:
  struct Open {
    std::vector<std::string> prefixes;  // of the kinds
    std::vector<ObjectChange> changes;
    std::size_t bytes = 0;  // of the changes
    bool lost = false;      // some were not kept
  };
  void on_changes(std::span<const store::Change> changes);
  static void keep(Open& open, ObjectChange change, std::size_t bytes);

  std::atomic<bool> has_any_ = false;  // so that nobody waits for the mutex where there is none
  mutable std::mutex mutex_;
  std::map<std::string, Open> open_;  // by namespace; under mutex_
};

}  // namespace muster::server
