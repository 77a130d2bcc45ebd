#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "server/core/write/staging.h"

namespace muster::server {

// Bytes that a slice may scan for a field; unlike those it changes (kSliceBytes) they are not
// parsed.
inline constexpr std::size_t kSliceSearch = std::size_t{4} << 20U;

// Goes through the objects below a prefix that existed when the walk began, in key order, each in
// its state when it is reached. A request that waits for its turn in the middle of a walk keeps no
// replaced object alive: it holds the names of the next few thousand, and a mark of 8 bytes for
// each of the others. Belongs to the registry's thread.
class ObjectWalk {
 public:
  explicit ObjectWalk(std::string prefix) : prefix_(std::move(prefix)) {}

  bool done() const { return next_ == names_.size() && !more_; }
  // The next object. Null if it is gone or another now has its name, or if there is no next.
  api::ObjectPtr next(Staging& staging);
  // What the walk holds on to, for tests.
  std::size_t held_bytes() const;

 private:
  struct Name {
    std::uint64_t mark = 0;  // of the object's uid
    std::size_t end = 0;     // in text_
  };
  void find_names(Staging& staging);
  bool was_there(std::uint64_t mark) const;
  // A key without the prefix.
  std::string_view name(std::size_t at) const;

  const std::string prefix_;
  // The names that come next.
  std::string text_;
  std::vector<Name> names_;
  std::size_t next_ = 0;
  std::string last_;  // the one looked at last; empty: none
  bool begun_ = false;
  bool more_ = true;                  // there may be more than names_
  std::vector<std::uint64_t> there_;  // marks of all, sorted, if there was more than names_
};

}  // namespace muster::server
