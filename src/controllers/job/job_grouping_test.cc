#include "controllers/job/job_grouping.h"

#include <gtest/gtest.h>

#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using What = GroupingStep::What;
using workload::JobRole;

api::ObjectPtr make(const api::Kind& kind, std::string_view name, std::string_view owner_uid,
                    std::string_view spec, std::string_view more_meta = "") {
  return api::Object::make(
      kind, parsed(fmt::format(
                R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"u-{}","ownerReferences":[
          {{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"{}","controller":true}}]{}}},"spec":{{{}}}}})",
                name, name, owner_uid, more_meta, spec)));
}

constexpr std::string_view kGangOf4 =
    R"("podGroupTemplates":[{"name":"j-pgt-0","schedulingPolicy":{"gang":{"minCount":4}}}])";

api::ObjectPtr workload_of(std::string_view owner_uid, std::string_view spec = kGangOf4,
                           std::string_view name = "w") {
  return make(api::kinds::workload(), name, owner_uid, spec);
}

api::ObjectPtr group_of_size(int minimum, std::string_view more_meta = "") {
  return make(
      api::kinds::pod_group(), "g", "uj",
      fmt::format(
          R"("workloadRef":{{"workloadName":"w","templateName":"j-pgt-0"}},"schedulingPolicy":{{"gang":{{"minCount":{}}}}})",
          minimum),
      more_meta);
}

class JobGroupingTest : public ::testing::Test {
 protected:
  JobGroupingTest() { meta_.uid = "uj"; }

  GroupingState state(std::string_view spec, std::string_view status = "") {
    job_ = make_job(spec, status);
    return {.meta = meta_,
            .job = *job_,
            .grouping = {.role = JobRole::Root},
            .workloads = {},
            .groups = {}};
  }

  api::ObjectMeta meta_;
  std::unique_ptr<api::JobView> job_;
};

constexpr std::string_view kGang =
    R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{}}})";

TEST_F(JobGroupingTest, MakesTheWorkloadThenTheGroupThenPods) {
  GroupingState now = state(kGang);
  EXPECT_EQ(next_grouping_step(now).what, What::CreateWorkload);
  now.workloads = {workload_of("uj")};
  const GroupingStep second = next_grouping_step(now);
  EXPECT_EQ(second.what, What::CreateGroup);
  EXPECT_EQ(second.object, now.workloads[0]);
  now.groups = {group_of_size(4)};
  const GroupingStep third = next_grouping_step(now);
  EXPECT_EQ(third.what, What::Go);
  EXPECT_EQ(third.group, now.groups[0]);
}

TEST_F(JobGroupingTest, AJobThatHasBegunWithoutAGroupGoesOnSo) {
  GroupingState now = state(R"("parallelism":4)", R"("startTime":"2026-01-01T00:00:00Z")");
  now.has_pods = now.has_ungrouped_pods = true;
  EXPECT_EQ(next_grouping_step(now).what, What::Go);
  EXPECT_EQ(next_grouping_step(now).group, nullptr);
  const GroupingState gang = state(kGang, R"("startTime":"2026-01-01T00:00:00Z")");
  EXPECT_EQ(next_grouping_step(gang).what, What::CreateWorkload) << "a gang is never split";
}

TEST_F(JobGroupingTest, AGroupThatWasLostIsMadeAgain) {
  GroupingState now = state(kGang, R"("startTime":"2026-01-01T00:00:00Z")");
  now.has_pods = true;
  now.workloads = {workload_of("uj")};
  EXPECT_EQ(next_grouping_step(now).what, What::CreateGroup);
}

TEST_F(JobGroupingTest, AGroupWithoutItsWorkloadIsStillTheGroup) {
  GroupingState now = state(kGang, R"("startTime":"2026-01-01T00:00:00Z")");
  now.groups = {group_of_size(4)};
  EXPECT_EQ(next_grouping_step(now).group, now.groups[0]);
}

TEST_F(JobGroupingTest, TheMinimumFollowsParallelismUnlessItIsGiven) {
  struct Case {
    std::string spec;
    int wanted;
  };
  const Case cases[] = {
      {R"("parallelism":6,"scheduling":{"schedulingPolicy":{"gang":{}}})", 6},
      {R"("parallelism":0,"scheduling":{"schedulingPolicy":{"gang":{}}})", 1},
      {R"("parallelism":8,"scheduling":{"schedulingPolicy":{"gang":{"minCount":6}}})", 6},
      {R"("parallelism":9,"scheduling":{"schedulingPolicy":{"gang":{"minCount":4}}})", 4},
  };
  for (const Case& each : cases) {
    GroupingState now = state(each.spec);
    now.workloads = {workload_of("uj")};
    now.groups = {group_of_size(4)};
    const GroupingStep step = next_grouping_step(now);
    if (each.wanted == 4) {
      EXPECT_EQ(step.what, What::Go) << each.spec;
      continue;
    }
    EXPECT_EQ(step.what, What::ResizeWorkload) << each.spec;
    EXPECT_EQ(step.minimum, each.wanted) << each.spec;
    EXPECT_EQ(step.template_name, "j-pgt-0");
    now.workloads = {workload_of(
        "uj",
        fmt::format(
            R"("podGroupTemplates":[{{"name":"j-pgt-0","schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}])",
            each.wanted))};
    const GroupingStep then = next_grouping_step(now);
    EXPECT_EQ(then.what, What::ResizeGroup) << each.spec;
    EXPECT_EQ(then.minimum, each.wanted) << each.spec;
  }
}

