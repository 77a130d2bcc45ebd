#include "watch/window.h"

#include <algorithm>

namespace muster::watch {
namespace {

Revision revision_of(const std::shared_ptr<const Entry>& entry) { return entry->change().revision; }

}  // namespace

void Texts::add(std::shared_ptr<const std::string> text) {
  // Beside its bytes a text costs two blocks of memory and its place here.
  static constexpr std::size_t kOverhead = 96;
  Generation gone;  // is freed without the lock
  const std::lock_guard lock(mutex_);
  young_bytes_ += text->size() + kOverhead;
  young_.push_back(std::move(text));
  if (young_bytes_ <= bytes_max_ / 2) return;
  gone = std::exchange(old_, std::exchange(young_, {}));
  young_bytes_ = 0;
}

std::shared_ptr<const std::string> Entry::bytes(std::uint32_t form, const Encode& encode) const {
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(encoded_, form, &Encoded::form);
  if (found == encoded_.end())
    found = encoded_.insert(found, Encoded{.form = form, .text = {}});
  else if (auto text = found->text.lock())
    return text;
  auto text = std::make_shared<const std::string>(encode(change_));
  found->text = text;
  texts_->add(text);
  return text;
}

// What append() rings: shared by the ring and the handle, so that it outlives a handle dropped
// meanwhile.
struct Window::Bell {
  explicit Bell(Wake to_call) : wake(std::move(to_call)) {}

  // Recursive, because a wake may drop its own handle. Held while `wake` runs, so that a drop on
  // another thread waits for it; never taken while holding the window's mutex.
  std::recursive_mutex mutex;
  bool ended = false;
  const Wake wake;
};

void Window::start(Revision floor) {
  const std::lock_guard lock(mutex_);
  CHECK_THAT(newest_.value == 0, "the window has already started");
  floor_ = floor;
  newest_ = floor;
}

void Window::append(std::span<const Change> changes) {
  // Entries are made and, where they are dropped, freed without the lock.
  std::vector<std::shared_ptr<const Entry>> entries;
  entries.reserve(changes.size());
  for (const Change& change : changes)
    entries.push_back(std::make_shared<const Entry>(change, texts_));
  std::vector<std::shared_ptr<const Entry>> dropped;
  std::vector<std::shared_ptr<Bell>> bells;
  {
    const std::lock_guard lock(mutex_);
    std::vector<const Ring*> touched;
    for (std::shared_ptr<const Entry>& entry : entries) {
      const Change& change = entry->change();
      CHECK_THAT(change.revision > newest_, "revision {} comes after {}", change.revision.value,
                 newest_.value);
      newest_ = change.revision;
      bytes_ += store::memory_held_by(change);
      Ring& ring = rings_[change.object->kind().store_prefix];
      ring.entries.push_back(std::move(entry));
      if (ring.entries.size() > limits_.changes_max) drop_oldest(ring, dropped);
      if (std::ranges::find(touched, &ring) == touched.end()) touched.push_back(&ring);
    }
    drop_excess(dropped);
    for (const Ring* ring : touched)
      bells.insert(bells.end(), ring->bells.begin(), ring->bells.end());
    // Those who wait for a change of any kind stand under the empty prefix, which sorts first.
    if (!entries.empty() && rings_.begin()->first.empty()) {
      const Ring& any = rings_.begin()->second;
      bells.insert(bells.end(), any.bells.begin(), any.bells.end());
    }
  }
  for (const std::shared_ptr<Bell>& bell : bells) {
    const std::lock_guard lock(bell->mutex);
    if (!bell->ended) bell->wake();
  }
}

void Window::drop_oldest(Ring& ring, std::vector<std::shared_ptr<const Entry>>& dropped) {
  ring.floor = revision_of(ring.entries.front());
  bytes_ -= store::memory_held_by(ring.entries.front()->change());
  dropped.push_back(std::move(ring.entries.front()));
  ring.entries.pop_front();
}

// Drops the oldest changes of all kinds until the window is within its bytes.
void Window::drop_excess(std::vector<std::shared_ptr<const Entry>>& dropped) {
  while (bytes_ > limits_.bytes_max) {
    Ring* oldest = nullptr;
    for (auto& [prefix, ring] : rings_)
      if (!ring.entries.empty() && (oldest == nullptr || revision_of(ring.entries.front()) <
                                                             revision_of(oldest->entries.front())))
        oldest = &ring;
    CHECK_THAT(oldest != nullptr, "an empty window counts {} bytes", bytes_);
    drop_oldest(*oldest, dropped);
  }
}

Result<Window::Batch> Window::read(const std::string& prefix, Revision after,
                                   std::size_t max) const {
  Batch batch;
  const std::lock_guard lock(mutex_);
  const auto found = rings_.find(prefix);
  const Revision floor = found == rings_.end() ? floor_ : std::max(floor_, found->second.floor);
  // Upstream's words, which clients look for; the second number is the oldest revision to resume
  // from.
  if (after < floor)
    return fail(Reason::Expired, "too old resource version: {} ({})", after.value, floor.value);
  batch.next = std::max(after, newest_);
  if (found == rings_.end()) return batch;
  const auto& entries = found->second.entries;
  const auto first = std::ranges::upper_bound(entries, after, {}, revision_of);
  const auto left = static_cast<std::size_t>(entries.end() - first);
  batch.more = left > max;
  batch.entries.assign(first, first + static_cast<std::ptrdiff_t>(std::min(left, max)));
  if (batch.more) batch.next = batch.entries.empty() ? after : revision_of(batch.entries.back());
  return batch;
}

Revision Window::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

std::unique_ptr<Window::Subscription> Window::subscribe(const std::string& prefix, Wake wake) {
  auto bell = std::make_shared<Bell>(std::move(wake));
  {
    const std::lock_guard lock(mutex_);
    rings_[prefix].bells.push_back(bell);
  }
  return std::unique_ptr<Subscription>(new Subscription(*this, prefix, std::move(bell)));
}

void Window::unsubscribe(const std::string& prefix, const std::shared_ptr<Bell>& bell) {
  const std::lock_guard lock(mutex_);
  std::erase(rings_.find(prefix)->second.bells, bell);
}

Window::Subscription::Subscription(Window& window, std::string prefix, std::shared_ptr<Bell> bell)
    : window_(window), prefix_(std::move(prefix)), bell_(std::move(bell)) {}

Window::Subscription::~Subscription() {
  window_.unsubscribe(prefix_, bell_);
  const std::lock_guard lock(bell_->mutex);
  bell_->ended = true;
}

}  // namespace muster::watch
