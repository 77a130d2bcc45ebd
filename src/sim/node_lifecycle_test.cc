#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "sim/faults_testing.h"

// Nodes that live, fail and come back, from annotation to eviction.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::hours;
using std::chrono::seconds;

class NodeWorld : public ::testing::Test {
 protected:
  explicit NodeWorld(int racks = 1, int nodes = 4)
      : world_([&] {
          World::Options options;
          options.shape.pools.push_back({.racks_per_block = racks,
                                         .nodes_per_rack = nodes,
                                         .resources = parse_resources("cpu=4,memory=8Gi").value()});
          return options;
        }()) {
    world_.run_until_idle();
  }

  static std::string name(int number) { return fmt::format("z1-b1-r1-n{}", number); }
  void patch(const api::Kind& kind, std::string_view name_space, std::string_view name,
             std::string_view merge, std::string_view part = "") {
    const auto answer = world_.ask(
        client::patch_request(kind, name_space, name, part, api::PatchType::Merge, parsed(merge)));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  // null takes the annotation away.
  void fail_node(int number, std::string_view value) {
    patch(api::kinds::node(), "", name(number),
          fmt::format(R"({{"metadata":{{"annotations":{{"muster.dev/fail":{}}}}}}})", value));
  }
  void create_pod(std::string_view name, std::string_view spec, std::string_view annotations = "") {
    const auto answer = world_.ask(client::create_request(
        api::kinds::pod(), "default",
        parsed(fmt::format(
            R"({{"metadata":{{"name":"{}","namespace":"default","annotations":{{{}}}}},"spec":{{{},)"
            R"("containers":[{{"name":"main","image":"app","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}})",
            name, annotations, spec))));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  api::ObjectPtr pod(std::string_view name) {
    return world_.get(api::kinds::pod(), "default", name);
  }
  // "True", "Unknown/NodeStatusUnknown" and taints "not-ready:NoSchedule".
  std::string node_text(std::string_view name) {
    const api::ObjectPtr node = world_.get(api::kinds::node(), "", name);
    if (node == nullptr) return "gone";
    const auto& view = node->view<api::NodeView>();
    const api::Condition* ready = api::lookup(view.conditions, "Ready");
    std::string out = ready == nullptr          ? "unsaid"
                      : ready->status == "True" ? "True"
                                                : ready->status + "/" + ready->reason;
    for (const api::Taint& taint : view.taints)
      out += fmt::format(" {}:{}", taint.key.substr(taint.key.find('/') + 1),
                         api::effect_name(taint.effect));
    return out;
  }
  std::string node_text(int number) { return node_text(name(number)); }
  // "Running ready", "Running restarts=2", "gone", with " leaving" if it is being deleted.
  std::string pod_text(std::string_view name) {
    const api::ObjectPtr object = pod(name);
    if (object == nullptr) return "gone";
    const auto& view = object->view<api::PodView>();
    std::string out = view.phase;
    if (const api::Condition* ready = view.condition("Ready");
        ready != nullptr && ready->status == "True")
      out += " ready";
    if (const api::Condition* target = view.condition("DisruptionTarget"))
      out += " " + target->reason;
    const Json document = object->document();
    for (const Json& container :
         api::elements(api::part_of(document, "status"), "containerStatuses")) {
      if (const auto count = api::find_integer(container, "restartCount").value_or(0); count > 0)
        out += fmt::format(" restarts={}", count);
      if (const Json* waiting = api::find_path(container, "state.waiting"))
        out += fmt::format(" {}", api::find_string(*waiting, "reason"));
    }
    if (object->meta().deletion_time) out += " leaving";
    return out;
  }
  int events(std::string_view reason) {
    int count = 0;
    for (const api::ObjectPtr& object :
         world_.store().list(api::kinds::event().store_prefix + "/").objects)
      if (api::find_string(object->document(), "reason") == reason) ++count;
    return count;
  }

  World world_;
};

constexpr std::string_view kOnFirst = R"("nodeName":"z1-b1-r1-n1")";

TEST_F(NodeWorld, IdleNodesWriteNothing) {
  const auto before = world_.store().revision();
  world_.advance(hours{1});
  EXPECT_EQ(world_.store().revision(), before);
}

TEST_F(NodeWorld, AFailedNodeLosesItsPodsAndTakesThemAwayWhenItIsBack) {
  create_pod("web", kOnFirst);
  EXPECT_EQ(pod_text("web"), "Running ready");
  fail_node(1, R"("true")");
  world_.advance(seconds{49});
  EXPECT_EQ(node_text(1), "True") << "silence of less than 50 s means nothing";
  EXPECT_EQ(pod_text("web"), "Running ready");
  world_.advance(seconds{2});
  EXPECT_EQ(node_text(1), "Unknown/NodeStatusUnknown unreachable:NoSchedule");
  EXPECT_EQ(pod_text("web"), "Running");
  EXPECT_EQ(events("NodeNotReady"), 2) << "one about the node, one about the pod";
  world_.advance(seconds{10});
  EXPECT_EQ(node_text(1), "Unknown/NodeStatusUnknown unreachable:NoSchedule unreachable:NoExecute");
  world_.advance(seconds{280});
  EXPECT_EQ(pod_text("web"), "Running");
  world_.advance(seconds{30});
  EXPECT_EQ(pod_text("web"), "Running DeletionByTaintManager leaving")
      << "nobody is there to stop it";
  EXPECT_EQ(events("TaintManagerEviction"), 1);
  fail_node(1, "null");
  world_.advance(seconds{1});
  EXPECT_EQ(node_text(1), "True");
  EXPECT_EQ(pod_text("web"), "gone");
}

