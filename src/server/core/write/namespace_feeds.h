#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/amounts.h"
#include "store/store.h"

namespace muster::server {

// By how much an object that was added, changed or removed uses more, or less, than before.
struct UseChange {
  const api::Kind* kind = nullptr;
  std::string name;
  api::Quantities more;  // negative: less
  api::Revision revision;
};

// The changes to what a namespace's objects use while somebody counts them slice by slice: the
// objects as they were read, plus the changes since, are always the current state.
//
// What a change means is worked out at once, on the writer's time; the write itself cost more. If
// the objects were kept until the counter reaches them, their size would decide whether a count
// ever ends, although most changes of large objects change nothing of what they use.
class NamespaceFeeds {
 public:
  // Listens to the store from now on, so it must exist before the first commit and outlive the
  // last.
  explicit NamespaceFeeds(store::Store& store);
  ~NamespaceFeeds();  // after all feeds
  NamespaceFeeds(const NamespaceFeeds&) = delete;
  NamespaceFeeds& operator=(const NamespaceFeeds&) = delete;

  // The memory that changes of use may take between two calls of drain(), and how many bytes of
  // documents are read for changes that become durable together. A batch of writes has less of
  // both; a GroupBinding of a large tree, or many large pods that are deleted at once, may have
  // more.
  static constexpr std::size_t kBytesMax = std::size_t{4} << 20U;
  static constexpr std::size_t kReadMax = std::size_t{16} << 20U;

  // How much of what is counted an object uses. Called by the thread that commits.
  using Use = std::function<api::Quantities(const api::Kind& kind, const api::Object& object)>;

  // The changes of some kinds in one namespace, from when it is opened until it is destroyed.
  // Belongs to the registry's thread.
  class Feed {
   public:
    Feed(NamespaceFeeds& feeds, std::string name_space)
        : feeds_(feeds), name_space_(std::move(name_space)) {}
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    // What has become durable since the last call and changes what is used, oldest first. nullopt:
    // that was too much to read or to keep, so nobody can say what has changed.
    std::optional<std::vector<UseChange>> drain();

   private:
    NamespaceFeeds& feeds_;
    const std::string name_space_;
  };

  // A namespace has one feed at a time, so that what it keeps does not grow with the readers.
  bool is_open(const std::string& name_space) const;
  // Not while one is open there.
  std::unique_ptr<Feed> open(const std::string& name_space, std::vector<const api::Kind*> kinds,
                             Use use);

 private:
  struct Asked {
    std::vector<const api::Kind*> kinds;
    Use use;
  };
  struct Open {
    std::shared_ptr<const Asked> asked;
    std::vector<UseChange> changes;
    std::size_t bytes = 0;  // of the changes
    bool lost = false;      // some were not kept
  };
  void on_changes(std::span<const store::Change> changes);
  std::shared_ptr<const Asked> asked_about(const std::string& name_space) const;
  void append_change(const std::string& name_space, const Asked* asked,
                     std::optional<UseChange> change);

  std::atomic<bool> has_any_ = false;  // so that nobody waits for the mutex where there is none
  mutable std::mutex mutex_;
  std::map<std::string, Open> open_;  // by namespace; under mutex_
};

}  // namespace muster::server
