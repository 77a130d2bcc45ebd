#include "scheduler/scheduler_metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/kinds/kind.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr std::string_view kAttempts = R"(scheduler_schedule_attempts_total{profile=)";

api::ObjectPtr pod_object(const std::string& name, const std::string& profile) {
  const auto document = api::parse_json(
      R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-)" + name +
      R"("},"spec":{"schedulerName":")" + profile + R"(","containers":[]}})");
  return api::Object::make(api::kinds::pod(), document->value);
}

class SchedulerMetricsTest : public ::testing::Test {
 protected:
  SchedulerMetricsTest() {
    Profiles profiles(default_profile());
    profiles.add("other", default_profile());
    scheduler_.emplace(&metrics_, profiles, [this] { return time_; });
  }
  PendingPod pending(const std::string& name, const std::string& profile, int attempts) {
    return {.pod = pod_object(name, profile), .attempts = attempts, .queued_at = now_};
  }
  std::string text() const { return metrics_.text(); }

  Time now_{seconds{1'700'000'000}};
  std::chrono::nanoseconds time_{};
  Metrics metrics_;
  std::optional<SchedulerMetrics> scheduler_;
};

TEST_F(SchedulerMetricsTest, FollowsAPodFromItsPlanToItsBinding) {
  const PendingPod pod = pending("a", "other", 3);
  Plan plan;
  plan.assignments.push_back({pod.pod, "n1"});
  SchedulerMetrics::Stopped took{};
  {
    const SchedulerMetrics::Measured measured(*scheduler_, took);
    time_ += milliseconds{3};
  }
  scheduler_->attempted(pod, plan, {.profile = "other", .took = took}, now_ + seconds{5});
  scheduler_->bound(*pod.pod, now_ + seconds{6});
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr(std::string(kAttempts) + R"("other",result="scheduled"} 1)"));
  EXPECT_THAT(seen,
              HasSubstr(std::string(kAttempts) + R"("default-scheduler",result="scheduled"} 0)"));
  EXPECT_THAT(seen, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_count 1\n"));
  EXPECT_THAT(
      seen, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"0.002\"} 0\n"));
  EXPECT_THAT(
      seen, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"0.004\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("scheduler_pod_scheduling_attempts_sum 3\n"));
  EXPECT_THAT(seen,
              HasSubstr(R"(scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="3"} 6)"));
  EXPECT_THAT(seen, HasSubstr(R"(le="5242.88"})")) << "twenty buckets from ten milliseconds on";
}

TEST_F(SchedulerMetricsTest, CountsPodsThatNoEventCalledFor) {
  for (const bool is_flushed : {true, false}) {
    const PendingPod pod = pending(is_flushed ? "a" : "b", "other", 1);
    Plan plan;
    plan.assignments.push_back({pod.pod, "n1"});
    scheduler_->attempted(pod, plan, {.profile = "other", .is_flushed = is_flushed}, now_);
    scheduler_->bound(*pod.pod, now_);
    EXPECT_THAT(text(), HasSubstr("scheduler_pod_scheduled_after_flush_total 1\n"));
  }
}

TEST_F(SchedulerMetricsTest, TellsPreparationBindingAndFailureApart) {
  const auto place = [this](const std::string& name) {
    const PendingPod pod = pending(name, "other", 1);
    Plan plan;
    plan.assignments.push_back({pod.pod, "n1"});
    scheduler_->attempted(pod, plan, {.profile = "other"}, now_);
    return pod.pod;
  };
  const api::ObjectPtr a = place("a");
  scheduler_->prepared("uid-a", now_ + seconds{3});
  scheduler_->bound(*a, now_ + seconds{5});
  place("b");
  scheduler_->bind_failed("uid-b", now_ + seconds{7});
  const auto sum = [](const std::string& point, const std::string& status, int value) {
    return fmt::format(R"(scheduler_framework_extension_point_duration_seconds_sum{{)"
                       R"(extension_point="{}",profile="other",status="{}"}} {})",
                       point, status, value);
  };
  EXPECT_THAT(text(), HasSubstr(sum("PreBind", "Success", 3)));
  EXPECT_THAT(text(), HasSubstr(sum("Bind", "Success", 2)));
  EXPECT_THAT(text(), HasSubstr(sum("Bind", "Error", 7)));
}

TEST_F(SchedulerMetricsTest, MeasuresHowLongPlacementsTakeToJudge) {
  const PlacementTimer* timer = scheduler_->placement_timer();
  ASSERT_NE(timer, nullptr);
  timer->judged(true, 1, milliseconds{3});
  timer->judged(false, 2, milliseconds{1});
  timer->judged(false, 1'000'000, milliseconds{0});
  Group root;
  Plan plan;
  plan.groups.push_back({root.key, nullptr, Outcome::Placed, "", ""});
  scheduler_->attempted(root, plan, {.profile = "other"}, now_);
  scheduler_->placement_timer();
  scheduler_->attempted(root, plan, {.profile = "other"}, now_);
  const auto series = [](const std::string& part, const std::string& result) {
    return fmt::format(
        R"(scheduler_placement_evaluation_duration_seconds_{}{{profile="other",result="{}"}} )",
        part, result);
  };
  EXPECT_THAT(text(), HasSubstr(series("count", "feasible") + "1\n"));
  EXPECT_THAT(text(), HasSubstr(series("sum", "infeasible") + "0.002\n"));
  EXPECT_THAT(text(), HasSubstr(series("count", "infeasible") + "66\n"))
      << "few stand for very many that were refused together";
  EXPECT_EQ(SchedulerMetrics(&metrics_, default_profile(), {}).placement_timer(), nullptr);
}

TEST_F(SchedulerMetricsTest, ShowsEventsThatAreKeptForThoseInFlight) {
  QueueCensus census;
  census.events[{Resource::Node, Action::UpdateNodeLabel}] = 2;
  census.events[{Resource::Node, Action::UpdateNodeTaint}] = 1;
  scheduler_->update(census, {}, now_);
  EXPECT_THAT(text(), HasSubstr("scheduler_inflight_events{event=\"NodeUpdate\"} 3\n"));
  scheduler_->update({}, {}, now_ + seconds{1});
  EXPECT_THAT(text(), HasSubstr("scheduler_inflight_events{event=\"NodeUpdate\"} 0\n"));
}

TEST_F(SchedulerMetricsTest, CountsRefusalsByResult) {
  scheduler_->refused("default-scheduler", Outcome::Unschedulable);
  scheduler_->refused("default-scheduler", Outcome::Unresolvable);
  scheduler_->refused("default-scheduler", Outcome::Error);
  EXPECT_THAT(text(), HasSubstr(std::string(kAttempts) +
                                R"("default-scheduler",result="unschedulable"} 2)"));
  EXPECT_THAT(text(),
              HasSubstr(std::string(kAttempts) + R"("default-scheduler",result="error"} 1)"));
}

TEST_F(SchedulerMetricsTest, CountsGroupsThatWaitForTheirVictims) {
  Group root;
  root.pods.push_back(pending("a", "default-scheduler", 1));
  Plan plan;
  plan.groups.push_back({root.key, nullptr, Outcome::Unschedulable, "", ""});
  plan.refusals.push_back({root.pods.front().pod, Outcome::Unschedulable, "", {}});
  plan.preemption.emplace();
  plan.preemption->answer = PreemptionPlan::Answer::Preempts;
  plan.placements = {.generated = 5, .feasible = 1, .infeasible = 4};
  scheduler_->attempted(root, plan, {.profile = "default-scheduler", .searched = milliseconds{3}},
                        now_);
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr(R"(scheduler_preemption_evaluation_duration_seconds_bucket{)"
                              R"(preemptor="podgroup",result="Success",le="0.004"} 1)"));
  for (const char* name : {"scheduler_generated_placements_total", "scheduler_placement_total"})
    EXPECT_THAT(seen, HasSubstr(std::string(name) + R"({profile="default-scheduler"} 5)"));
  EXPECT_THAT(seen, HasSubstr(R"(scheduler_placement_evaluations_total{)"
                              R"(profile="default-scheduler",result="infeasible"} 4)"));
  EXPECT_THAT(seen,
              HasSubstr(R"(scheduler_podgroup_schedule_attempts_total{profile="default-scheduler",)"
                        R"(result="waiting_on_preemption"} 1)"));
}

TEST_F(SchedulerMetricsTest, SaysWhyEntitiesMoved) {
  QueueEntity entity;
  entity.place = Place::Active;
  scheduler_->because({client::Event::Type::Added, pod_object("a", "default-scheduler")});
  scheduler_->moved(entity);
  scheduler_->because("ScheduleAttemptFailure");
  entity.place = Place::Resting;
  scheduler_->moved(entity);
  entity.place = Place::InFlight;
  scheduler_->moved(entity);
  const std::string seen = text();
  EXPECT_THAT(
      seen,
      HasSubstr(
          R"(scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 1)"));
  EXPECT_THAT(seen,
              HasSubstr(R"(scheduler_queue_incoming_entities_total{event="ScheduleAttemptFailure",)"
                        R"(queue="unschedulable",type="pod"} 1)"));
}

TEST_F(SchedulerMetricsTest, ShowsWhoWaitsAndWhoRefusedThem) {
  QueueCensus census;
  census.active = {.pods = 9, .lone = 1, .groups = 2};
  census.refused[{"NodeResourcesFit", "other"}] = 4;
  scheduler_->update(census, {.nodes = 5, .pods = 7, .assumed = 1}, now_);
  std::string seen = text();
  EXPECT_THAT(seen, HasSubstr("scheduler_pending_pods{queue=\"active\"} 9\n"));
  EXPECT_THAT(seen, HasSubstr(R"(scheduler_pending_entities{queue="active",type="podgroup"} 2)"));
  EXPECT_THAT(seen, HasSubstr(R"(scheduler_queued_entities{queue="active",type="podgroup"} 2)"));
  EXPECT_THAT(
      seen,
      HasSubstr(R"(scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="other"} 4)"));
  EXPECT_THAT(seen, HasSubstr("scheduler_cache_size{type=\"nodes\"} 5\n"));
  scheduler_->update({}, {}, now_ + seconds{1});
  seen = text();
  EXPECT_THAT(
      seen,
      HasSubstr(R"(scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="other"} 0)"));
}

TEST_F(SchedulerMetricsTest, CountsHowOftenPluginsAreAsked) {
  const PendingPod pod = pending("a", "other", 1);
  Plan plan;
  plan.refusals.push_back({pod.pod, Outcome::Unschedulable, "", {}});
  scheduler_->attempted(pod, plan, {.profile = "other"}, now_);
  scheduler_->update({}, {}, now_);
  EXPECT_THAT(
      text(),
      HasSubstr(
          R"(scheduler_plugin_evaluation_total{extension_point="Filter",plugin="NodeName",profile="other"} 1)"));
}

TEST_F(SchedulerMetricsTest, LooksAtTheNumbersOnceASecondOrLessOften) {
  EXPECT_TRUE(scheduler_->is_due(now_));
  scheduler_->update({}, {}, now_);
  EXPECT_FALSE(scheduler_->is_due(now_ + milliseconds{999}));
  EXPECT_TRUE(scheduler_->is_due(now_ + seconds{1}));
  QueueCensus large;
  large.looked_at = 20'000;
  scheduler_->update(large, {}, now_);
  EXPECT_FALSE(scheduler_->is_due(now_ + seconds{20}));
  EXPECT_TRUE(scheduler_->is_due(now_ + seconds{21}));
  EXPECT_FALSE(SchedulerMetrics(nullptr, default_profile(), {}).is_due(now_))
      << "nobody reads them";
}

}  // namespace
}  // namespace muster::scheduler
