// The metrics of kube-scheduler that have a meaning here, as its dashboards and alerts expect them:
// name, type, labels and buckets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption_metrics.h"
#include "scheduler/scheduler_metrics.h"
#include "scheduler/scheduler_series.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct Buckets {
  double first = 0;
  double factor = 0;
  int count = 0;  // 0: no histogram
};

struct Served {
  std::string type;
  std::set<std::string> labels;
  std::vector<std::string> bounds = {};  // without +Inf
};

struct Wanted {
  std::string name;  // without scheduler_
  std::string type;
  std::set<std::string> labels;
  Buckets buckets = {};
};

const std::vector<Wanted>& wanted() {
  static const std::vector<Wanted> kWanted{
      {"podgroup_schedule_attempts_total", "counter", {"result", "profile"}},
      {"podgroup_scheduling_attempt_duration_seconds",
       "histogram",
       {"result", "profile"},
       {0.001, 2, 15}},
      {"podgroup_scheduling_algorithm_duration_seconds", "histogram", {}, {0.001, 2, 15}},
      {"generated_placements_total", "counter", {"profile"}},
      {"placement_evaluations_total", "counter", {"result", "profile"}},
      {"placement_evaluation_duration_seconds", "histogram", {"result", "profile"}, {0.001, 2, 15}},
      {"workload_preemption_attempts_total", "counter", {"result"}},
      {"workload_preemption_victims", "histogram", {}, {1, 2, 11}},
      {"preemption_workload_disruptions", "histogram", {"preemptor"}, {1, 2, 11}},
      {"preemption_evaluation_duration_seconds",
       "histogram",
       {"preemptor", "result"},
       {0.001, 2, 16}},
      {"preemption_execution_duration_seconds",
       "histogram",
       {"preemptor", "result"},
       {0.001, 2, 16}},
      {"preemption_pdb_violations_total", "counter", {"preemptor"}},
      {"queued_entities", "gauge", {"queue", "type"}},
      {"queue_incoming_entities_total", "counter", {"queue", "event", "type"}},
      {"pending_pods", "gauge", {"queue"}},
      {"queue_incoming_pods_total", "counter", {"queue", "event"}},
      {"schedule_attempts_total", "counter", {"result", "profile"}},
      {"scheduling_attempt_duration_seconds", "histogram", {"result", "profile"}, {0.001, 2, 15}},
      {"scheduling_algorithm_duration_seconds", "histogram", {}, {0.001, 2, 15}},
      {"pod_scheduling_sli_duration_seconds", "histogram", {"attempts"}, {0.01, 2, 20}},
      {"pod_scheduling_attempts", "histogram", {}, {1, 2, 5}},
      {"framework_extension_point_duration_seconds",
       "histogram",
       {"extension_point", "status", "profile"},
       {0.0001, 2, 12}},
      {"plugin_evaluation_total", "counter", {"plugin", "extension_point", "profile"}},
      {"permit_wait_duration_seconds", "histogram", {"result"}, {0.001, 2, 15}},
      {"preemption_victims", "histogram", {}, {1, 2, 7}},
      {"preemption_attempts_total", "counter", {}},
      {"preemption_goroutines_duration_seconds", "histogram", {"result"}, {0.01, 2, 20}},
      {"preemption_goroutines_execution_total", "counter", {"result"}},
      {"unschedulable_pods", "gauge", {"plugin", "profile"}},
      {"cache_size", "gauge", {"type"}},
      {"goroutines", "gauge", {"operation"}},
      {"inflight_events", "gauge", {"event"}},
      {"event_handling_duration_seconds", "histogram", {"event"}, {0.0001, 2, 12}},
      {"queueing_hint_execution_duration_seconds",
       "histogram",
       {"plugin", "event", "hint"},
       {0.00001, 2, 12}},
      {"pod_scheduled_after_flush_total", "counter", {}},
      // The names of KEP-5732 and KEP-6012.
      {"placement_total", "counter", {"profile"}},
      {"pending_entities", "gauge", {"queue", "type"}},
  };
  return kWanted;
}