TEST_F(JobGroupingTest, SuspensionTakesTheGroupAfterItsPods) {
  GroupingState now = state(R"("parallelism":4,"suspend":true)");
  now.workloads = {workload_of("uj")};
  EXPECT_EQ(next_grouping_step(now).what, What::Go) << "no group is made for a suspended Job";
  now.groups = {group_of_size(4)};
  now.has_pods = now.has_unended_pods = true;
  EXPECT_EQ(next_grouping_step(now).what, What::Go);
  now.has_unended_pods = false;
  EXPECT_EQ(next_grouping_step(now).what, What::DeleteGroup);
  GroupingState resumed = state(kGang, R"("conditions":[{"type":"Suspended","status":"True"}])");
  resumed.workloads = {workload_of("uj")};
  resumed.groups = {group_of_size(4, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")};
  EXPECT_EQ(next_grouping_step(resumed).what, What::Wait) << "resumed too early";
  resumed.groups.clear();
  EXPECT_EQ(next_grouping_step(resumed).what, What::CreateGroup);
}

TEST_F(JobGroupingTest, BlocksWhatIsAmbiguousOrUnsupported) {
  GroupingState now = state(kGang);
  now.workloads = {workload_of("other", kGangOf4, "a"), workload_of("other", kGangOf4, "b")};
  EXPECT_EQ(next_grouping_step(now).reason, "UnsupportedWorkloadStructure");
  EXPECT_EQ(next_grouping_step(now).message, "Several Workloads refer to the Job: a, b");
  now.workloads = {workload_of("other", R"("podGroupTemplates":[{"name":"a"},{"name":"b"}])")};
  EXPECT_EQ(next_grouping_step(now).message,
            "Workload w must have exactly one podGroupTemplate for the Job");
  now.workloads = {workload_of("other")};
  EXPECT_EQ(next_grouping_step(now).what, What::CreateGroup) << "somebody made a fitting one";
}

TEST_F(JobGroupingTest, ADelegatedJobWaitsForItsOwner) {
  GroupingState now = state(R"("parallelism":4)");
  now.grouping = {.role = JobRole::Delegated,
                  .delegation = {.template_name = "workers",
                                 .owner = {.api_version = "jobset.x-k8s.io/v1alpha2",
                                           .kind = "JobSet",
                                           .name = "js",
                                           .uid = "ujs",
                                           .controller = true}}};
  EXPECT_EQ(next_grouping_step(now).reason, "WorkloadNotFound");
  EXPECT_EQ(next_grouping_step(now).message, "There is no Workload of JobSet js yet");
  now.workloads = {workload_of("ujs")};
  EXPECT_EQ(next_grouping_step(now).reason, "PodGroupTemplateNotFound");
  now.workloads = {workload_of(
      "ujs",
      R"("compositePodGroupTemplates":[{"name":"root","podGroupTemplates":[{"name":"workers","schedulingPolicy":{"gang":{"minCount":2}}}]}])")};
  EXPECT_EQ(next_grouping_step(now).what, What::CreateGroup);
  now.groups = {make(
      api::kinds::pod_group(), "g", "uj",
      R"("workloadRef":{"workloadName":"w","templateName":"workers"},"schedulingPolicy":{"gang":{"minCount":4}})")};
  const GroupingStep resize = next_grouping_step(now);
  EXPECT_EQ(resize.what, What::ResizeGroup) << "the owner's template decides";
  EXPECT_EQ(resize.minimum, 2);
}

TEST_F(JobGroupingTest, SystemClassesHaveNoGroups) {
  EXPECT_TRUE(is_beyond_groups(
      *make_job(R"("template":{"spec":{"priorityClassName":"system-node-critical"}})")));
  EXPECT_FALSE(is_beyond_groups(*make_job(R"("template":{"spec":{"priorityClassName":"high"}})")));
  EXPECT_FALSE(is_beyond_groups(*make_job(
      R"("scheduling":{},"template":{"spec":{"priorityClassName":"system-node-critical"}})")));
}

}  // namespace
}  // namespace muster::controllers
