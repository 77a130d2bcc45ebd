#include <map>
#include <set>

#include "api/views/group_view.h"
#include "api/views/workload_view.h"
#include "sim/job_sets_testing.h"

// JobSets that ask to be scheduled as a whole, on the whole control plane.
namespace muster::sim {
namespace {

using std::chrono::seconds;

constexpr std::string_view kRack = "topology.kubernetes.io/rack";
constexpr std::string_view kBlock = "topology.muster.dev/block";

// A driver and three slices: each slice in one rack, the whole in one block.
constexpr std::string_view kTraining = R"("scheduling":{
    "schedulingPolicy":{"gang":{}},
    "schedulingConstraints":{"topology":[{"key":"topology.muster.dev/block"}]},
    "disruptionMode":{"all":{}},
    "replicatedJobs":[
      {"targetReplicatedJobs":["driver"]},
      {"targetReplicatedJobs":["slices"],"job":{"schedulingConstraints":{"topology":[{"key":"topology.kubernetes.io/rack"}]}}}]})";

// Two blocks of three racks of two nodes with eight CPUs each.
class JobSetTrees : public JobSetWorld {
 protected:
  JobSetTrees() : JobSetWorld(three_racks()) {}

  static World::Options three_racks() {
    World::Options options;
    options.shape.pools.push_back({.blocks_per_zone = 2,
                                   .racks_per_block = 3,
                                   .nodes_per_rack = 2,
                                   .resources = parse_resources("cpu=8,memory=16Gi").value()});
    return options;
  }
  static std::vector<Replicated> training(std::string_view run_time = "forever",
                                          std::string_view priority = "") {
    const std::string pod =
        priority.empty() ? "" : fmt::format(R"("priorityClassName":"{}")", priority);
    return {{.name = "driver", .run_time = std::string(run_time), .more_pod = pod},
            {.name = "slices",
             .replicas = 3,
             .pods = 4,
             .run_time = std::string(run_time),
             .more_pod = pod,
             .cpu = "3"}};
  }
  std::string label(const api::Object& node, std::string_view key) const {
    const std::string* value = api::lookup(node.meta().labels, key);
    return value == nullptr ? "" : *value;
  }
  // By Job: the domains of `key` that its running pods are in.
  std::map<std::string, std::set<std::string>> domains(std::string_view key) {
    std::map<std::string, std::set<std::string>> out;
    for (const api::ObjectPtr& pod : all(api::kinds::pod())) {
      const auto& view = pod->view<api::PodView>();
      if (view.node_name.empty() || pod->meta().deletion_time) continue;
      const api::ObjectPtr node = world_.get(api::kinds::node(), "", view.node_name);
      if (node != nullptr) out[pod->meta().owners[0].name].insert(label(*node, key));
    }
    return out;
  }
  void expect_placed_as_asked() {
    EXPECT_EQ(running(), 13U);
    std::set<std::string> blocks;
    for (const auto& [job, racks] : domains(kRack)) EXPECT_EQ(racks.size(), 1U) << job;
    for (const auto& [job, in] : domains(kBlock)) blocks.insert(in.begin(), in.end());
    EXPECT_EQ(blocks.size(), 1U);
  }
  // Names without the part that all share.
  Texts groups(const api::Kind& kind) {
    const Texts workloads = names(api::kinds::workload());
    Texts out;
    for (const std::string& name : names(kind))
      out.push_back(workloads.size() == 1 && name.starts_with(workloads[0])
                        ? name.substr(workloads[0].size())
                        : name);
    return out;
  }
  Texts pod_groups() { return groups(api::kinds::pod_group()); }
  Texts composites() { return groups(api::kinds::composite_pod_group()); }
  // Nothing is there without what it is part of: pods without their group, groups without the one
  // above.
  void expect_leaves_go_first() {
    std::set<std::string> groups;
    std::set<std::string> above;
    for (const api::ObjectPtr& group : all(api::kinds::composite_pod_group()))
      above.insert(group->meta().name);
    for (const api::Kind* kind : {&api::kinds::pod_group(), &api::kinds::composite_pod_group()})
      for (const api::ObjectPtr& group : all(*kind)) {
        const std::string& parent = group->view<api::GroupView>().parent;
        EXPECT_TRUE(parent.empty() || above.contains(parent)) << group->meta().name;
        if (kind == &api::kinds::pod_group()) groups.insert(group->meta().name);
      }
    for (const api::ObjectPtr& pod : all(api::kinds::pod())) {
      const std::string& group = pod->view<api::PodView>().scheduling_group;
      EXPECT_TRUE(groups.contains(group) || pod->view<api::PodView>().is_terminal())
          << pod->meta().name;
    }
  }
};

