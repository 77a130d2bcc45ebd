#include "server/core/write/namespace_feeds.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::server {
namespace {

// Without what is the same before and after.
api::Quantities difference(const NamespaceFeeds::Use& use, const api::Kind& kind,
                           const api::Object* before, const api::Object* after) {
  api::Quantities more;
  if (before != nullptr) more = use(kind, *before);
  for (auto& [name, amount] : more) amount = -amount;
  if (after != nullptr) api::add_to(more, use(kind, *after));
  std::erase_if(more, [](const auto& entry) { return entry.second.is_zero(); });
  return more;
}

std::size_t memory_of(const UseChange& change) {
  constexpr std::size_t kText = 32;  // around a text that is allocated
  std::size_t bytes = sizeof(change) + kText + change.name.size();
  for (const auto& entry : change.more) bytes += sizeof(entry) + kText + entry.first.size();
  return bytes;
}

}  // namespace

NamespaceFeeds::NamespaceFeeds(store::Store& store) {
  store.listen([this](std::span<const store::Change> changes) { on_changes(changes); });
}

NamespaceFeeds::~NamespaceFeeds() { CHECK(open_.empty()); }

bool NamespaceFeeds::is_open(const std::string& name_space) const {
  const std::lock_guard lock(mutex_);
  return open_.contains(name_space);
}

std::unique_ptr<NamespaceFeeds::Feed> NamespaceFeeds::open(const std::string& name_space,
                                                           std::vector<const api::Kind*> kinds,
                                                           Use use) {
  auto asked = std::make_shared<const Asked>(Asked{std::move(kinds), std::move(use)});
  const std::lock_guard lock(mutex_);
  CHECK(open_.emplace(name_space, Open{.asked = std::move(asked), .changes = {}}).second);
  has_any_ = true;
  return std::make_unique<Feed>(*this, name_space);
}

// Documents are read without the mutex: the registry must not wait for it.
void NamespaceFeeds::on_changes(std::span<const store::Change> changes) {
  if (!has_any_) return;
  std::size_t read = 0;
  for (const store::Change& change : changes) {
    const bool goes = change.type == store::Change::Type::Deleted;
    const api::Object& known = change.previous != nullptr ? *change.previous : *change.object;
    const std::shared_ptr<const Asked> asked = asked_about(known.meta().name_space);
    if (asked == nullptr) continue;
    const auto kind =
        std::ranges::find(asked->kinds, known.kind().store_prefix, &api::Kind::store_prefix);
    if (kind == asked->kinds.end()) continue;
    const api::Object* const before = change.previous.get();
    const api::Object* const after = goes ? nullptr : change.object.get();
    for (const api::Object* object : {before, after})
      if (object != nullptr) read += object->bytes().size();
    std::optional<UseChange> use;
    if (read <= kReadMax)
      use = {.kind = *kind,
             .name = known.meta().name,
             .more = difference(asked->use, **kind, before, after),
             .revision = change.revision};
    if (!use || !use->more.empty())
      append_change(known.meta().name_space, asked.get(), std::move(use));
  }
}

std::shared_ptr<const NamespaceFeeds::Asked> NamespaceFeeds::asked_about(
    const std::string& name_space) const {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(name_space);
  return at == open_.end() || at->second.lost ? nullptr : at->second.asked;
}

// Nothing: it was too much to be read. The count that asked may be gone by now, and another there,
// who will read what the change has made.
void NamespaceFeeds::append_change(const std::string& name_space, const Asked* asked,
                                   std::optional<UseChange> change) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(name_space);
  if (at == open_.end() || at->second.asked.get() != asked) return;
  Open& open = at->second;
  if (change) open.bytes += memory_of(*change);
  open.lost = open.lost || !change || open.bytes > kBytesMax;
  if (open.lost)
    open.changes = {};
  else
    open.changes.push_back(*std::move(change));
}

NamespaceFeeds::Feed::~Feed() {
  const std::lock_guard lock(feeds_.mutex_);
  feeds_.open_.erase(name_space_);
  feeds_.has_any_ = !feeds_.open_.empty();
}

std::optional<std::vector<UseChange>> NamespaceFeeds::Feed::drain() {
  const std::lock_guard lock(feeds_.mutex_);
  Open& open = feeds_.open_.at(name_space_);
  if (open.lost) return std::nullopt;
  open.bytes = 0;
  return std::exchange(open.changes, {});
}

}  // namespace muster::server
