#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/result.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::server {

// Where a listing goes on: at a snapshot, after a key. Clients carry it as an opaque token.
struct ContinueToken {
  api::Revision revision;  // -1: the newest
  std::string start;       // the first key that has not been listed, relative to the prefix

  std::string text() const;
  // BadRequest if it is not one of ours.
  static Result<ContinueToken> parse(std::string_view text);
};

// The token an Expired answer carries: the same place, in the newest state. Empty for a bad token.
std::string renewed_token(std::string_view token);

// Listings that clients are paging through, so that all their pages show one state. Objects never
// change, so a pinned listing costs only pointers while the store or the window holds its objects
// too: end_outdated() ends those for which the window has lost a change. Beyond the limits the
// least recently used ones go. Any thread may use it.
class PinnedListings {
 public:
  struct Limits {
    std::size_t listings = 64;
    std::size_t objects = 2'000'000;  // over all listings
  };
  using Listing = std::shared_ptr<const store::Store::Listing>;

  PinnedListings() = default;
  explicit PinnedListings(Limits limits) : limits_(limits) {}

  void pin(const std::string& prefix, Listing listing);
  // Null if it was let go.
  Listing find(const std::string& prefix, api::Revision revision);
  // Drops the listings whose later changes the window no longer has in full: replaced objects would
  // be kept for them alone.
  void end_outdated(const watch::Window& window);

 private:
  struct Pin {
    std::string prefix;
    Listing listing;
  };
  const Limits limits_;
  std::mutex mutex_;
  std::list<Pin> pins_;  // under mutex_; most recently used first
  std::size_t objects_ = 0;
};

}  // namespace muster::server
