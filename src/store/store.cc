#include "store/store.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace muster::store {
namespace {

// The first text after every text that begins with `prefix`; empty if there is none.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace

Store::Store(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

Result<std::unique_ptr<Store>> Store::open(std::unique_ptr<Engine> engine) {
  std::unique_ptr<Store> store(new Store(std::move(engine)));
  Contents contents = TRY(store->engine_->load());
  store->revision_ = contents.revision;
  store->compacted_ = contents.compacted;
  store->waypoint_ = contents.waypoint;
  store->count_history();
  store->recent_ = std::move(contents.recent);
  store->by_key_.reserve(contents.objects.size());
  for (auto& [key, object] : contents.objects) {
    store->by_key_.emplace(key, object);
    store->in_order_.emplace_hint(store->in_order_.end(), std::move(key), std::move(object));
  }
  store->engine_->set_sink(
      [self = store.get()](std::span<const Change> changes) { self->apply(changes); });
  return store;
}

Revision Store::revision() const {
  const std::shared_lock lock(mutex_);
  return revision_;
}

Revision Store::compacted() const {
  const std::shared_lock lock(mutex_);
  return compacted_;
}

ObjectPtr Store::get(std::string_view key) const {
  const std::shared_lock lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

Store::Listing Store::list(std::string_view prefix) const {
  const std::string end = end_of(prefix);
  Listing listing;
  const std::shared_lock lock(mutex_);
  listing.revision = revision_;
  const auto last = end.empty() ? in_order_.end() : in_order_.lower_bound(end);
  for (auto at = in_order_.lower_bound(prefix); at != last; ++at)
    listing.objects.push_back(at->second);
  return listing;
}

// Shows the first `max` entries below `prefix` behind `after`; true if there are others. Under the
// mutex.
template <typename Show>
bool Store::show_after(std::string_view prefix, std::string_view after, std::size_t max,
                       Show show) const {
  auto at = after.empty() ? in_order_.lower_bound(prefix) : in_order_.upper_bound(after);
  for (; at != in_order_.end() && at->first.starts_with(prefix); ++at) {
    if (max-- == 0) return true;
    show(at->first, at->second);
  }
  return false;
}

Store::Keys Store::keys_after(std::string_view prefix, std::string_view after,
                              std::size_t max) const {
  Keys found;
  const std::shared_lock lock(mutex_);
  found.more = show_after(
      prefix, after, max,
      [&](const std::string& key, const ObjectPtr& /*object*/) { found.keys.push_back(key); });
  return found;
}

Store::Page Store::page_after(std::string_view prefix, std::string_view after,
                              std::size_t max) const {
  Page page;
  const std::shared_lock lock(mutex_);
  page.revision = revision_;
  page.more = show_after(
      prefix, after, max,
      [&](const std::string& /*key*/, const ObjectPtr& object) { page.objects.push_back(object); });
  return page;
}

bool Store::has_any(std::string_view prefix) const {
  const std::shared_lock lock(mutex_);
  const auto at = in_order_.lower_bound(prefix);
  return at != in_order_.end() && at->first.starts_with(prefix);
}

Result<std::vector<Result<Revision>>> Store::commit(std::span<Transaction> batch) {
  if (!committing_) {
    committing_ = true;
    recent_ = {};
  }
  auto outcomes = observe(engine_->commit(batch));
  count_history();
  return outcomes;
}

Result<void> Store::deposit(std::span<const ObjectPtr> objects) {
  return observe(engine_->deposit(objects));
}

// Every write to the engine passes through here, so that health_ is what the last one showed.
template <typename Outcome>
Outcome Store::observe(Outcome outcome) {
  if (outcome)
    health_.set_writable();
  else if (outcome.error().reason != Reason::BadRequest)  // that is the caller's fault
    health_.set_failed(outcome.error().message);
  return outcome;
}

Result<void> Store::probe() { return observe(engine_->probe()); }

Result<Revision> Store::compact(Revision revision) {
  const Revision reached = TRY(observe(engine_->compact(revision)));
  count_history();
  const std::unique_lock lock(mutex_);
  compacted_ = std::max(compacted_, reached);
  return reached;
}

// Kept apart from the engine, which only its writer may ask.
void Store::count_history() {
  const HistorySize size = engine_->history();
  past_changes_ = size.changes;
  past_bytes_ = size.bytes;
  unreclaimed_ = engine_->unreclaimed();
}

Result<void> Store::remember(Waypoint waypoint) { return observe(engine_->remember(waypoint)); }

void Store::listen(Listener listener) {
  CHECK_THAT(!committing_, "a listener added after the first commit would miss changes");
  if (!recent_.empty()) listener(recent_);
  listeners_.push_back(std::move(listener));
}

void Store::apply(std::span<const Change> changes) {
  if (changes.empty()) return;
  {
    // One lock for all of them: readers see whole transactions. What is replaced lives on in
    // `previous`, so no object is freed in here.
    const std::unique_lock lock(mutex_);
    for (const Change& change : changes) {
      if (change.type == Change::Type::Deleted) {
        by_key_.erase(change.key);
        in_order_.erase(change.key);
      } else {
        by_key_[change.key] = change.object;
        in_order_[change.key] = change.object;
      }
    }
    revision_ = changes.back().block_end;
  }
  for (const Listener& listener : listeners_) listener(changes);
}

}  // namespace muster::store
