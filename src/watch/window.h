#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/engine.h"

// The ordered stream of changes, replayed and fanned out to any reader. There are no queues per
// watcher: a watcher is a cursor into one shared window of recent changes, so a slow one costs
// nothing and simply falls out of the window (Expired) when it is too far behind.
namespace muster::watch {

using api::Revision;
using store::Change;

// What changes were encoded to, kept for later watchers, up to `bytes_max`, in two generations: the
// older is dropped as a whole when the younger has half of the bytes. A client that reads history
// in ever new forms only displaces texts, which are then encoded again. Any
// thread may use it.
class Texts {
 public:
  explicit Texts(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  void add(std::shared_ptr<const std::string> text);

 private:
  using Generation = std::vector<std::shared_ptr<const std::string>>;

  const std::size_t bytes_max_;
  std::mutex mutex_;
  Generation young_;  // under mutex_, as all below
  Generation old_;
  std::size_t young_bytes_ = 0;
};

// A change in the window, and where its encoded texts are. Each form (version, full
// / Table / metadata) is encoded by the first watcher that needs it, and shared by all while it is
// kept.
class Entry {
 public:
  Entry(Change change, std::shared_ptr<Texts> texts)
      : change_(std::move(change)), texts_(std::move(texts)) {}
  const Change& change() const { return change_; }

  using Encode = std::function<std::string(const Change&)>;
  // `form` is a small number chosen by the server: same form, same bytes. Any thread may ask;
  // others who ask this entry wait while `encode` runs, so it must not ask the same entry itself.
  std::shared_ptr<const std::string> bytes(std::uint32_t form, const Encode& encode) const;

 private:
  struct Encoded {
    std::uint32_t form = 0;
    std::weak_ptr<const std::string> text;
  };

  const Change change_;
  const std::shared_ptr<Texts> texts_;
  mutable std::mutex mutex_;
  mutable std::vector<Encoded> encoded_;  // under mutex_, one per form
};

struct Limits {
  std::size_t changes_max = 100'000;  // per kind
  // What changes of all kinds hold in memory (store::memory_held_by); oldest go first.
  std::size_t bytes_max = 160U << 20U;
  std::size_t text_bytes_max = 32U << 20U;  // of what they were encoded to
};

// The recent changes of every kind, by Kind::store_prefix ("pods"). Any thread may use it.
class Window {
 public:
  explicit Window(Limits limits = {})
      : limits_(limits), texts_(std::make_shared<Texts>(limits.text_bytes_max)) {}

  // By the store's writer, whole blocks at a time, in revision order. `floor`: changes up to here
  // are known to be gone (compacted before we started); start() comes before the first append().
  void start(Revision floor);
  void append(std::span<const Change> changes);

  // Changes of `prefix` with revision > after, at most `max`, never beyond the last whole block.
  // `next` is where to continue: the last one's revision, or, if nothing is left, the newest
  // revision of all, so that an idle watcher's cursor moves on; never less than `after`. `after`
  // may lie inside a block: the rest of the block follows. Expired if, and only if, changes of
  // `prefix` after `after` may have been dropped.
  struct Batch {
    std::vector<std::shared_ptr<const Entry>> entries;
    Revision next;
    bool more = false;
  };
  Result<Batch> read(const std::string& prefix, Revision after, std::size_t max) const;

  Revision newest() const;

  // Calls `wake` after changes of `prefix` (empty: of any kind) arrived, on the writer's thread:
  // post, don't work.
  // Dropping the handle ends it; after that `wake` is not called again, nor is it still running,
  // unless the handle was dropped inside it. A `wake` may drop its own handle and any other,
  // subscribe, and read. The one rule: do not drop a handle while holding a lock that its `wake`
  // takes, since the drop waits for it. To miss nothing, subscribe first and read after. Handles
  // must be dropped before the window.
  using Wake = std::function<void()>;
  class Subscription;
  std::unique_ptr<Subscription> subscribe(const std::string& prefix, Wake wake);

 private:
  struct Bell;
  struct Ring {
    std::deque<std::shared_ptr<const Entry>> entries;
    Revision floor;  // changes of this ring up to here are gone
    std::vector<std::shared_ptr<Bell>> bells;
  };
  void drop_oldest(Ring& ring, std::vector<std::shared_ptr<const Entry>>& dropped);
  void drop_excess(std::vector<std::shared_ptr<const Entry>>& dropped);
  void unsubscribe(const std::string& prefix, const std::shared_ptr<Bell>& bell);

  const Limits limits_;
  const std::shared_ptr<Texts> texts_;
  mutable std::mutex mutex_;
  std::map<std::string, Ring, std::less<>> rings_;  // under mutex_, as all below
  Revision floor_;
  Revision newest_;
  std::size_t bytes_ = 0;
};

class Window::Subscription {
 public:
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

 private:
  friend class Window;
  Subscription(Window& window, std::string prefix, std::shared_ptr<Bell> bell);

  Window& window_;
  const std::string prefix_;
  const std::shared_ptr<Bell> bell_;
};

}  // namespace muster::watch
