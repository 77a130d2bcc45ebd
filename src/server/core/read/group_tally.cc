#include "server/core/read/group_tally.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>
#include <utility>

namespace muster::server {
namespace {

// What groups are counted from.
const std::array<const api::Kind*, 3>& counted_kinds() {
  static const std::array kKinds{&api::kinds::pod(), &api::kinds::pod_group(),
                                 &api::kinds::composite_pod_group()};
  return kKinds;
}

}  // namespace

GroupTally::GroupTally(store::Store& store) : store_(store) {
  store.listen([this](std::span<const store::Change> changes) { put_aside(changes); });
}

// On the thread that commits: puts aside what has changed, and waits for nothing else.
void GroupTally::put_aside(std::span<const store::Change> changes) const {
  const std::lock_guard lock(aside_mutex_);
  if (!listening_) return;
  for (const store::Change& change : changes) {
    if (std::ranges::find(counted_kinds(), &change.object->kind()) == counted_kinds().end())
      continue;
    const bool gone = change.type == store::Change::Type::Deleted;
    // All that is current is held by the store anyhow.
    const std::size_t bytes = change.previous ? change.previous->memory() : 0;
    aside_.push_back({change.previous, gone ? nullptr : change.object, change.revision, bytes});
    aside_bytes_ += bytes;
  }
  if (aside_.size() <= kAsideMax && aside_bytes_ <= kAsideBytesMax) return;
  aside_ = {};
  aside_bytes_ = 0;
  listening_ = false;
}

// False if nobody has listened until now, or some changes were dropped.
bool GroupTally::listen_on() const {
  const std::lock_guard lock(aside_mutex_);
  return std::exchange(listening_, true);
}

bool GroupTally::is_listening() const {
  const std::lock_guard lock(aside_mutex_);
  return listening_;
}

// The oldest that were put aside, a step's worth.
std::deque<GroupTally::Aside> GroupTally::take_aside(bool& more) const {
  const std::lock_guard lock(aside_mutex_);
  const auto end = aside_.begin() + static_cast<std::ptrdiff_t>(std::min(aside_.size(), kStep));
  std::deque<Aside> taken(std::make_move_iterator(aside_.begin()), std::make_move_iterator(end));
  aside_.erase(aside_.begin(), end);
  for (const Aside& change : taken) aside_bytes_ -= change.bytes;
  more = !aside_.empty();
  return taken;
}

bool GroupTally::catch_up() const {
  const std::lock_guard lock(mutex_);
  const bool is_done = go_on();
  if (is_done) is_granted_ = false;
  return is_done;
}

bool GroupTally::go_on() const {
  if (!listen_on()) {
    // What was counted of everything until now is of no use. Each time it is begun again it goes
    // faster, so that it ends however much changes meanwhile.
    if (recount_) recount_step_ *= 4;
    recount_ = std::make_unique<Recount>();
    if (const auto call = std::exchange(before_listing_, nullptr)) call();
  }
  if (recount_ && !go_on_recounting()) return false;
  return count_aside();
}

// What changes meanwhile is put aside like all else.
bool GroupTally::go_on_recounting() const {
  for (std::size_t left = recount_step_; left > 0; --left) {
    auto& [counted, kinds_listed, listing, next] = *recount_;
    if (next < listing.objects.size()) {
      counted->book.add(*listing.objects[next++], +1);
    } else if (kinds_listed < counted_kinds().size()) {
      const api::Kind* const kind = counted_kinds()[kinds_listed++];
      listing = store_.list(kind->store_prefix + "/");
      next = 0;
      counted->up_to[kind] = listing.revision;
    } else {
      counted_ = std::move(counted);
      recount_.reset();
      recount_step_ = kStep;
      return true;
    }
  }
  return false;
}

// False if some are left.
bool GroupTally::count_aside() const {
  bool more = false;
  for (const Aside& change : take_aside(more)) add_change(change);
  return !more;
}

// What was put aside before its kind was listed is in the list already.
void GroupTally::add_change(const Aside& change) const {
  const api::Object& newest = change.after == nullptr ? *change.before : *change.after;
  if (change.revision <= counted_->up_to[&newest.kind()]) return;
  if (change.before != nullptr) counted_->book.add(*change.before, -1);
  if (change.after != nullptr) counted_->book.add(*change.after, +1);
}

std::optional<api::GroupCounts> GroupTally::count(const api::Object& group) const {
  const std::lock_guard lock(mutex_);
  while (counted_ == nullptr) go_on();
  if (!recount_ && is_listening()) count_aside();
  return counted_->book.count(group, store_);
}

std::optional<api::GroupCounts> GroupTally::count_at_once(const api::Object& group) const {
  // A step of somebody else is soon over; but their thread may be made to wait in the midst of it.
  constexpr int kTries = 50;
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kTries && !lock; ++i) {
    std::this_thread::yield();
    static_cast<void>(lock.try_lock());
  }
  if (!lock) return std::nullopt;
  const bool is_counted = counted_ != nullptr && !recount_ && is_listening() && count_aside();
  if (is_counted) return counted_->book.count(group, store_);
  is_requested_ = true;
  return std::nullopt;
}

}  // namespace muster::server
