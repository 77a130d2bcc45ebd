#pragma once

#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/framework/plan.h"

namespace muster::scheduler {

// Messages for the refused pods of large trees that are still to be reported. Reporting takes
// longer than the attempt, so it is done in slices, and other work gets its turn between them. A
// message belongs to one attempt: it is dropped once something newer was reported about the pod, or
// the pod no longer waits.
class RefusalWords {
 public:
  static constexpr std::size_t kAtOnce = 1'000;  // as many are said in one go
  static constexpr std::size_t kSlice = 256;     // of more than those
  // As many pods of a tree get events; the recorder drops what is beyond its queue anyway.
  static constexpr std::size_t kEventsMax = 1'000;

  struct Word {
    api::ObjectPtr pod;
    Outcome outcome = Outcome::Unschedulable;
    WaitsFor waits_for = WaitsFor::Node;
    std::shared_ptr<const std::string> message;
    bool with_group = false;  // the pod fails with its group
    bool has_event = false;
  };

  // They replace what an earlier attempt at the tree has left unreported.
  void add(const GroupKey& root, std::span<const Refusal> refusals, bool with_group);
  // The pod has a node by now, is gone, or something newer was reported about it.
  void overtaken(std::string_view uid) {
    if (!trees_.empty()) overtaken_.emplace(uid);
  }
  // The next slice, the trees in the order in which they came.
  std::vector<Word> next();
  bool empty() const { return trees_.empty(); }

 private:
  struct Tree {
    GroupKey root;
    std::vector<Word> words;
    std::size_t said = 0;
  };

  std::deque<Tree> trees_;
  boost::unordered_flat_set<std::string> overtaken_;  // by uid, while there are trees
};

}  // namespace muster::scheduler
