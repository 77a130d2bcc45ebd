#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/time.h"
#include "scheduler/framework/plan.h"

namespace muster::sim {

// What the scheduler decided, attempt by attempt, from its plans.
class AttemptLog {
 public:
  void record(const scheduler::Plan& plan, Time now);
  // From here on, counts are those of the next step.
  void begin_step();

  std::uint64_t attempts() const { return attempts_; }          // in this step
  std::uint64_t search_steps() const { return search_steps_; }  // in this step
  std::uint64_t placements() const { return placements_; }      // pods, in this step
  // Attempts in this step at the tree whose root this is, or at a lone pod (by name).
  std::uint64_t attempts_at(const scheduler::GroupKey& root) const;
  std::uint64_t attempts_at_pod(const std::string& name) const;
  // Whether some plan gave the pod a node.
  bool assigned(const std::string& uid) const { return assigned_.contains(uid); }
  // The last verdict on a group; null if it was never tried.
  const scheduler::GroupVerdict* verdict(const scheduler::GroupKey& group) const;
  // All of it as text, from the start: equal for equal runs.
  const std::string& text() const { return text_; }

 private:
  std::uint64_t attempts_ = 0;
  std::uint64_t search_steps_ = 0;
  std::uint64_t placements_ = 0;
  std::map<scheduler::GroupKey, std::uint64_t> by_root_;
  std::map<std::string, std::uint64_t> by_pod_;
  std::map<scheduler::GroupKey, scheduler::GroupVerdict> verdicts_;
  std::set<std::string> assigned_;  // by uid
  std::string text_;
};

}  // namespace muster::sim
