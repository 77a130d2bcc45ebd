#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/node_affinity.h"
#include "scheduler/plugins/node_declared_features.h"
#include "scheduler/plugins/node_ports.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/plugins/node_unschedulable.h"
#include "scheduler/plugins/taint_toleration.h"

// Which events give a pod room on a node, and which come close.
namespace muster::scheduler {
namespace {

struct NodeCase {
  const char* name;
  std::vector<NodeSample> nodes;  // as it is, or as it was and as it is
  bool want;
};

void expect_wakes(const Hints& plugin, const PodSample& pod, Action update,
                  const std::vector<NodeCase>& cases) {
  const auto waiting = pod.make();
  for (const NodeCase& c : cases) {
    const bool came = c.nodes.size() == 1;
    const ClusterEvent event{Resource::Node, came ? Action::Add : update,
                             came ? nullptr : c.nodes.front().make(), c.nodes.back().make()};
    EXPECT_EQ(plugin.could_help(*waiting, event), c.want) << c.name;
  }
}

NodeSample node(const std::string& cpu, std::int64_t pods = 110) {
  return {.name = "n", .cpu = cpu, .pods = pods};
}

TEST(RoomHints, ANodeHelpsIfItTakesThePodWhenEmpty) {
  expect_wakes(NodeResourcesFit(), {.name = "p", .cpu = "2", .memory = "8Gi"},
               Action::UpdateNodeAllocatable,
               {{"exactly enough", {node("2")}, true},
                {"a little less", {node("1999m")}, false},
                {"one slot", {node("2", 1)}, true},
                {"no slot", {node("2", 0)}, false},
                {"enough of one resource", {{.name = "n", .cpu = "9", .memory = "7Gi"}}, false},
                {"it grew to what is asked", {node("1"), node("2")}, true},
                {"it grew, but not enough", {node("1"), node("1500m")}, false},
                {"it shrank to what is asked", {node("3"), node("2")}, false},
                {"one slot more", {node("2", 5), node("2", 6)}, true},
                {"one slot less", {node("2", 6), node("2", 5)}, false},
                {"it grew in one thing and shrank in another", {node("3", 5), node("2", 6)}, true},
                {"a slot more on a node that is too small", {node("1", 5), node("1", 6)}, false}});
}

TEST(RoomHints, DevicesCountUnlessTheProfileIgnoresThem) {
  const PodSample pod{.name = "p", .extended = {{"example.com/gpu", "2"}}};
  const auto with = [](const std::string& gpus) {
    return NodeSample{.name = "n", .extended = {{"example.com/gpu", gpus}}};
  };
  expect_wakes(NodeResourcesFit(), pod, Action::UpdateNodeAllocatable,
               {{"a node without", {node("4")}, false},
                {"too few", {with("1")}, false},
                {"enough", {with("2")}, true},
                {"they came", {node("4"), with("2")}, true},
                {"more than before", {with("2"), with("3")}, true},
                {"more cpu, which it does not ask for", {node("4"), node("5")}, false}});
  NodeResourcesFitArgs args;
  args.ignored.names = {"example.com/gpu"};
  expect_wakes(NodeResourcesFit(args), pod, Action::UpdateNodeAllocatable,
               {{"a node without", {node("4")}, true},
                {"more of what is ignored", {with("2"), with("3")}, false}});
}

TEST(RoomHints, APodThatAsksForLessHelpsThoseWhoAskForThat) {
  const NodeResourcesFit plugin;
  const auto runs = [](const char* cpu, const char* memory) {
    return PodSample{.name = "q", .cpu = cpu, .memory = memory, .node_name = "n"}.make();
  };
  const auto wakes = [&](const api::ObjectPtr& before, const api::ObjectPtr& after,
                         Action action = Action::UpdatePodScaleDown) {
    return plugin.could_help(*PodSample{.name = "p", .cpu = "1"}.make(),
                             {Resource::AssignedPod, action, before, after});
  };
  EXPECT_TRUE(wakes(runs("2", "2Gi"), runs("1999m", "2Gi")));
  EXPECT_TRUE(wakes(runs("2", "1Gi"), runs("1", "2Gi")));
  EXPECT_FALSE(wakes(runs("2", "2Gi"), runs("2", "1Gi"))) << "it asks for no memory";
  EXPECT_FALSE(wakes(runs("1", "2Gi"), runs("2", "1Gi")));
  EXPECT_FALSE(wakes(runs("2", "2Gi"), runs("1", "2Gi"), Action::UpdatePodLabel));
  const auto pod = PodSample{.name = "p", .cpu = "1"}.make();
  EXPECT_FALSE(plugin.could_help(*pod, {Resource::TargetPod, Action::UpdatePodLabel, pod, pod}));
  EXPECT_FALSE(plugin.could_help(*pod, {Resource::Namespace, Action::Add, nullptr, nullptr}));
}

// On node "full" one of four cpus is free and one of two slots; "slots" has no slot left.
class RoomNow : public ::testing::Test {
 protected:
  RoomNow() {
    cluster_.set_node(NodeSample{.name = "full", .cpu = "4", .pods = 2}.make());
    cluster_.set_node(NodeSample{.name = "slots", .cpu = "4", .pods = 1}.make());
    for (const char* name : {"full", "slots"})
      cluster_.set_pod(
          PodSample{.name = std::string("on-") + name, .cpu = "3", .node_name = name}.make());
  }
  bool helps(const PodSample& pod, const PodSample& freed) const {
    return NodeResourcesFit().helps_by_now(
        *pod.make(), {Resource::AssignedPod, Action::Delete, freed.make(), nullptr}, cluster_);
  }

