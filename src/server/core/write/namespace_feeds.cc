#include "server/core/write/namespace_feeds.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::server {

NamespaceFeeds::NamespaceFeeds(store::Store& store) {
  store.listen([this](std::span<const store::Change> changes) { on_changes(changes); });
}

NamespaceFeeds::~NamespaceFeeds() { CHECK(open_.empty()); }

bool NamespaceFeeds::is_open(const std::string& name_space) const {
  const std::lock_guard lock(mutex_);
  return open_.contains(name_space);
}

std::unique_ptr<NamespaceFeeds::Feed> NamespaceFeeds::open(
    const std::string& name_space, const std::vector<const api::Kind*>& kinds) {
  Open opened;
  for (const api::Kind* kind : kinds) opened.prefixes.push_back(kind->store_prefix);
  const std::lock_guard lock(mutex_);
  CHECK(open_.emplace(name_space, std::move(opened)).second);
  has_any_ = true;
  return std::make_unique<Feed>(*this, name_space);
}

void NamespaceFeeds::on_changes(std::span<const store::Change> changes) {
  if (!has_any_) return;
  const std::lock_guard lock(mutex_);
  for (const store::Change& change : changes) {
    const bool goes = change.type == store::Change::Type::Deleted;
    const api::Object& known = change.previous != nullptr ? *change.previous : *change.object;
    const auto at = open_.find(known.meta().name_space);
    if (at == open_.end()) continue;
    if (std::ranges::find(at->second.prefixes, known.kind().store_prefix) ==
        at->second.prefixes.end())
      continue;
    keep(at->second,
         {.before = change.previous,
          .after = goes ? nullptr : change.object,
          .revision = change.revision},
         store::memory_held_by(change));
  }
}

void NamespaceFeeds::keep(Open& open, ObjectChange change, std::size_t bytes) {
  if (open.lost) return;
  open.bytes += bytes;
  open.lost = open.bytes > kBytesMax;
  if (open.lost)
    open.changes = {};
  else
    open.changes.push_back(std::move(change));
}

NamespaceFeeds::Feed::~Feed() {
  const std::lock_guard lock(feeds_.mutex_);
  feeds_.open_.erase(name_space_);
  feeds_.has_any_ = !feeds_.open_.empty();
}

std::optional<std::vector<ObjectChange>> NamespaceFeeds::Feed::drain() {
  const std::lock_guard lock(feeds_.mutex_);
  Open& open = feeds_.open_.at(name_space_);
  if (open.lost) return std::nullopt;
  open.bytes = 0;
  return std::exchange(open.changes, {});
}

}  // namespace muster::server
