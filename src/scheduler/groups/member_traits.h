#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/framework/entity.h"

namespace muster::scheduler {

// What the live members of every pod group ask for, counted: pods that wait, pods with a node, and
// pods that other schedulers look after. So a tree can be asked whether its members agree
// without looking at each.
class TraitsBook {
 public:
  // A pod changed from `before` to `after`; null: there was none, or is none. Lone pods and those
  // that have ended do not count. True if what members of a group ask for is something else now,
  // not only asked for by more or fewer of them.
  bool change(const api::Object* before, const api::Object* after);

  // Each combination once.
  std::vector<MemberTraits> of(std::string_view name_space, std::string_view group) const;
  // Whether all members say the same, and the same as the root above them.
  bool agree(const GroupKey& group, const GroupSpec& root) const;
  std::size_t groups() const { return groups_.size(); }

 private:
  using Counts = std::map<MemberTraits, std::int64_t>;
  bool count(const api::Object& pod, std::int64_t change);

  std::map<GroupKey, Counts> groups_;
};

}  // namespace muster::scheduler
