#include "scheduler/preemption_metrics.h"

#include <array>

namespace muster::scheduler {
namespace {

using Answer = PreemptionPlan::Answer;

constexpr std::array kVictims{1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0};
constexpr std::array kGroupVictims{1.0,  2.0,   4.0,   8.0,   16.0,  32.0,
                                   64.0, 128.0, 256.0, 512.0, 1024.0};

}  // namespace

std::string_view status_name(Answer answer) {
  switch (answer) {
    case Answer::Waits:
    case Answer::Preempts: return "Success";
    case Answer::NoVictims: return "UnschedulableAndUnresolvable";
    case Answer::NotEligible:
    case Answer::NotHelpful:
    case Answer::Unresolved: break;
  }
  return "Unschedulable";
}

PreemptionMetrics::PreemptionMetrics(Metrics* metrics) : metrics_(metrics) {
  if (metrics == nullptr) return;
  attempts_ = metrics->counter("scheduler_preemption_attempts_total",
                               "Total preemption attempts in the cluster till now");
  victims_ = metrics->histogram("scheduler_preemption_victims",
                                "Number of selected preemption victims", {}, kVictims);
  group_victims_ =
      metrics->histogram("scheduler_workload_preemption_victims",
                         "Number of selected workload preemption victims", {}, kGroupVictims);
}

void PreemptionMetrics::searched(std::string_view preemptor, const PreemptionPlan& plan) {
  if (metrics_ == nullptr) return;
  const bool is_pod = preemptor == "pod";
  if (is_pod)
    attempts_.add();
  else
    metrics_
        ->counter("scheduler_workload_preemption_attempts_total",
                  "Total workload preemption attempts in the cluster till now, by the result",
                  {{"result", std::string(status_name(plan.answer))}})
        .add();
  if (plan.answer != Answer::Preempts) return;
  (is_pod ? victims_ : group_victims_).observe(static_cast<double>(plan.victim_pods()));
  double groups = 0;
  double violations = 0;
  for (const VictimUnit& unit : plan.victims) {
    groups += unit.group ? 1 : 0;
    for (const VictimUnit::Pod& pod : unit.pods) violations += pod.exceeds.empty() ? 0 : 1;
  }
  const Metrics::Labels labels{{"preemptor", std::string(preemptor)}};
  if (violations > 0)
    metrics_
        ->counter("scheduler_preemption_pdb_violations_total",
                  "Evictions that violate a PodDisruptionBudget, by the kind of the preemptor",
                  labels)
        .add(violations);
  if (groups > 0)
    metrics_
        ->histogram("scheduler_preemption_workload_disruptions",
                    "Groups that one preemption ends as a whole, by the kind of the preemptor",
                    labels, kGroupVictims)
        .observe(groups);
}

}  // namespace muster::scheduler
