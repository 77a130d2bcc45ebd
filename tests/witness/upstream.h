#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "twin/naive_scheduler.h"
#include "witness/case.h"

namespace muster::scheduler::witness {

// The plan that upstream's order gives, one object at a time: groups and pods as they come, the
// best node for each pod, the best placement for each group, nothing revisited. Where upstream
// leaves it to chance, the first name wins. One documented exception is built in: a placement that
// holds all members beats one that holds fewer (L5).
class UpstreamOrder {
 public:
  explicit UpstreamOrder(const Objects& objects);

  // Whether the root met its minimum; the pods by name with their nodes, and the groups that met
  // theirs.
  bool run();
  const std::map<std::string, std::string>& placed() const { return placed_; }
  const std::set<std::string>& ready() const { return ready_; }

 private:
  using Names = std::set<std::string>;
  struct Trial {
    bool succeeded = false;
    std::map<std::string, std::string> placed;  // pods of this group's subtree
    std::map<std::string, api::ObjectPtr> pods;
    std::set<std::string> ready;
  };

  Trial evaluate(const Group& group, const Names& within);
  Trial try_in(const Group& group, const Names& nodes);
  Trial try_leaf(const Group& group, const Names& nodes);
  Trial try_composite(const Group& group, const Names& nodes);
  std::map<std::string, Names> placements(const Group& group, const Names& within) const;
  std::optional<std::string> best_node(const api::Object& pod, const Names& nodes);
  std::int64_t fullness(const Group& group, const Names& nodes) const;
  std::int64_t held(const Group& group) const;
  void assume(const Trial& trial);
  void forget(const Trial& trial);

  const Objects& objects_;
  twin::NaiveScheduler naive_;
  std::map<std::string, api::ObjectPtr> nodes_;
  std::map<std::string, std::string> placed_;
  std::set<std::string> ready_;
};

}  // namespace muster::scheduler::witness
