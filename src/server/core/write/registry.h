#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "api/gates/gates.h"
#include "api/inert/inert.h"
#include "api/request.h"
#include "base/entropy.h"
#include "base/time.h"
#include "server/core/request/reply.h"
#include "server/core/write/role_guard.h"
#include "store/store.h"

namespace muster::server {

class Batch;
class NamespaceCleaner;
class SlicedRequest;
class Staging;
struct Context;

// Turns requests into transactions: admission, strategies, patches, preconditions, in one order.
// It belongs to one thread, the registry's.
//
//   submit()* → flush(): everything submitted since the last flush is decided one after the other,
//   each seeing the results of those before it, then committed with one sync, then answered.
//
// A request that reads what another of the same batch writes makes the batch commit early
// (staging.h), so a reply may also come during a later submit(). Replies may submit again.
class Registry {
 public:
  // Off only where a test sends random documents through to check that nothing gets lost.
  enum class Validation : std::uint8_t { On, Off };

  Registry(store::Store& store, Entropy& entropy, Validation validation = Validation::On,
           const api::Gates& gates = {});
  ~Registry();

  // Before the first submit(). Without a guard, anyone who may write roles and bindings may grant
  // anything.
  void guard_roles(RoleGuard guard) { role_guard_ = std::move(guard); }

  // Before the first submit(): components that are switched off. Users are warned of what that
  // leaves undone.
  void set_absent(api::Absent absent) { absent_ = std::move(absent); }

  // Bytes that all objects may have together (stored_limit.h); the default is as etcd's.
  static constexpr std::size_t kStoredBytesMax = std::size_t{2} << 30U;
  void limit_stored(std::size_t bytes) { stored_bytes_max_ = bytes; }

  // Decides a write (Create, Update, Patch, Delete, DeleteCollection). An error that needs no
  // commit may be answered at once; everything else is answered by flush().
  void submit(api::Request request, Time now, Reply reply);
  void flush();

  // A request about many objects is decided in slices (sliced_request.h), by flush() or, where
  // others must not wait until it ends, by calls to work() in between: each does one slice of the
  // request whose turn it is.
  bool unfinished() const { return !unfinished_.empty(); }
  void work();
  // Answers ServiceUnavailable to all of them.
  void refuse_unfinished();

  // Instead of flush(), a driver with a second thread has it commit while this one decides on:
  //
  //   begin_commit() → there: Batch::commit(), Batch::answer() → end_commit() → begin_commit() →
  //   ...
  //
  // One batch at a time; null if there is nothing to commit. end_commit() without a batch does
  // nothing. A decision that reads what is being committed calls `await` first, to wait for it.
  std::shared_ptr<Batch> begin_commit();
  void end_commit();
  // What begin_commit() would hand over; the more, the longer everybody waits for that commit.
  std::size_t staged_bytes() const;
  void set_await(std::function<void()> await);

  // Begins to delete the Events that nothing has renewed for an hour, in slices as above. For a
  // driver to call every minute or so.
  void expire(Time now);

 private:
  struct Unfinished {
    std::unique_ptr<SlicedRequest> request;
    Time now;
  };

  Context context(Time now);
  void decide(api::Request request, Time now, Reply reply);
  void begin(std::unique_ptr<SlicedRequest> request, Time now);
  // True if there was work for terminating namespaces, which has been decided.
  bool clean_up();

  Entropy& entropy_;
  const Validation validation_;
  const api::Gates gates_;
  RoleGuard role_guard_;  // may be empty
  api::Absent absent_;
  std::size_t stored_bytes_max_ = kStoredBytesMax;
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<NamespaceCleaner> cleaner_;
  std::deque<Unfinished> unfinished_;  // whose turn it is first
  Time now_;                           // of the newest request
};

}  // namespace muster::server
