#include <map>
#include <set>

#include "sim/leader_worker_sets_testing.h"

// LeaderWorkerSets whose pods, groups or controllers go, on the whole control plane.
namespace muster::sim {
namespace {

using std::chrono::seconds;

constexpr std::string_view kHold = R"({"metadata":{"finalizers":["example.com/hold"]}})";
constexpr std::string_view kLetGo = R"({"metadata":{"finalizers":null}})";

const Texts kTwoReplicas{"llm-0 Running llm:1 grouped",   "llm-0-1 Running llm:1 grouped",
                         "llm-0-2 Running llm:1 grouped", "llm-1 Running llm:1 grouped",
                         "llm-1-1 Running llm:1 grouped", "llm-1-2 Running llm:1 grouped"};

// Two replicas of three run, one of them loses a worker at once.
class Loss : public Play {
 public:
  explicit Loss(const Trouble& trouble = {}, std::string_view restart = "") : Play(trouble) {
    std::string spec = lws_spec(2, 3, "{}");
    if (!restart.empty())
      spec.replace(spec.find("\"size\""), 0, fmt::format(R"("restartPolicy":"{}",)", restart));
    create(lws_kind(), "llm", spec);
    advance(seconds{20});
    EXPECT_EQ(pods(), kTwoReplicas);
    for (const api::ObjectPtr& each : all(api::kinds::pod()))
      uids_[each->meta().name] = each->meta().uid;
  }
  // Names of the pods that are others than before.
  Texts replaced() {
    Texts out;
    for (const api::ObjectPtr& each : all(api::kinds::pod()))
      if (uids_[each->meta().name] != each->meta().uid) out.push_back(each->meta().name);
    return out;
  }

 private:
  std::map<std::string, std::string> uids_;
};
const Texts kReplicaOne{"llm-1", "llm-1-1", "llm-1-2"};

TEST(LeaderWorkerSetRepair, ALostWorkerTakesItsReplicaAlongWheneverControllersRestart) {
  int before = 0, after = 0;
  {
    Loss run;
    before = run.writes();
    run.kill("llm-1-2");
    run.advance(seconds{60});
    after = run.writes();
    EXPECT_EQ(run.replaced(), kReplicaOne);
  }
  ASSERT_GT(after, before + 5);
  for (int crash = before; crash < after; ++crash) {
    Loss run({.crash_at = crash});
    run.kill("llm-1-2");
    run.advance(seconds{90});
    ASSERT_EQ(run.pods(), kTwoReplicas) << "restarted after write " << crash;
    ASSERT_EQ(run.replaced(), kReplicaOne) << "restarted after write " << crash;
    ASSERT_EQ(run.all(api::kinds::pod_group()).size(), 2U) << "restarted after write " << crash;
  }
}

TEST(LeaderWorkerSetRepair, AWorkerThatWentUnseenTakesItsReplicaAlongToo) {
  for (const std::string_view worker : {"llm-1-1", "llm-1-2"}) {
    Loss run;
    run.world().hold_controller_feeds(true);
    run.kill(worker, 0);
    run.world().restart_controllers();
    run.advance(seconds{60});
    EXPECT_EQ(run.pods(), kTwoReplicas) << worker;
    EXPECT_EQ(run.replaced(), kReplicaOne) << worker;
  }
}

TEST(LeaderWorkerSetRepair, SoDoTheWorkersStatefulSetAndARestartedContainer) {
  Loss run;
  const api::ObjectPtr workers = run.world().get(stateful_set_kind(), "default", "llm-1");
  ASSERT_TRUE(run.world().ask(client::delete_request(*workers, std::nullopt)));
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(), kTwoReplicas);
  EXPECT_EQ(run.replaced(), kReplicaOne);

  Loss other;
  ASSERT_TRUE(other.world().ask(client::patch_request(
      api::kinds::pod(), "default", "llm-1-1", "status", api::PatchType::Merge,
      parsed(R"({"status":{"containerStatuses":[{"name":"c","image":"llm:1","imageID":"",
                "ready":true,"restartCount":1}]}})"))));
  other.world().restart_controllers();
  other.advance(seconds{60});
  EXPECT_EQ(other.replaced(), kReplicaOne);
}

TEST(LeaderWorkerSetRepair, WithoutAPolicyOnlyThePodIsReplaced) {
  Loss run({}, "None");
  run.kill("llm-1-2");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(), kTwoReplicas);
  EXPECT_EQ(run.replaced(), Texts{"llm-1-2"});
}

TEST(LeaderWorkerSetRepair, AfterStartOnlyReplicasThatHadStartedAreMadeAgain) {
  Loss run({}, "RecreateGroupAfterStart");
  run.kill("llm-1-2");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(), kTwoReplicas);
  EXPECT_EQ(run.replaced(), kReplicaOne);

  // A gang that does not fit has not started.
  Play other({}, 1, 1);
  std::string spec = lws_spec(1, 3, "{}");
  spec.replace(spec.find("\"size\""), 0, R"("restartPolicy":"RecreateGroupAfterStart",)");
  spec.replace(spec.find(R"("cpu":"1")"), 9, R"("cpu":"30")");
  other.create(lws_kind(), "llm", spec);
  other.advance(seconds{10});
  ASSERT_EQ(other.pods().size(), 3U);
  const std::string leader = other.pod("llm-0")->meta().uid;
  other.kill("llm-0-2");
  other.advance(seconds{60});
  EXPECT_EQ(other.pods().size(), 3U);
  EXPECT_EQ(other.pod("llm-0")->meta().uid, leader);
}

