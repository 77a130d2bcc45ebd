#pragma once

#include <cstddef>
#include <string>

#include "api/request.h"
#include "server/core/read/paging.h"
#include "server/core/request/selection.h"

namespace muster::server {

// A list while its objects are looked for: a step at a time, since a selector may have to look at
// very many objects to find one.
class ListReading {
 public:
  using Listing = PinnedListings::Listing;
  // Of what stands in the listing from the key `from` on (relative to the selection's prefix),
  // `limit` objects at most; 0: all. `pins` outlives it.
  struct Range {
    std::string from;
    std::size_t limit = 0;
  };
  ListReading(Selection selection, Listing listing, const Range& range, PinnedListings& pins);

  // Looks at the next objects. False once it has looked at all it has to: then answer().
  bool look_on();
  // Call once.
  api::Answer answer();

  // What it keeps besides the objects.
  std::size_t bytes() const {
    return (listing_->objects.size() + list_.items.size()) * sizeof(api::ObjectPtr);
  }

 private:
  std::string relative_key(const api::Object& object) const;
  // What it takes to find out whether an object is selected, in comparisons.
  std::size_t price_of(const api::Object& object) const;

  const Selection selection_;
  const Listing listing_;
  const std::size_t limit_;
  PinnedListings& pins_;
  std::size_t next_ = 0;
  api::ListAnswer list_;
  bool goes_on_ = false;  // there is more than the limit lets through
};

}  // namespace muster::server
