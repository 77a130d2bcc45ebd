#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "base/result.h"
#include "base/time.h"

namespace muster::store {

using api::Object;
using api::ObjectPtr;
using api::Revision;

// Where an object is in the store: "pods/default/web", "nodes/n1". Keys sort as lists are
// listed. The namespace is left out for cluster-scoped kinds. Prefixes of lists end in '/':
// "pods/default/".
std::string make_key(const api::Kind& kind, std::string_view name_space, std::string_view name);

// One object's part of a transaction: `object` replaces what is stored at `key` (null deletes it),
// provided the key was last written at `expected` (0: the key must be free, so there is nothing to
// delete either). An object is written once: it has no revision yet, and nobody else writes it.
struct Write {
  std::string key;
  std::shared_ptr<Object> object;
  Revision expected;
  // If not null, this object must be stored at the key, and `expected` is ignored: it may be one
  // that an earlier transaction writes and that has no revision yet.
  ObjectPtr replaces = nullptr;
};

// Writes that happen together or not at all. They take a contiguous block of revisions, one per
// write, in order; no reader ever sees the inside of a block. A key may occur only once; a
// duplicate makes the transaction a BadRequest. A transaction without writes takes no
// revision.
struct Transaction {
  std::vector<Write> writes;
};

// What one write did. `object` is the new state, or for Deleted the last state; `revision` is
// this write's, `block_end` that of the last write of its transaction.
struct Change {
  enum class Type : std::uint8_t { Added, Modified, Deleted };
  Type type = Type::Added;
  std::string key;
  Revision revision;
  Revision block_end;
  ObjectPtr object;
  ObjectPtr previous;  // null for Added
};

// The memory that only this change keeps in use: itself, and the object it has replaced. Current
// objects are in the store anyway, and each object is replaced once, so the sum over successive
// changes is exact although they share objects.
inline std::size_t memory_held_by(const Change& change) {
  constexpr std::size_t kChange = 400;  // with its key and its place in the window
  return kChange + (change.previous ? change.previous->memory() : 0);
}

// A moment at which a revision was the newest: how compaction knows what is old.
struct Waypoint {
  Time at;
  Revision revision;
};

// What an engine holds when it is opened.
struct Contents {
  Revision revision;                                       // of the newest write
  Revision compacted;                                      // changes up to here are gone
  std::optional<Waypoint> waypoint;                        // the one remembered last
  std::vector<std::pair<std::string, ObjectPtr>> objects;  // current, by key
  // Every change after `compacted`, oldest first, for watchers that resume. Bounded: where history
  // is longer, `compacted` is raised to where these begin, and the first block may be cut.
  std::vector<Change> recent;
};

inline constexpr std::size_t kCompactionSlice = 1'000;

// How much an engine keeps that is not current: changes that are not yet forgotten, and bytes of
// the records that only they need.
struct HistorySize {
  std::size_t changes = 0;
  std::size_t bytes = 0;
};

// Every object at every revision. The engine decides revisions and durability; the Store above it
// keeps the current objects in memory. Used by one thread at a time, the one that commits.
//
// Implementations: engines/memory.h, engines/rocksdb.h; both pass the behaviour suite in
// engines/behaviour_test.cc.
class Engine {
 public:
  virtual ~Engine() = default;

  // Reads everything, and proves that nothing acknowledged is missing: a store that lost something
  // is refused with a sentence, never loaded smaller. Comes before the first commit.
  virtual Result<Contents> load() = 0;

  // Commits each transaction on its own, later ones seeing earlier ones, all of them durably before
  // this returns: one sync for the whole batch. A refused transaction takes no revision. Per
  // transaction the outcome is its block's last revision, or Conflict naming the key that was not
  // as expected. Objects of committed writes have got their revisions. A failed Result means the
  // engine is broken (disk full, I/O error): nothing of the batch may be taken as committed.
  virtual Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) = 0;

  // Writes the bytes of objects in advance that a transaction will write soon: a commit of many
  // objects is then short, since its time depends only on their number. It changes
  // and promises nothing: a commit writes what was not deposited, and what is never committed is
  // removed later. Not synced; the commit's sync covers it.
  virtual Result<void> deposit(std::span<const ObjectPtr> /*objects*/) { return {}; }

  // Receives committed changes, in revision order, whole blocks at a time: from commit() before it
  // returns, and from engines shared with others whenever those write. Set once, before the first
  // commit.
  using Sink = std::function<void(std::span<const Change>)>;
  virtual void set_sink(Sink sink) = 0;

  // Forgets changes up to and including `revision`, oldest first; current objects stay. One call
  // forgets at most kCompactionSlice changes, so that commits between two calls wait a few
  // milliseconds at most; it returns how far it came. Call again until that is `revision`.
  // BadRequest beyond the newest. A crash may bring forgotten changes back.
  virtual Result<Revision> compact(Revision revision) = 0;

  // What compact() could forget.
  virtual HistorySize history() const { return {}; }
  // The oldest revision to compact to so that no more than this is left.
  virtual Revision revision_that_leaves(const HistorySize& /*most*/) const { return {}; }
  // Bytes on disk that belong to nothing kept: what was forgotten and whose room is not free yet.
  // 0 if nobody is at work to free it.
  virtual std::size_t unreclaimed() const { return 0; }

  // Kept for the next load(), unless a crash comes first: see Compactor.
  virtual Result<void> remember(Waypoint waypoint) = 0;

  // Whether a commit would succeed now, found out by a small write that changes nothing. After a
  // failed write this is also what lets the engine recover.
  virtual Result<void> probe() = 0;

  // Makes a copy of the store, with everything acknowledged so far, in a directory that does not
  // exist yet. The only call that any thread may make, also during commits.
  virtual Result<void> copy_to(const std::string& directory) = 0;
};

}  // namespace muster::store