TEST(LeaderWorkerSetRepair, AWorkloadOnItsWayOutIsWaitedFor) {
  Play run;
  run.create(lws_kind(), "llm", lws_spec(1, 2, "{}"));
  run.advance(seconds{20});
  const api::ObjectPtr workload = run.all(api::kinds::workload())[0];
  run.patch(api::kinds::workload(), workload->meta().name, kHold);
  ASSERT_TRUE(run.world().ask(client::delete_request(*workload, std::nullopt)));
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":2}})");
  run.advance(seconds{20});
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "False/ParentWorkloadNotReady");
  EXPECT_EQ(run.pods().size(), 2U) << "nobody runs ungrouped, and those that run go on";
  run.patch(api::kinds::workload(), workload->meta().name, kLetGo);
  run.advance(seconds{20});
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "True/Created");
  EXPECT_EQ(run.pods().size(), 4U);
}

TEST(LeaderWorkerSetRepair, AGroupThatDoesNotGoIsWaitedFor) {
  Play run;
  run.create(lws_kind(), "llm", lws_spec(1, 2, R"({"schedulingPolicy":{"gang":{}}})"));
  run.advance(seconds{20});
  const api::ObjectPtr group = run.all(api::kinds::pod_group())[0];
  run.patch(api::kinds::pod_group(), group->meta().name, kHold);
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":0}})");
  run.advance(seconds{60});
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":2}})");
  run.advance(seconds{20});
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "False/PodGroupCleanupBlocked");
  EXPECT_EQ(run.pods(), Texts{});
  run.patch(api::kinds::pod_group(), group->meta().name, kLetGo);
  run.advance(seconds{20});
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "True/Created");
  EXPECT_EQ(run.pods().size(), 4U);
}

TEST(LeaderWorkerSetRepair, AGroupThatMayNotBeDeletedIsTriedAgain) {
  Play run;
  run.create(lws_kind(), "llm", lws_spec(2, 2, "{}"));
  run.advance(seconds{20});
  run.refuse([](const api::Request& request) {
    return request.verb == api::Verb::Delete && request.kind == &api::kinds::pod_group();
  });
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":1}})");
  run.advance(seconds{60});
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "False/PodGroupCleanupBlocked");
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 2U);
  run.refuse(nullptr);
  run.advance(std::chrono::minutes{20});
  EXPECT_EQ(run.condition("llm", "WorkloadSchedulingCreated"), "True/Created");
  EXPECT_EQ(run.all(api::kinds::pod_group()).size(), 1U);
}

TEST(LeaderWorkerSetRepair, ExclusiveReplicasHaveARackEach) {
  Play run;
  auto document = parsed(fmt::format(
      R"({{"metadata":{{"name":"llm","namespace":"default","annotations":{{
      "leaderworkerset.sigs.k8s.io/exclusive-topology":"topology.kubernetes.io/rack"}}}},
      "spec":{{{}}}}})",
      lws_spec(3, 3, "")));
  ASSERT_TRUE(run.world().ask(client::create_request(lws_kind(), "default", document)));
  run.advance(seconds{30});
  std::map<std::string, std::set<std::string>> racks;  // by replica
  for (const api::ObjectPtr& pod : run.all(api::kinds::pod())) {
    const auto& view = pod->view<api::PodView>();
    if (view.node_name.empty()) continue;
    const api::ObjectPtr node = run.world().get(api::kinds::node(), "", view.node_name);
    racks[pod->meta().name.substr(0, 5)].insert(
        *api::lookup(node->meta().labels, "topology.kubernetes.io/rack"));
  }
  ASSERT_EQ(racks.size(), 2U) << "there are two racks";
  std::set<std::string> all;
  for (const auto& [replica, in] : racks) {
    EXPECT_EQ(in.size(), 1U) << replica;
    all.insert(in.begin(), in.end());
  }
  EXPECT_EQ(all.size(), 2U);
  EXPECT_EQ(run.pods().size(), 7U) << "workers of the third wait for their leader to be bound";
}

TEST(LeaderWorkerSetRepair, EachPodHasItsClaims) {
  Play run;
  ASSERT_TRUE(run.world().ask(client::create_request(
      *api::find_kind("storage.k8s.io", "StorageClass"), "",
      parsed(R"({"metadata":{"name":"fast"},"provisioner":"csi.example.com"})"))));
  std::string spec = lws_spec(1, 2, "{}");
  spec.replace(spec.find(R"("image")"), 0,
               R"("volumeMounts":[{"name":"data","mountPath":"/data"}],)");
  spec.replace(spec.find("\"size\""), 0,
               R"("volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"storageClassName":
               "fast","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],
               "persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Delete"},)");
  run.create(lws_kind(), "llm", spec);
  run.advance(seconds{20});
  const api::Kind& claims = *api::find_kind("", "PersistentVolumeClaim");
  const auto names = [&] {
    Texts out;
    for (const api::ObjectPtr& each : run.all(claims)) out.push_back(each->meta().name);
    return out;
  };
  EXPECT_EQ(names(), (Texts{"data-llm-0", "data-llm-0-1"}));
  EXPECT_EQ(run.pods(), (Texts{"llm-0 Running llm:1 grouped", "llm-0-1 Running llm:1 grouped"}));
  const api::Json pod = run.pod("llm-0-1")->document();
  EXPECT_NE(api::to_text(pod).find(R"("claimName":"data-llm-0-1")"), std::string::npos);
  run.patch(lws_kind(), "llm", R"({"spec":{"replicas":0}})");
  run.advance(seconds{60});
  EXPECT_EQ(run.pods(), Texts{});
  EXPECT_EQ(names(), Texts{"data-llm-0-1"}) << "scaled: the leader's; its workers were deleted";
}

}  // namespace
}  // namespace muster::sim