TEST_F(JobSetTrees, ATrainingRunIsPlacedWhole) {
  create(training(), kTraining);
  world_.advance(seconds{5});
  expect_placed_as_asked();
  EXPECT_EQ(pod_groups(), (Texts{"-driver", "-slices-0", "-slices-1", "-slices-2"}));
  EXPECT_EQ(composites(), (Texts{"-root", "-slices"}));
  EXPECT_EQ(conditions(), Texts{});
  const auto first = [&](const api::Kind& kind) {
    std::int64_t least = INT64_MAX;
    for (const api::ObjectPtr& object : all(kind))
      least = std::min(least, object->meta().creation_time->time_since_epoch().count());
    return least;
  };
  EXPECT_LE(first(api::kinds::workload()), first(job_kind()));
  const api::ObjectPtr group = all(api::kinds::pod_group())[1];
  EXPECT_EQ(group->meta().owners[0].kind, "JobSet");
  EXPECT_EQ(group->meta().owners[1].kind, "Workload");
  EXPECT_EQ(group->view<api::GroupView>().minimum, 4);
}

TEST_F(JobSetTrees, WaitsWholeIfASliceDoesNotFit) {
  std::vector<Replicated> jobs = training();
  jobs[1].replicas = 4;
  create(jobs, kTraining);
  world_.advance(seconds{5});
  EXPECT_EQ(names(job_kind()).size(), 5U);
  EXPECT_EQ(running(), 0U) << "a block has three racks";
}

TEST_F(JobSetTrees, ALostNodeStartsItAgainElsewhere) {
  create(training(), std::string(kTraining) + R"(,"failurePolicy":{"maxRestarts":3})");
  world_.advance(seconds{5});
  expect_placed_as_asked();
  const std::string block = *domains(kBlock)["js-driver-0"].begin();
  std::string node;
  for (const api::ObjectPtr& pod : all(api::kinds::pod()))
    if (pod->meta().owners[0].name == "js-slices-1") node = pod->view<api::PodView>().node_name;
  remove(*world_.get(api::kinds::node(), "", node));
  for (int i = 0; i < 30; ++i) {
    world_.advance(seconds{3});
    expect_leaves_go_first();
  }
  EXPECT_EQ(status("restarts"), "1");
  expect_placed_as_asked();
  EXPECT_NE(*domains(kBlock)["js-driver-0"].begin(), block) << "there a rack is too small now";
  EXPECT_EQ(pod_groups(), (Texts{".1-driver", ".1-slices-0", ".1-slices-1", ".1-slices-2"}));
  EXPECT_EQ(composites(), (Texts{".1-root", ".1-slices"}));
}

