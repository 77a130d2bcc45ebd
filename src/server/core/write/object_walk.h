#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/object.h"
#include "server/core/write/staging.h"

namespace muster::server {

// Bytes that a slice may scan for a field; unlike those it changes (kSliceBytes) they are not
// parsed.
inline constexpr std::size_t kSliceSearch = std::size_t{4} << 20U;

// Goes through the objects below a prefix that existed when the walk began, in key order, each in
// its state when it is reached. A request that waits for its turn in the middle of a walk keeps no
// object alive, and no step looks at more than a few objects however many there are: the walk holds
// the keys of the next few hundred and finds its place again by the last of them. Objects that were
// created later are recognized by their revision. Belongs to the registry's thread.
class ObjectWalk {
 public:
  explicit ObjectWalk(std::string prefix) : prefix_(std::move(prefix)) {}

  bool done() const { return next_ == keys_.size() && !more_; }
  // The next object. Null if it is gone, if it was created since the walk began, or if there is no
  // next.
  api::ObjectPtr next(Staging& staging);
  // For tests: how many keys it knows in advance.
  std::size_t held() const { return keys_.size(); }

 private:
  static constexpr std::size_t kKeysMax = 256;

  void find_keys(Staging& staging);

  const std::string prefix_;
  bool begun_ = false;
  api::Revision began_at_;
  std::vector<std::string> keys_;  // those that come next
  std::size_t next_ = 0;
  bool more_ = true;  // there may be more than keys_
};

}  // namespace muster::server