TEST_F(NodeWorld, ANodeThatComesBackInTimeKeepsItsPods) {
  create_pod("web", kOnFirst);
  create_pod("batch", fmt::format(R"({},"restartPolicy":"Never")", kOnFirst),
             R"("muster.dev/run-time":"30s")");
  fail_node(1, R"("true")");
  world_.advance(seconds{120});
  EXPECT_EQ(pod_text("web"), "Running");
  EXPECT_EQ(pod_text("batch"), "Running") << "its end is not reported";
  fail_node(1, R"("false")");
  world_.advance(seconds{1});
  EXPECT_EQ(node_text(1), "True");
  EXPECT_EQ(pod_text("web"), "Running ready");
  EXPECT_EQ(pod_text("batch"), "Succeeded");
  world_.advance(hours{1});
  EXPECT_EQ(pod_text("web"), "Running ready");
  EXPECT_EQ(events("TaintManagerEviction"), 2) << "that both may stay";
}

TEST_F(NodeWorld, AKubeletMayReportThatItIsNotReady) {
  create_pod("web", kOnFirst);
  fail_node(1, R"("not-ready")");
  EXPECT_EQ(node_text(1), "False/KubeletNotReady not-ready:NoSchedule");
  EXPECT_EQ(pod_text("web"), "Running ready");
  for (int i = 0; i < 20; ++i) create_pod(fmt::format("p{}", i), R"("priority":0)");
  world_.advance(seconds{6});
  EXPECT_EQ(node_text(1), "False/KubeletNotReady not-ready:NoSchedule not-ready:NoExecute");
  for (int i = 0; i < 20; ++i)
    EXPECT_NE(pod(fmt::format("p{}", i))->view<api::PodView>().node_name, name(1));
  fail_node(1, "null");
  EXPECT_EQ(node_text(1), "True");
}

TEST_F(NodeWorld, IfNothingIsReadyNobodyIsDrivenAway) {
  for (int i = 1; i <= 4; ++i)
    create_pod(fmt::format("p{}", i), fmt::format(R"("nodeName":"{}")", name(i)));
  for (int i = 1; i <= 4; ++i) fail_node(i, R"("true")");
  world_.advance(hours{1});
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(node_text(i), "Unknown/NodeStatusUnknown unreachable:NoSchedule");
    EXPECT_EQ(pod_text(fmt::format("p{}", i)), "Running");
  }
  fail_node(4, "null");
  world_.advance(hours{1});
  EXPECT_EQ(node_text(1), "Unknown/NodeStatusUnknown unreachable:NoSchedule")
      << "three of four are down: a small zone is not touched";
  fail_node(3, "null");
  world_.advance(seconds{30});
  EXPECT_EQ(node_text(1), "Unknown/NodeStatusUnknown unreachable:NoSchedule unreachable:NoExecute");
  EXPECT_EQ(pod_text("p4"), "Running ready");
}

TEST_F(NodeWorld, NoExecuteTaintsOfUsersDriveAwayAtOnce) {
  create_pod("plain", kOnFirst);
  create_pod("patient", fmt::format(R"({},"tolerations":[{{"key":"maintenance","operator":"Exists",
      "effect":"NoExecute","tolerationSeconds":60}}])",
                                    kOnFirst));
  create_pod("steady", fmt::format(R"({},"tolerations":[{{"operator":"Exists"}}])", kOnFirst));
  patch(api::kinds::node(), "", name(1),
        R"({"spec":{"taints":[{"key":"maintenance","effect":"NoExecute"}]}})");
  EXPECT_EQ(pod_text("plain"), "gone");
  world_.advance(seconds{59});
  EXPECT_EQ(pod_text("patient"), "Running ready");
  world_.advance(seconds{2});
  EXPECT_EQ(pod_text("patient"), "gone");
  EXPECT_EQ(pod_text("steady"), "Running ready");
}

TEST_F(NodeWorld, APretendNodeCanBeCreatedByHand) {
  const auto answer = world_.ask(client::create_request(
      api::kinds::node(), "",
      parsed(R"({"metadata":{"name":"extra","annotations":{"muster.dev/node":"pretend"}}})")));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(node_text("extra"), "True");
  const Json node = world_.get(api::kinds::node(), "", "extra")->document();
  EXPECT_EQ(api::to_text(*api::find_path(node, "status.allocatable")),
            R"({"cpu":"32","ephemeral-storage":"100Gi","memory":"256Gi","pods":"110"})");
  EXPECT_EQ(
      api::to_text(*api::find_path(node, "metadata.labels")),
      R"({"kubernetes.io/arch":"amd64","kubernetes.io/hostname":"extra","kubernetes.io/os":"linux"})");
  create_pod("wide", R"("nodeSelector":{"kubernetes.io/hostname":"extra"})");
  EXPECT_EQ(pod_text("wide"), "Running ready");
}