TEST_F(JobSetTrees, AHigherRunTakesItsPlaceAndItComesBack) {
  for (const auto& [name, value] : {std::pair{"low", 1}, std::pair{"high", 100}})
    ASSERT_TRUE(world_.ask(client::create_request(
        *api::find_kind("scheduling.k8s.io", "PriorityClass"), "",
        parsed(fmt::format(R"({{"metadata":{{"name":"{}"}},"value":{}}})", name, value)))));
  // The other block is taken.
  api::Json other = document(training("forever", "high"), kTraining);
  other.as_object()["metadata"].as_object()["name"] = "other";
  ASSERT_TRUE(world_.ask(client::create_request(job_set_kind(), "default", std::move(other))));
  world_.advance(seconds{5});
  create(training("forever", "low"),
         std::string(kTraining) + R"(,"failurePolicy":{"maxRestarts":9})");
  world_.advance(seconds{5});
  EXPECT_EQ(running(), 26U);
  api::Json third = document(training("20s", "high"), kTraining);
  third.as_object()["metadata"].as_object()["name"] = "urgent";
  ASSERT_TRUE(world_.ask(client::create_request(job_set_kind(), "default", std::move(third))));
  world_.advance(seconds{15});
  std::map<std::string, int> pods;
  for (const api::ObjectPtr& pod : all(api::kinds::pod()))
    if (pod->view<api::PodView>().phase == "Running" && !pod->meta().deletion_time)
      ++pods[*api::lookup(pod->meta().labels, "jobset.sigs.k8s.io/jobset-name")];
  EXPECT_EQ(pods["urgent"], 13);
  EXPECT_EQ(pods["js"], 0) << "preempted as a whole";
  EXPECT_EQ(pods["other"], 13);
  EXPECT_NE(status("restarts"), "0");
  world_.advance(seconds{60});
  pods.clear();
  for (const api::ObjectPtr& pod : all(api::kinds::pod()))
    if (pod->view<api::PodView>().phase == "Running" && !pod->meta().deletion_time)
      ++pods[*api::lookup(pod->meta().labels, "jobset.sigs.k8s.io/jobset-name")];
  EXPECT_EQ(pods["js"], 13) << "resumed when the other had ended";
}

TEST_F(JobSetTrees, RestingTakesTheGroupsAndResumingBringsThemBack) {
  create(training(), std::string(kTraining) + R"(,"suspend":true)");
  world_.advance(seconds{3});
  EXPECT_EQ(names(job_kind()).size(), 4U);
  EXPECT_TRUE(names(api::kinds::workload()).empty());
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{5});
  expect_placed_as_asked();
  const std::string workload = all(api::kinds::workload())[0]->meta().uid;
  patch(R"({"spec":{"suspend":true}})");
  for (int i = 0; i < 10; ++i) {
    world_.advance(seconds{1});
    expect_leaves_go_first();
  }
  EXPECT_TRUE(all(api::kinds::pod()).empty());
  EXPECT_TRUE(pod_groups().empty());
  EXPECT_TRUE(composites().empty());
  EXPECT_TRUE(names(api::kinds::workload()).empty());
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{5});
  expect_placed_as_asked();
  EXPECT_NE(all(api::kinds::workload())[0]->meta().uid, workload);
}

TEST_F(JobSetTrees, AnotherShapeAfterARest) {
  create(training(), std::string(kTraining) + R"(,"suspend":true)");
  world_.advance(seconds{3});
  patch(R"({"spec":{"suspend":false,"scheduling":{"schedulingPolicy":{"gang":{}},
      "schedulingConstraints":null,"disruptionMode":null,"replicatedJobs":null}}})");
  world_.advance(seconds{8});
  EXPECT_EQ(pod_groups(), Texts{"-jobset"});
  EXPECT_EQ(running(), 13U) << "Jobs that named other groups were made again";
}

TEST_F(JobSetTrees, DeletedItLeavesNothingFromTheLeavesToTheRoot) {
  create(training(), kTraining);
  world_.advance(seconds{5});
  remove(*world_.get(job_set_kind(), "default", "js"), "Background");
  for (int i = 0; i < 60; ++i) {
    expect_leaves_go_first();
    world_.advance(seconds{1});
  }
  EXPECT_TRUE(all(api::kinds::pod()).empty());
  EXPECT_TRUE(all(job_kind()).empty());
  EXPECT_TRUE(names(api::kinds::pod_group()).empty());
  EXPECT_TRUE(names(api::kinds::composite_pod_group()).empty());
  EXPECT_TRUE(names(api::kinds::workload()).empty());
}

