#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/ahead.h"
#include "explain/explanation.h"
#include "explain/group_domains.h"
#include "explain/objects.h"
#include "explain/target.h"
#include "explain/tree.h"

namespace muster::explain {

// Asks whether the target would fit if this or that were different. Every answer is an attempt,
// made after those before it in the queue (only the first ones if there are very many) have taken
// what they need.
class Trial {
 public:
  Trial(scheduler::ClusterModel& model, Target target, const Tree* tree, Budget budget,
        Naming naming = {})
      : model_(model),
        target_(std::move(target)),
        tree_(tree),
        budget_(std::move(budget)),
        naming_(std::move(naming)),
        before_(those_before(model, target_, naming_)) {}

  scheduler::ClusterModel& model() { return model_; }
  const Target& target() const { return target_; }
  const Naming& naming() const { return naming_; }
  std::int32_t priority() const;
  // How many of those before it are not planned, because there are too many.
  std::size_t unplanned_before() const { return before_.left_out; }
  // The budget is used up: every answer is "does not fit" from now on.
  bool is_spent() const { return budget_.is_spent(); }

  // Those that come first and take its room; empty if it fits after them, or not even alone.
  std::vector<std::string> in_the_way();

  // The domain it would be placed in (empty without a topology key); nullopt if it does not fit.
  // The edits change only its own tree, so those before it fare as they do now.
  std::optional<std::string> fits(const Edits& edits);
  // The same for edits that make room: those before it may find some, too.
  std::optional<std::string> fits_in_room(const Edits& edits);

  // The same without edits, if plugins named no placements for its tree.
  std::optional<std::string> fits_without_placements();

  // The groups of the tree whose spec could be changed, what was asked about first.
  std::vector<const Level*> changeable() const;

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

  // Leaves out unneeded edits from those that make room: the result fits and is small, though not
  // always the smallest. `parts` together must fit.
  std::vector<Edits> essential(std::vector<Edits> parts);

 private:
  std::optional<std::string> attempt();
  const Queue& queue();
  std::vector<std::string> domains_to_try(const Level& leaf, const GroupDomains& domains,
                                          const std::vector<api::ObjectPtr>& nodes,
                                          std::size_t max) const;

  scheduler::ClusterModel& model_;
  Target target_;
  const Tree* tree_;
  Budget budget_;
  const Naming naming_;
  const Before before_;
  bool ignores_placements_ = false;
  std::optional<Queue> queue_;  // of those before it, as things are; made when first needed
};

// The group's running and finished members are as many as it needs: nothing is left to place.
// Groups deeper than any valid tree count as holding nothing.
bool holds_minimum(const scheduler::ClusterModel& model, const scheduler::GroupKey& key,
                   std::size_t levels = scheduler::kTreeDepthMax);

// All parts in one list.
Edits joined(const std::vector<Edits>& parts);

}  // namespace muster::explain