TEST_F(NodeWorld, ANodeWithoutAKubeletGetsNothing) {
  const auto answer = world_.ask(
      client::create_request(api::kinds::node(), "", parsed(R"({"metadata":{"name":"bare"},
          "status":{"allocatable":{"cpu":"4","pods":"10"}}})")));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(node_text("bare"), "unsaid not-ready:NoSchedule");
  world_.advance(seconds{61});
  EXPECT_EQ(node_text("bare"), "Unknown/NodeStatusNeverUpdated unreachable:NoSchedule");
}

TEST_F(NodeWorld, CordonedNodesAreTainted) {
  patch(api::kinds::node(), "", name(1), R"({"spec":{"unschedulable":true}})");
  EXPECT_EQ(node_text(1), "True unschedulable:NoSchedule");
  patch(api::kinds::node(), "", name(1), R"({"spec":{"unschedulable":false}})");
  EXPECT_EQ(node_text(1), "True");
}

TEST_F(NodeWorld, ContainersAreRestartedAsTheirPodSays) {
  constexpr std::string_view kFails = R"("muster.dev/run-time":"5s","muster.dev/exit-code":"1, 0")";
  create_pod("never", R"("restartPolicy":"Never")", kFails);
  create_pod("on-failure", R"("restartPolicy":"OnFailure")", kFails);
  create_pod("always", R"("restartPolicy":"Always")", kFails);
  world_.advance(seconds{6});
  EXPECT_EQ(pod_text("never"), "Failed");
  EXPECT_EQ(pod_text("on-failure"), "Running ready restarts=1");
  EXPECT_EQ(pod_text("always"), "Running ready restarts=1");
  world_.advance(seconds{5});
  EXPECT_EQ(pod_text("on-failure"), "Succeeded restarts=1");
  EXPECT_EQ(pod_text("always"), "Running restarts=1 CrashLoopBackOff");
  world_.advance(seconds{10});
  EXPECT_EQ(pod_text("always"), "Running ready restarts=2");
  world_.advance(seconds{5 + 18});
  EXPECT_EQ(pod_text("always"), "Running restarts=2 CrashLoopBackOff") << "the pause doubles";
  ASSERT_TRUE(world_.ask(client::delete_request(*pod("always"), std::nullopt)));
  world_.advance(seconds{1});
  EXPECT_EQ(pod_text("always"), "gone");
}

// Two racks of two nodes.
class RackWorld : public NodeWorld {
 protected:
  RackWorld() : NodeWorld(2, 2) {}

  void create_group() {
    const auto answer = world_.ask(
        client::create_request(api::kinds::pod_group(), "default",
                               parsed(R"({"metadata":{"name":"train","namespace":"default"},"spec":{
            "schedulingPolicy":{"gang":{"minCount":2}},
            "schedulingConstraints":{"topology":[{"key":"topology.kubernetes.io/rack"}]}}})")));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void create_member(std::string_view name, std::string_view cpu) {
    const auto answer = world_.ask(
        client::create_request(api::kinds::pod(), "default",
                               parsed(fmt::format(
                                   R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{
                "schedulingGroup":{{"podGroupName":"train"}},"containers":[{{"name":"main","image":"app",
                "resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
                                   name, cpu))));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  std::string node_of(std::string_view name) { return pod(name)->view<api::PodView>().node_name; }
};

TEST_F(RackWorld, ANodeThatIsNotReadyForAMomentTakesNoPodsAndLosesNone) {
  create_group();
  create_member("a", "3");
  create_member("b", "3");
  const std::string lost = node_of("b");
  const std::string rack = lost.substr(0, lost.rfind('-'));
  ASSERT_EQ(node_of("a").substr(0, rack.size()), rack);
  const auto fail_lost = [&](std::string_view value) {
    patch(api::kinds::node(), "", lost,
          fmt::format(R"({{"metadata":{{"annotations":{{"muster.dev/fail":{}}}}}}})", value));
  };
  fail_lost(R"("not-ready")");
  create_member("c", "1");
  EXPECT_EQ(node_of("c"), node_of("a")) << "in the rack of the others, where there is a node left";
  create_member("d", "1");
  world_.advance(seconds{30});
  EXPECT_EQ(node_of("d"), "") << "not on the node that is not ready, and in no other rack";
  EXPECT_EQ(pod_text("b"), "Running ready");
  fail_lost("null");
  world_.advance(seconds{15});
  EXPECT_EQ(node_of("d"), lost);
  EXPECT_EQ(pod_text("b"), "Running ready");
}

}  // namespace
}  // namespace muster::sim
