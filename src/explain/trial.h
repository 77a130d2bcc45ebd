#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/explanation.h"
#include "explain/objects.h"
#include "explain/tree.h"

namespace muster::explain {

// What may still be spent on trying things; counted, never timed.
struct Budget {
  std::uint64_t attempts = 0;
  std::uint64_t steps = 0;

  bool is_spent() const { return attempts == 0 || steps == 0; }
  void charge(const scheduler::Plan& plan) {
    attempts -= attempts == 0 ? 0 : 1;
    steps -= plan.steps < steps ? plan.steps : steps;
  }
};

// What was asked about, as something that can be placed: a group, or a pod without one.
struct Target {
  std::optional<scheduler::GroupKey> group;
  api::ObjectPtr lone_pod;
};

// Asks whether the target would fit if this or that were different. Every answer is an attempt.
class Trial {
 public:
  Trial(scheduler::ClusterModel& model, Target target, const Tree* tree, Budget budget)
      : model_(model), target_(std::move(target)), tree_(tree), budget_(budget) {}

  scheduler::ClusterModel& model() { return model_; }
  const Target& target() const { return target_; }
  std::int32_t priority() const;
  // The budget is used up: nothing fits any more, whatever the truth.
  bool is_spent() const { return budget_.is_spent(); }

  // The domain it would be placed in (empty without a topology key); nullopt if it does not fit.
  std::optional<std::string> fits(const Edits& edits);

  // The groups of the tree that are in the way, what was asked about first; none for a lone pod.
  std::vector<const Level*> obstacles() const;
  // The PodGroup to look at for room: one that finds no place. Null for a lone pod.
  const Level* tightest_leaf() const;
  // Groups of nodes among which room would help, the closest to enough first: the nodes of one
  // domain each, or all nodes. At most `max`.
  struct Place {
    std::string domain;  // "rack r3"; empty: anywhere
    std::vector<api::ObjectPtr> nodes;
  };
  std::vector<Place> places(std::size_t max);

  // Leaves out what is not needed: the result fits and is small, though not always the smallest.
  // `parts` together must fit.
  std::vector<Edits> essential(std::vector<Edits> parts);

 private:
  std::optional<std::string> attempt();
  std::vector<std::string> domains_to_try(const Level& leaf,
                                          const std::vector<api::ObjectPtr>& nodes,
                                          std::size_t max) const;

  scheduler::ClusterModel& model_;
  Target target_;
  const Tree* tree_;
  Budget budget_;
};

// All parts in one list.
Edits joined(const std::vector<Edits>& parts);

}  // namespace muster::explain
