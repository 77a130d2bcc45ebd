#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/kit/controller.h"
#include "controllers/budget_ledger.h"

namespace muster::controllers {

// Keeps the status of PodDisruptionBudgets true: how many of their pods are healthy, how many must
// be, and so how many may be disrupted now. The eviction subresource spends what is written here.
//
// Pods are counted by a ledger for each namespace with budgets, when its own key ("namespace/") is
// looked at; that makes the budgets due whose counts have changed. The cost of a look at a budget
// depends on its size and on how many made its pods, not on how many pods it selects.
class Disruption final : public client::Controller {
 public:
  explicit Disruption(client::ComponentContext context);

 private:
  // The counts of a budget, as in its status.
  struct Counts {
    std::int64_t expected = 0;
    std::int64_t desired = 0;
    std::int64_t healthy = 0;
    std::int64_t allowed = 0;
    bool known = true;  // otherwise nothing may be disrupted
  };
  // What an object with replicas says.
  struct Scale {
    std::int64_t generation = 0;
    std::int64_t replicas = 0;
    std::string above = {};  // uid of its controller
  };

  static std::vector<Watch> watches(Disruption& self);
  Keys on_budget(const Change& change);
  Keys on_pod(const Change& change);
  Keys on_owner(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void look_at_pods(const std::string& name_space, Time now);
  std::int64_t scale_of(const BudgetLedger::Counts& pods) const;
  Counts count(const api::Json& budget, const BudgetLedger::Counts& pods,
               std::int64_t disrupted) const;
  // Evictions that have been allowed and not yet begun; sets `next` to when one is given up.
  api::JsonObject still_disrupted(const api::Json& budget, const std::string& name_space, Time now,
                                  std::optional<Time>& next) const;

  client::Mirror budgets_;
  client::Mirror pods_;
  std::map<std::string, BudgetLedger, std::less<>> ledgers_;  // by namespace, of those with budgets
  std::map<std::string, Scale, std::less<>> scales_;          // by uid
};

}  // namespace muster::controllers
