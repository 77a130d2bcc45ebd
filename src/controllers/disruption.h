#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/component.h"
#include "client/kit/work_queue.h"
#include "controllers/calls.h"

namespace muster::controllers {

// Keeps the status of PodDisruptionBudgets true: how many of their pods are healthy, how many must
// be, and so how many may be disrupted now. The eviction subresource spends what is written here.
class Disruption {
 public:
  explicit Disruption(client::Send send);

  static std::vector<const api::Kind*> watched_kinds();

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;

 private:
  struct Budget {
    api::ObjectPtr object;
    bool asked = false;
    Duration backoff{};
  };
  // The counts of a budget, as they stand in its status.
  struct Counts {
    std::int64_t expected = 0;
    std::int64_t desired = 0;
    std::int64_t healthy = 0;
    std::int64_t allowed = 0;
  };
  using Objects = std::map<std::string, api::ObjectPtr>;  // by name

  void see(const client::Event& event);
  void look_again(const std::string& name_space);
  void take_in_outcome(const client::Called& called, Time now);
  void decide(const std::string& key, Time now);
  std::int64_t scale_of(const std::vector<api::ObjectPtr>& pods) const;
  std::int64_t replicas_of(const std::string& uid, std::int64_t pods) const;
  Counts count(const api::Json& budget, const std::vector<api::ObjectPtr>& pods,
               const api::JsonObject& disrupted) const;
  // Evictions that have been allowed and not yet begun; sets `next` to when one is given up.
  api::JsonObject still_disrupted(const api::Json& budget, const std::string& name_space, Time now,
                                  std::optional<Time>& next) const;

  Calls<std::string> calls_;  // about a budget
  bool started_ = false;
  std::map<std::string, Objects> pods_;           // by namespace
  std::map<std::string, Budget> budgets_;         // by namespace/name
  std::map<std::string, api::ObjectPtr> owners_;  // what has replicas, by uid
  client::WorkQueue work_;
};

}  // namespace muster::controllers
