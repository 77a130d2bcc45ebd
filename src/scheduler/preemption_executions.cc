#include "scheduler/preemption_executions.h"

#include <chrono>
#include <utility>

#include "scheduler/scheduler_series.h"

namespace muster::scheduler {

void PreemptionExecutions::started(std::string_view preemptor, const std::set<std::string>& victims,
                                   Time now) {
  if (metrics_ == nullptr || victims.empty()) return;
  const std::uint64_t id = ++last_id_;
  executions_.emplace(
      id, Execution{.preemptor = std::string(preemptor), .since = now, .victims = victims.size()});
  for (const std::string& uid : victims) by_victim_[uid].push_back(id);
}

void PreemptionExecutions::ended(std::string_view uid, bool has_failed, Time now) {
  const auto at = by_victim_.find(std::string(uid));
  if (at == by_victim_.end()) return;
  const std::vector<std::uint64_t> ids = std::move(at->second);
  by_victim_.erase(at);
  for (const std::uint64_t id : ids) {
    const auto execution = executions_.find(id);
    execution->second.has_failed |= has_failed;
    if (--execution->second.victims > 0) continue;
    observe(execution->second, now);
    executions_.erase(execution);
  }
}

// Upstream's older names count the goroutines that do this there.
void PreemptionExecutions::observe(const Execution& execution, Time now) {
  const double seconds = std::chrono::duration<double>(now - execution.since).count();
  const std::string result = execution.has_failed ? "error" : "success";
  metrics_
      ->histogram("scheduler_preemption_execution_duration_seconds",
                  "How long it took to evict the victims of a preemption.",
                  {{"preemptor", execution.preemptor}, {"result", result}},
                  exponential_buckets(0.001, 2, 16))
      .observe(seconds);
  metrics_
      ->histogram("scheduler_preemption_goroutines_duration_seconds",
                  "How long it took to evict the victims of a preemption.", {{"result", result}},
                  exponential_buckets(0.01, 2, 20))
      .observe(seconds);
  metrics_
      ->counter("scheduler_preemption_goroutines_execution_total",
                "Preemptions that were carried out, by the result.", {{"result", result}})
      .add();
}

}  // namespace muster::scheduler
