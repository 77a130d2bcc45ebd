#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/object.h"

namespace muster::api {

// The current state of a group.
struct GroupCounts {
  // Pods of a PodGroup without failed and terminating ones; child groups of a composite.
  std::int64_t members = 0;
  // Those that have a node or have succeeded; child groups whose own minimum is met.
  std::int64_t scheduled = 0;
  std::string domains = {};  // where it runs, by its topology key: mostly one
  std::string held_by = {};  // what keeps it from going once it is deleted; empty: nothing
};
// Answers that, because objects do not say it. Any thread.
class GroupCounter {
 public:
  virtual ~GroupCounter() = default;
  virtual std::optional<GroupCounts> count(
      const Object& group) const = 0;  // nullopt: not known now
};

}  // namespace muster::api
