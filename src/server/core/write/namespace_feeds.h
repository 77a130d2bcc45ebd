#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
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
};

// The changes to a namespace's objects while somebody goes through them slice by slice: the objects
// as listed, plus the changes since, are always the current state.
class NamespaceFeeds {
 public:
  // Listens to the store from now on, so it must exist before the first commit and outlive the
  // last.
  explicit NamespaceFeeds(store::Store& store);
  ~NamespaceFeeds();  // after all feeds
  NamespaceFeeds(const NamespaceFeeds&) = delete;
  NamespaceFeeds& operator=(const NamespaceFeeds&) = delete;

  // The changes of some kinds in one namespace, from when it is opened until it is destroyed.
  // Belongs to the registry's thread.
  class Feed {
   public:
    Feed(NamespaceFeeds& feeds, std::string name_space)
        : feeds_(feeds), name_space_(std::move(name_space)) {}
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    // What has become durable since the last call, oldest first.
    std::vector<ObjectChange> take();

   private:
    NamespaceFeeds& feeds_;
    const std::string name_space_;
  };

  // Memory is bounded by the objects there are only if each is kept for one reader, so a namespace
  // has one feed at a time.
  bool is_open(const std::string& name_space) const;
  // Not while one is open there.
  std::unique_ptr<Feed> open(const std::string& name_space,
                             const std::vector<const api::Kind*>& kinds);

 private:
  struct Open {
    std::vector<std::string> prefixes;  // of the kinds
    std::vector<ObjectChange> changes;
  };
  void on_changes(std::span<const store::Change> changes);

  std::atomic<bool> has_any_ = false;  // so that nobody waits for the mutex where there is none
  mutable std::mutex mutex_;
  std::map<std::string, Open> open_;  // by namespace; under mutex_
};

}  // namespace muster::server
