#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "api/tables/table.h"
#include "server/core/read/group_book.h"
#include "store/store.h"

namespace muster::server {

// The current state of every group, for what kubectl shows of them; never stored.
//
// Costs nothing until the first question. From then on changes are put aside and counted at the
// next question; if too many pile up, they are dropped, and everything is counted from the start. A
// caller that has time calls catch_up() until all is counted, then count(), which costs a few looks
// (GroupBook). A caller that must not wait asks at_once(). A commit never waits for a count: it
// only puts changes aside, under a separate lock.
class GroupTally final : public api::GroupCounter {
 public:
  // Listens to the store from now on, so it must be made before the first commit.
  explicit GroupTally(store::Store& store);

  // Counts some hundred objects or changes; false if there are more.
  bool catch_up() const;

  // As of now or, if very much has changed since the last catch_up(), as of then. Counts all there
  // is if nobody has caught up yet.
  std::optional<api::GroupCounts> count(const api::Object& group) const override;

  // The same for callers that cannot wait: nullopt if much must be counted first, or another thread
  // is counting.
  const api::GroupCounter& at_once() const { return at_once_; }
  // True if at_once() could not answer because a catch_up() was missing. Returned once; the next
  // time only after that catch_up().
  bool pop_request() const { return is_requested_.exchange(false) && !is_granted_.exchange(true); }

  // For tests: the bytes of objects that are put aside.
  std::size_t held_bytes() const {
    const std::lock_guard lock(aside_mutex_);
    return aside_bytes_;
  }
  // For tests: GroupBook::looks() so far.
  std::uint64_t looks() const {
    const std::lock_guard lock(mutex_);
    return counted_ ? counted_->book.looks() : 0;
  }
  // For tests: calls back while a question is being answered; and once it is listening, before the
  // next count of everything lists it.
  void call_while_counting(const std::function<void()>& call) const {
    const std::lock_guard lock(mutex_);
    call();
  }
  void call_before_listing(std::function<void()> call) const {
    const std::lock_guard lock(mutex_);
    before_listing_ = std::move(call);
  }

 private:
  static constexpr std::size_t kAsideMax = 2'000;
  static constexpr std::size_t kAsideBytesMax = std::size_t{64} << 20U;
  static constexpr std::size_t kStep = 256;  // objects or changes counted at a time

  struct Aside {
    api::ObjectPtr before, after;
    api::Revision revision;
    std::size_t bytes = 0;
  };
  struct Counted {
    GroupBook book;
    // Up to which revision each kind was counted from the start: changes that arrive later may be
    // older.
    std::map<const api::Kind*, api::Revision> up_to;
  };
  // Everything, being counted from the start.
  struct Recount {
    std::unique_ptr<Counted> counted = std::make_unique<Counted>();
    std::size_t kinds_listed = 0;
    store::Store::Listing listing = {};  // of the last of them, counted before `next`
    std::size_t next = 0;
  };
  struct AtOnce final : api::GroupCounter {
    explicit AtOnce(const GroupTally& of) : tally(of) {}
    std::optional<api::GroupCounts> count(const api::Object& group) const override {
      return tally.count_at_once(group);
    }
    const GroupTally& tally;
  };

  void put_aside(std::span<const store::Change> changes) const;
  bool listen_on() const;
  bool is_listening() const;
  std::deque<Aside> take_aside(bool& more) const;
  // With mutex_ held:
  bool go_on() const;
  bool go_on_recounting() const;
  bool count_aside() const;
  void add_change(const Aside& change) const;
  std::optional<api::GroupCounts> count_at_once(const api::Object& group) const;

  const store::Store& store_;
  const AtOnce at_once_{*this};
  mutable std::atomic<bool> is_requested_{false};
  mutable std::atomic<bool> is_granted_{false};  // somebody is going to catch up

  mutable std::mutex mutex_;  // guards these; held for a step or an answer
  mutable std::unique_ptr<Counted> counted_;
  mutable std::unique_ptr<Recount> recount_;  // null: nothing is being counted
  mutable std::size_t recount_step_ = kStep;
  mutable std::function<void()> before_listing_;  // once

  mutable std::mutex aside_mutex_;  // guards these; taken for a moment, also with mutex_ held
  mutable bool listening_ = false;
  mutable std::deque<Aside> aside_;
  mutable std::size_t aside_bytes_ = 0;
};

}  // namespace muster::server