TEST_F(JobSetTrees, JobsMakeTheirOwnGroupsIfTheyAreAskedTo) {
  std::string scheduling(kTraining);
  create(training(), scheduling, R"("scheduling.muster.dev/group-management":"delegated")");
  world_.advance(seconds{6});
  expect_placed_as_asked();
  EXPECT_EQ(composites(), (Texts{"-root", "-slices"}));
  for (const api::ObjectPtr& group : all(api::kinds::pod_group()))
    EXPECT_EQ(group->meta().owners[0].kind, "Job") << group->meta().name;
}

TEST_F(JobSetTrees, SizesMayChangeWhileItRuns) {
  create({{.name = "a", .replicas = 2, .pods = 4}},
         R"("scheduling":{"replicatedJobs":[{"targetReplicatedJobs":["a"],"job":{
         "schedulingConstraints":{"topology":[{"key":"topology.kubernetes.io/rack"}]}}}]})");
  world_.advance(seconds{4});
  EXPECT_EQ(running(), 8U);
  api::Json jobs = *api::find_path(set(), "spec.replicatedJobs");
  api::JsonObject& spec =
      jobs.as_array()[0].as_object()["template"].as_object()["spec"].as_object();
  spec["parallelism"] = 6;
  spec["completions"] = 6;
  patch(fmt::format(R"({{"spec":{{"replicatedJobs":{}}}}})", api::to_text(jobs)));
  world_.advance(seconds{8});
  EXPECT_EQ(running(), 12U);
  for (const api::ObjectPtr& group : all(api::kinds::pod_group()))
    EXPECT_EQ(group->view<api::GroupView>().minimum, 6);
  EXPECT_EQ(all(api::kinds::workload())[0]->view<api::WorkloadView>().templates[0].minimum, 6);
}

TEST_F(JobSetTrees, InTurnUnderABasicRoot) {
  create(
      {{.name = "init", .run_time = "3s"},
       {.name = "train",
        .replicas = 2,
        .pods = 4,
        .more = R"("dependsOn":[{"name":"init","status":"Complete"}])"}},
      R"("scheduling":{"schedulingConstraints":{"topology":[{"key":"topology.muster.dev/block"}]}})");
  world_.advance(seconds{2});
  EXPECT_EQ(running(), 1U);
  world_.advance(seconds{12});
  EXPECT_EQ(running(), 8U);
  EXPECT_EQ(composites(), Texts{"-root"});
  EXPECT_EQ(pod_groups(), (Texts{"-init", "-train"}));
}

TEST_F(JobSetTrees, ExclusivePlacementIsAConstraintOfEachJobsGroup) {
  create({{.name = "a", .replicas = 4, .pods = 2}},
         R"("scheduling":{"schedulingPolicy":{"gang":{}}})",
         R"("alpha.jobset.sigs.k8s.io/exclusive-topology":"topology.kubernetes.io/rack")");
  world_.advance(seconds{5});
  EXPECT_EQ(running(), 8U);
  std::set<std::string> racks;
  for (const auto& [job, in] : domains(kRack)) {
    EXPECT_EQ(in.size(), 1U) << job;
    racks.insert(in.begin(), in.end());
  }
  EXPECT_EQ(racks.size(), 4U) << "one rack for each Job";
}

TEST_F(JobSetTrees, ExclusivePlacementWithoutGroups) {
  create({{.name = "a", .replicas = 3, .pods = 2}}, "",
         R"("alpha.jobset.sigs.k8s.io/exclusive-topology":"topology.kubernetes.io/rack")");
  world_.advance(seconds{8});
  EXPECT_EQ(running(), 6U);
  std::set<std::string> racks;
  for (const auto& [job, in] : domains(kRack)) racks.insert(in.begin(), in.end());
  EXPECT_EQ(racks.size(), 3U);
}

TEST_F(JobSetTrees, WhatCannotBeScheduledIsRefusedAtOnce) {
  EXPECT_NE(refusal(training(), R"("scheduling":{"schedulingPolicy":{"gang":{"minCount":99}}})")
                .find("must not be greater than the number of its pods (13)"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::sim
