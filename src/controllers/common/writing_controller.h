#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/fair_queue.h"
#include "client/kit/controller.h"
#include "controllers/common/adoption.h"
#include "controllers/common/own_writes.h"
#include "controllers/common/owners.h"

namespace muster::controllers {

// A controller that looks at a key only after its feeds have shown what it wrote about the key, so
// that nothing is made or counted twice:
//
//   void reconcile(key, now) { begin_look(key); …; if (waits(key, now)) return; … write_call(…); }
//   Keys on_pod(change)      { …; showed(key, change); … }   // for every kind that it writes
//
// Its unanswered requests are bounded, in bytes and calls, however many keys are due: large or
// numerous requests are made only when they are sent (write_in_batches, write_later). Namespaces
// take turns at that, and so do the keys of each.
class WritingController : public client::Controller {
 protected:
  using Controller::Controller;
  using Also = std::function<void(const client::Outcome& outcome, Time now)>;

  // At the beginning of every look.
  void begin_look(const std::string& key);
  // Whether some write has not been seen yet, or too much is under way to add to it. Then the key
  // is looked at again later.
  bool waits(const std::string& key, Time now);
  // The object of the key is gone.
  void forget_writes(const std::string& key) { own_writes_.forget(key); }
  // A feed shows an object that calls about the key may have written.
  void showed(const std::string& key, const Change& change);
  // The same for the object that the key names; for Watch::keys_of.
  Keys showed_itself(const Change& change);

  // Makes a call whose effect must be seen before the key is looked at again.
  void write_call(const std::string& key, api::Request request, Also also = nullptr);
  // Makes one of many requests, by its place.
  using Make = std::function<api::Request(std::size_t index)>;
  struct Writes {
    std::size_t count = 0;
    // Called whenever some of them are sent: what they are made from, such as a copy of a template,
    // lives in what it returns, and not while answers are awaited.
    std::function<Make()> start_making = nullptr;
    bool all_after_first = false;  // they are useless unless all are made
  };
  // Called with each outcome, by the index of its request; true: it ends the batches.
  using OnEach = std::function<bool(std::size_t index, const client::Outcome& outcome, Time now)>;
  // Makes calls in batches that grow as long as all succeed: what is refused once would be refused
  // a thousand times. The first batch with a failure is the last. If too much is under way,
  // namespaces take turns.
  void write_in_batches(const std::string& key, Writes writes, OnEach on_each);
  // As write_call(), for a request that is large: it is made when it can be sent.
  void write_later(const std::string& key, std::function<api::Request()> make, Also also = nullptr);
  // However many calls of a look fail, it is one failure.
  void retry_once(const std::string& key, Time now);

  // True: the key is one of free_key(), and owners that select the object are due now. `View` is
  // that of the owners.
  template <typename View>
  bool looks_for_owners(const client::Mirror& owners, const client::Mirror& dependents,
                        const std::string& key, Time now) {
    if (!is_free_key(key)) return false;
    for (const std::string& owner : find_adopters<View>(owners, find_free(dependents, key)))
      work().add(owner, now);
    return true;
  }

 private:
  struct Batch;
  using BatchPtr = std::shared_ptr<Batch>;

  // Returns the bytes of the request.
  std::size_t write_counted(const std::string& key, api::Request request, Also also);
  bool has_room() const;
  void wait_for_turn(const BatchPtr& batch);
  void send_waiting();
  void send_some(const BatchPtr& batch);
  void on_batched(const BatchPtr& batch, std::size_t index, const client::Outcome& outcome,
                  Time now);
  void on_written(const std::string& key, const client::Outcome& outcome, Time now);

  OwnWrites own_writes_;
  std::set<std::string, std::less<>> failing_;  // keys of which a call failed since the last look
  std::size_t bytes_under_way_ = 0;             // of requests that were not answered
  std::size_t writes_under_way_ = 0;            // how many these are
  FairQueue<std::string, BatchPtr> waiting_;    // have more to send; by namespace
  bool sending_ = false;
};

// Nothing can be made in a namespace that is being deleted; what is in it is deleted with it.
bool is_name_space_ending(const Error& error);

}  // namespace muster::controllers
