#include "client/remote/feed_queue.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace muster::client {

void FeedQueue::push(Event event) {
  const std::lock_guard lock(mutex_);
  if (!wake_) return;
  events_.push_back(std::move(event));
  has_news_ = true;
  if (events_.size() >= compact_at_) compact();
}

void FeedQueue::announce() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_news_, false) && wake_) wake_();
}

void FeedQueue::set_synced() {
  const std::lock_guard lock(mutex_);
  synced_ = true;
  has_news_ = false;
  if (wake_) wake_();
}

void FeedQueue::close() {
  const std::lock_guard lock(mutex_);
  wake_ = {};
  events_.clear();
}

bool FeedQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return !wake_;
}

Feed::Poll FeedQueue::poll(std::vector<Event>& out, std::size_t max) {
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(max, events_.size());
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  return {.synced = synced_ && events_.empty(), .more = !events_.empty()};
}

// Of the changes of one life of an object only the newest stays, at the place of the first. An
// object that came and went meanwhile was never there.
void FeedQueue::compact() {
  std::unordered_map<std::string, std::size_t> places;  // by uid: where in `kept`
  std::vector<Event> kept;
  for (Event& event : events_) {
    const auto [at, is_new] = places.try_emplace(event.object->meta().uid, kept.size());
    if (is_new) {
      kept.push_back(std::move(event));
      continue;
    }
    Event& earlier = kept[at->second];
    if (earlier.type == Event::Type::Added && event.type == Event::Type::Deleted) {
      earlier.object = nullptr;
      places.erase(at);
      continue;
    }
    if (earlier.type != Event::Type::Added) earlier.type = event.type;
    earlier.object = std::move(event.object);
  }
  events_.clear();
  for (Event& event : kept)
    if (event.object != nullptr) events_.push_back(std::move(event));
  compact_at_ = std::max(kCompactAt, 2 * events_.size());
}

}  // namespace muster::client