// What a page of metrics serves, by name.
std::map<std::string, Served> read(const std::string& page) {
  std::map<std::string, Served> served;
  std::istringstream lines(page);
  std::string line;
  Served* current = nullptr;
  while (std::getline(lines, line)) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name;
      std::string type;
      words >> name >> type;
      current = &served[name];
      current->type = type;
    }
    if (line.starts_with("#") || current == nullptr) continue;
    std::size_t at = line.find('{');
    while (at != std::string::npos && line[at] != '}') {
      const std::size_t equals = line.find('=', at);
      const std::size_t end = line.find('"', equals + 2);
      const std::string label = line.substr(at + 1, equals - at - 1);
      const std::string value = line.substr(equals + 2, end - equals - 2);
      if (label != "le")
        current->labels.insert(label);
      else if (value != "+Inf" && !std::ranges::count(current->bounds, value))
        current->bounds.push_back(value);
      at = end + 1;
    }
  }
  return served;
}

// A scheduler that has met everything it counts.
std::string page_of_a_busy_scheduler() {
  Metrics metrics;
  std::chrono::nanoseconds time{};
  testing::World world({.metrics = &metrics, .stopwatch = [&time] { return time += seconds{1}; }});
  world.node("n1", {.cpu = "2"});
  world.pod("low", {.cpu = "2", .priority = 0, .node = "n1", .phase = "Running"});
  world.synced();
  world.pod("big", {.cpu = "64", .priority = 0});
  world.gang("g", 2);
  for (const char* member : {"g0", "g1"}) world.pod(member, {.cpu = "1", .group = "g"});
  world.settle();
  world.pod("high", {.cpu = "1", .priority = 10});
  world.settle();
  world.delete_pod("low");
  world.settle();
  for (int i = 0; i < 100; ++i) world.node("n1", {.cpu = std::to_string(2 + i % 2)});
  world.now += minutes{1};
  world.run();
  // What needs more of a cluster than this one.
  PreemptionPlan plan;
  plan.answer = PreemptionPlan::Answer::Preempts;
  VictimUnit unit;
  unit.group = GroupKey{GroupKind::PodGroup, "ns", "victim"};
  unit.pods.push_back({.pod = testing::pod_object("v", {}), .node = "n1", .exceeds = "budget"});
  plan.victims.push_back(unit);
  PreemptionMetrics(&metrics).searched("podgroup", plan);
  SchedulerMetrics(&metrics, default_profile(), {}).waited_for_permit(true, seconds{1});
  return metrics.text();
}

TEST(MetricsList, IsUpstreams) {
  const std::map<std::string, Served> served = read(page_of_a_busy_scheduler());
  for (const Wanted& want : wanted()) {
    SCOPED_TRACE(want.name);
    const auto at = served.find("scheduler_" + want.name);
    ASSERT_NE(at, served.end()) << "is not served";
    EXPECT_EQ(at->second.type, want.type);
    EXPECT_EQ(at->second.labels, want.labels);
    std::vector<double> bounds;
    for (const std::string& bound : at->second.bounds) bounds.push_back(std::stod(bound));
    const Buckets& buckets = want.buckets;
    const std::vector<double> expected =
        buckets.count == 0 ? std::vector<double>{}
                           : exponential_buckets(buckets.first, buckets.factor, buckets.count);
    ASSERT_EQ(bounds.size(), expected.size());
    for (std::size_t i = 0; i < bounds.size(); ++i)
      EXPECT_NEAR(bounds[i], expected[i], expected[i] * 1e-9);
  }
}

TEST(MetricsList, IsWhole) {
  std::set<std::string> known;
  for (const Wanted& want : wanted()) known.insert("scheduler_" + want.name);
  for (const auto& [name, served] : read(page_of_a_busy_scheduler()))
    EXPECT_TRUE(known.contains(name) || !name.starts_with("scheduler_"))
        << name << " is served and not listed here";
}

}  // namespace
}  // namespace muster::scheduler
