#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/values/label_selector.h"
#include "client/kit/controller.h"

namespace muster::controllers {

// Keeps the status of PodDisruptionBudgets true: how many of their pods are healthy, how many must
// be, and so how many may be disrupted now. The eviction subresource spends what is written here.
class Disruption final : public client::Controller {
 public:
  explicit Disruption(client::ComponentContext context);

 private:
  // The counts of a budget, as they stand in its status.
  struct Counts {
    std::int64_t expected = 0;
    std::int64_t desired = 0;
    std::int64_t healthy = 0;
    std::int64_t allowed = 0;
  };
  using Pods = std::vector<api::ObjectPtr>;

  static std::vector<Watch> watches(Disruption& self);
  Keys on_budget(const Change& change);
  Keys budgets_that_select(const Change& pod) const;
  Keys budgets_beside(const Change& change) const;

  void reconcile(const std::string& key, Time now) override;
  std::int64_t scale_of(const Pods& pods) const;
  std::int64_t replicas_of(const std::string& uid, std::int64_t pods) const;
  api::ObjectPtr find_owner(std::string_view uid) const;
  Counts count(const api::Json& budget, const Pods& pods, const api::JsonObject& disrupted) const;
  // Evictions that have been allowed and not yet begun; sets `next` to when one is given up.
  api::JsonObject still_disrupted(const api::Json& budget, const std::string& name_space, Time now,
                                  std::optional<Time>& next) const;

  client::Mirror budgets_;
  client::Mirror pods_;
  std::array<client::Mirror, 4> owners_;  // what has replicas, one per kind, indexed by uid
  // What each budget selects, by its key; those whose selector cannot be read are missing.
  std::map<std::string, api::LabelSelector> selectors_;
};

}  // namespace muster::controllers