  Cluster cluster_;
};

TEST_F(RoomNow, TheNodeOfThePodThatWentDecides) {
  const PodSample small{.name = "p", .cpu = "1"};
  EXPECT_TRUE(helps(small, {.name = "q", .node_name = "full"}));
  EXPECT_FALSE(helps({.name = "p", .cpu = "1001m"}, {.name = "q", .node_name = "full"}));
  EXPECT_FALSE(helps(small, {.name = "q", .node_name = "slots"})) << "no slot is free";
  EXPECT_FALSE(helps(small, {.name = "q", .node_name = "gone"})) << "the node left as well";
  EXPECT_TRUE(helps({.name = "p", .cpu = "9"}, {.name = "q", .nominated_node = "full"}))
      << "it only had room kept for it: where that is now is not known";
  EXPECT_FALSE(helps({.name = "p", .extended = {{"example.com/gpu", "1"}}},
                     {.name = "q", .node_name = "full"}))
      << "no node has that";
  EXPECT_TRUE(helps({.name = "p", .cpu = "0", .extended = {{"example.com/gpu", "0"}}},
                    {.name = "q", .node_name = "full"}))
      << "it asks for none of that";
}

TEST_F(RoomNow, APodThatShrankFreesTheNodeThatItIsOn) {
  const NodeResourcesFit plugin;
  const auto on = [](const char* name) {
    return PodSample{.name = "q", .cpu = "1", .node_name = name}.make();
  };
  const auto pod = PodSample{.name = "p", .cpu = "1"}.make();
  const auto shrank = [&](const api::ObjectPtr& before, const api::ObjectPtr& after) {
    return plugin.helps_by_now(
        *pod, {Resource::AssignedPod, Action::UpdatePodScaleDown, before, after}, cluster_);
  };
  EXPECT_TRUE(shrank(on("full"), on("full")));
  EXPECT_FALSE(shrank(on("slots"), on("slots")));
  EXPECT_FALSE(shrank(nullptr, on("slots")));
  EXPECT_TRUE(shrank(nullptr, on("full")));
  EXPECT_TRUE(shrank(nullptr, nullptr)) << "nothing is known";
}

TEST_F(RoomNow, OtherEventsAreBelieved) {
  const auto huge = PodSample{.name = "p", .cpu = "9"}.make();
  const auto came = NodeSample{.name = "full"}.make();
  EXPECT_TRUE(NodeResourcesFit().helps_by_now(*huge, {Resource::Node, Action::Add, nullptr, came},
                                              cluster_));
  EXPECT_TRUE(NodeResourcesFit().helps_by_now(
      *huge, {Resource::TargetPod, Action::UpdatePodScaleDown, huge, huge}, cluster_));
}

TEST(RoomHints, OnlyTaintsThatThePodDoesNotTolerateMatter) {
  const auto tainted = [](const std::string& key, const std::string& effect) {
    return NodeSample{.name = "n",
                      .taints = R"([{"key":")" + key + R"(","effect":")" + effect + "\"}]"};
  };
  const NodeSample clean{.name = "n"};
  const PodSample pod{.name = "p", .spec = R"("tolerations":[{"key":"mine","operator":"Exists"}])"};
  expect_wakes(TaintToleration(), pod, Action::UpdateNodeTaint,
               {{"tolerated", {tainted("mine", "NoSchedule")}, true},
                {"soft", {tainted("other", "PreferNoSchedule")}, true},
                {"hard", {tainted("other", "NoExecute")}, false},
                {"it became clean", {tainted("other", "NoExecute"), clean}, true},
                {"it was good before", {tainted("mine", "NoSchedule"), clean}, false},
                {"it became tolerable",
                 {tainted("other", "NoSchedule"), tainted("mine", "NoSchedule")},
                 true},
                {"one hard taint for another",
                 {tainted("other", "NoSchedule"), tainted("third", "NoSchedule")},
                 false}});
  expect_wakes(TaintToleration(), pod, Action::UpdateNodeLabel,
               {{"another change", {tainted("other", "NoSchedule"), clean}, false}});
}

TEST(RoomHints, CordonsMatterWhenTheyAreLifted) {
  const NodeSample open{.name = "n"};
  const NodeSample cordoned{.name = "n", .unschedulable = true};
  expect_wakes(NodeUnschedulable(), {.name = "p"}, Action::UpdateNodeTaint,
               {{"an open node", {open}, true},
                {"lifted", {cordoned, open}, true},
                {"set", {open, cordoned}, false},
                {"still there", {cordoned, cordoned}, false}});
  expect_wakes(NodeUnschedulable(), {.name = "p"}, Action::UpdateNodeLabel,
               {{"another change", {cordoned, open}, false}});
}

TEST(RoomHints, NodesMustMatchWhatTheProfileAddsToo) {
  const api::NodeSelectorTerm in_pool{{{"pool", api::SelectorOperator::In, {"a"}}}, {}};
  const NodeAffinity plugin({.has_required = true, .required = {in_pool}, .preferred = {}});
  const PodSample pod{.name = "p", .spec = R"("nodeSelector":{"disk":"ssd"})"};
  const auto with = [](std::map<std::string, std::string> labels) {
    return NodeSample{.name = "n", .labels = std::move(labels)};
  };
  const NodeSample both = with({{"pool", "a"}, {"disk", "ssd"}});
  expect_wakes(plugin, pod, Action::UpdateNodeLabel,
               {{"both", {both}, true},
                {"the pod's alone", {with({{"disk", "ssd"}})}, false},
                {"the profile's alone", {with({{"pool", "a"}})}, false},
                {"the profile's came", {with({{"disk", "ssd"}}), both}, true},
                {"both were there", {both, both}, false}});
  expect_wakes(plugin, pod, Action::UpdateNodeTaint, {{"another change", {with({}), both}, false}});
}

TEST(RoomHints, ANodeMustDeclareAllFeatures) {
  const auto declares = [](const std::string& names) {
    return NodeSample{.name = "n", .status = R"("declaredFeatures":[)" + names + "]"};
  };
  const std::string name = R"("UserNamespacesHostNetworkSupport")";
  const PodSample pod{.name = "p", .spec = R"("hostNetwork":true,"hostUsers":false)"};
  expect_wakes(NodeDeclaredFeatures(), pod, Action::UpdateNodeDeclaredFeature,
               {{"with it", {declares(name)}, true},
                {"without it", {declares(R"("Other")")}, false},
                {"it came", {declares(""), declares(name)}, true},
                {"it went", {declares(name), declares("")}, false}});
  expect_wakes(NodeDeclaredFeatures(), pod, Action::UpdateNodeLabel,
               {{"another change", {declares(""), declares(name)}, false}});
}

TEST(RoomHints, APortIsFreedByItsProtocolAndAddress) {
  const auto with_port = [](const std::string& more, const std::string& node) {
    return PodSample{.name = "p",
                     .node_name = node,
                     .ports = R"([{"containerPort":80,"hostPort":80)" + more + "}]"}
        .make();
  };
  const auto waiting = with_port(R"(,"hostIP":"10.0.0.1","protocol":"TCP")", "");
  struct Case {
    const char* more;
    bool want;
  };
  const Case cases[] = {{R"(,"hostIP":"10.0.0.1","protocol":"TCP")", true},
                        {R"(,"hostIP":"10.0.0.2","protocol":"TCP")", false},
                        {R"(,"hostIP":"10.0.0.1","protocol":"UDP")", false},
                        {R"(,"protocol":"TCP")", true}};
  for (const Case& c : cases)
    EXPECT_EQ(NodePorts().could_help(*waiting, {Resource::AssignedPod, Action::Delete,
                                                with_port(c.more, "n"), nullptr}),
              c.want)
        << c.more;
  const auto without = PodSample{.name = "q", .node_name = "n"}.make();
  EXPECT_FALSE(
      NodePorts().could_help(*waiting, {Resource::AssignedPod, Action::Delete, without, nullptr}));
}

}  // namespace
}  // namespace muster::scheduler
