#pragma once

#include <absl/container/btree_map.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"
#include "store/health.h"
#include "store/key_map.h"
#include "store/writer_first_mutex.h"

namespace muster::store {

// The current objects, in memory, above an engine. One thread commits; any thread reads. Readers
// see only what is durable, and only whole transactions.
class Store {
 public:
  // Loads everything. The engine's change stream is the only thing that ever changes the objects.
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Engine> engine);

  // --- any thread ---
  Revision revision() const;
  Revision compacted() const;
  // Null if there is none.
  ObjectPtr get(std::string_view key) const;

  struct Listing {
    std::vector<ObjectPtr> objects;  // in key order
    Revision revision;               // of the state they were read from
  };
  // Everything whose key begins with `prefix`: "pods/", "pods/default/". Copies pointers only;
  // writers wait for it (50,000 objects: about 3 ms).
  Listing list(std::string_view prefix) const;
  // The first `max` keys below `prefix` that come after the key `after` (empty: from the first on).
  // To go through many objects a few at a time: the place survives whatever changes meanwhile.
  struct Keys {
    std::vector<std::string> keys;
    bool more = false;  // there are others behind them
  };
  Keys keys_after(std::string_view prefix, std::string_view after, std::size_t max) const;
  // The same with objects, as they are at one revision.
  struct Page {
    std::vector<ObjectPtr> objects;
    bool more = false;
    Revision revision;
  };
  Page page_after(std::string_view prefix, std::string_view after, std::size_t max) const;
  // Whether there is any object below `prefix`.
  bool has_any(std::string_view prefix) const;
  // Whether the last write succeeded; a failed one is forgotten once a commit or a probe succeeds.
  const Health& health() const { return health_; }
  // How much history the engine keeps, and bytes that it has forgotten and not freed yet, after the
  // last write.
  HistorySize history() const { return {.changes = past_changes_, .bytes = past_bytes_}; }
  std::size_t unreclaimed() const { return unreclaimed_; }
  // As Engine::copy_to: a copy for a backup, made while commits go on.
  Result<void> copy_to(const std::string& directory) const { return engine_->copy_to(directory); }

  // --- the one writer ---
  // As Engine::commit. When it returns, readers see the batch and listeners have heard of it.
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch);
  // As the engine's.
  Result<void> deposit(std::span<const ObjectPtr> objects);
  Result<Revision> compact(Revision revision);
  Revision revision_that_leaves(const HistorySize& most) const {
    return engine_->revision_that_leaves(most);
  }
  Result<void> remember(Waypoint waypoint);
  // The one found at open(), if any.
  std::optional<Waypoint> waypoint() const { return waypoint_; }
  // Finds out whether a store that could not be written can be written again. Call it now and then
  // while health() reports a failure: clients that wait for it to pass send no writes.
  Result<void> probe();

  // Listeners hear every block of changes after the objects are updated, on the writer's thread, in
  // order. Add them before the first commit. The recent changes found at open() are handed over at
  // once.
  using Listener = std::function<void(std::span<const Change>)>;
  void listen(Listener listener);

 private:
  explicit Store(std::unique_ptr<Engine> engine);
  void apply(std::span<const Change> changes);
  template <typename Show>
  bool show_after(std::string_view prefix, std::string_view after, std::size_t max,
                  Show show) const;
  template <typename Outcome>
  Outcome observe(Outcome outcome);
  void count_history();

  std::unique_ptr<Engine> engine_;
  Health health_;
  std::atomic<std::size_t> past_changes_ = 0;
  std::atomic<std::size_t> past_bytes_ = 0;
  std::atomic<std::size_t> unreclaimed_ = 0;
  std::vector<Listener> listeners_;
  std::vector<Change> recent_;  // from open(), handed to listeners as they are added
  std::optional<Waypoint> waypoint_;
  bool committing_ = false;  // the first commit was asked for; recent_ is gone

  // The current objects twice, since the two questions have different best answers: among 100,000
  // keys the hash finds one five times faster than the tree, and the tree lists 50,000 in order
  // two to three times faster than std::map, whose nodes are scattered. All under mutex_.
  mutable WriterFirstMutex mutex_;
  KeyMap<ObjectPtr> by_key_;
  absl::btree_map<std::string, ObjectPtr, std::less<>> in_order_;
  Revision revision_;
  Revision compacted_;
};

}  // namespace muster::store
