#include "server/core/read/list_reading.h"

#include <algorithm>
#include <utility>

namespace muster::server {
namespace {

// Comparisons before others get their turn: a few milliseconds.
constexpr std::size_t kStep = 50'000;
// So many bytes are searched in the time of a comparison.
constexpr std::size_t kSearched = 64;

}  // namespace

ListReading::ListReading(Selection selection, Listing listing, const Range& range,
                         PinnedListings& pins)
    : selection_(std::move(selection)),
      listing_(std::move(listing)),
      limit_(range.limit > 0 ? range.limit : listing_->objects.size()),
      pins_(pins) {
  list_.revision = listing_->revision;
  if (range.from.empty()) return;
  const auto& objects = listing_->objects;
  const auto first = std::ranges::partition_point(
      objects, [&](const api::ObjectPtr& object) { return relative_key(*object) < range.from; });
  next_ = static_cast<std::size_t>(first - objects.begin());
}

// How tokens call an object: its key without the prefix of the listing.
std::string ListReading::relative_key(const api::Object& object) const {
  const api::ObjectMeta& meta = object.meta();
  return store::make_key(object.kind(), meta.name_space, meta.name)
      .substr(selection_.prefix().size());
}

std::size_t ListReading::price_of(const api::Object& object) const {
  return 1 + selection_.terms() + (selection_.searches() ? object.bytes().size() / kSearched : 0);
}

bool ListReading::look_on() {
  const auto& objects = listing_->objects;
  for (std::size_t spent = 0; next_ < objects.size() && spent < kStep; ++next_) {
    const api::ObjectPtr& object = objects[next_];
    spent += price_of(*object);
    if (!selection_.selects_everything() && !selection_.matches(*object)) continue;
    goes_on_ = list_.items.size() == limit_;
    if (goes_on_) return false;
    list_.items.push_back(object);
  }
  return next_ < objects.size();
}

api::Answer ListReading::answer() {
  if (goes_on_) {
    list_.continue_token =
        ContinueToken{.revision = list_.revision, .start = relative_key(*list_.items.back()) + '\0'}
            .text();
    if (selection_.selects_everything())
      list_.remaining = static_cast<std::int64_t>(listing_->objects.size() - next_);
    if (!pins_.find(selection_.prefix(), list_.revision)) pins_.pin(selection_.prefix(), listing_);
  }
  return {.what = std::move(list_), .warnings = {}};
}

}  // namespace muster::server
