#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/framework/draft.h"
#include "scheduler/framework/preemption_plan.h"
#include "scheduler/framework/standing.h"
#include "scheduler/groups/disruption_budgets.h"
#include "scheduler/preemption/unit_table.h"

namespace muster::scheduler {

// Keeps a standing that looks beyond single nodes true while a draft moves pods.
class StandingFollower final : public Draft::Listener {
 public:
  explicit StandingFollower(Standing& standing) : standing_(standing) {}
  void applied(const Draft::Move& move) override { on_move(move, Draft::Move::Kind::Place); }
  void undone(const Draft::Move& move) override { on_move(move, Draft::Move::Kind::Remove); }

 private:
  void on_move(const Draft::Move& move, Draft::Move::Kind comes) {
    if (!standing_.follows_moves()) return;
    if (move.kind == comes)
      standing_.placed(*move.pods, move.node);
    else
      standing_.removed(*move.pods, move.node);
  }
  Standing& standing_;
};

// Which of some units violate disruption budgets if all of them go, counted from the most important
// on, as upstream counts.
struct Violations {
  std::vector<std::vector<std::string>> exceeded;  // by index in `units`: by pod; empty: none

  Violations(const UnitTable& table, const DisruptionBudgets& budgets,
             std::span<const std::uint32_t> units);
  bool any(std::size_t index) const { return !exceeded[index].empty(); }
  std::int64_t count(std::size_t index) const;
};

// The unit as a plan names it.
VictimUnit victim_of(const UnitTable& table, const Cluster& cluster, std::uint32_t unit,
                     const std::vector<std::string>& exceeded);

}  // namespace muster::scheduler
