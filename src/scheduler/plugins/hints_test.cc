#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

ClusterEvent node_event(Action action, const NodeSample& after) {
  return {Resource::Node, action, nullptr, after.make()};
}
ClusterEvent node_event(Action action, const NodeSample& before, const NodeSample& after) {
  return {Resource::Node, action, before.make(), after.make()};
}

TEST(Hints, FitWakesForRoomThatThePodAsksFor) {
  const Profile profile = default_profile();
  const auto pod = PodSample{.name = "p", .cpu = "2"}.make();
  const auto wakes = [&](const ClusterEvent& event) {
    return profile.could_help("NodeResourcesFit", *pod, event);
  };
  EXPECT_TRUE(wakes(node_event(Action::Add, {.name = "n", .cpu = "2"})));
  EXPECT_FALSE(wakes(node_event(Action::Add, {.name = "n", .cpu = "1"})));
  EXPECT_TRUE(wakes(node_event(Action::UpdateNodeAllocatable, {.name = "n", .cpu = "2"},
                               {.name = "n", .cpu = "3"})));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeAllocatable, {.name = "n", .memory = "1Gi"},
                                {.name = "n", .memory = "2Gi"})));
  EXPECT_TRUE(wakes(node_event(Action::UpdateNodeAllocatable, {.name = "n", .pods = 5},
                               {.name = "n", .pods = 6})));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeLabel, {.name = "n"}, {.name = "n"})));
  const auto bound = PodSample{.name = "b", .cpu = "1", .node_name = "n"}.make();
  EXPECT_TRUE(wakes({Resource::AssignedPod, Action::Delete, bound, nullptr}));
  EXPECT_FALSE(
      wakes({Resource::AssignedPod, Action::Delete, PodSample{.name = "b"}.make(), nullptr}));
  EXPECT_FALSE(wakes({Resource::AssignedPod, Action::Add, nullptr, bound}));
  const auto smaller = PodSample{.name = "b", .cpu = "500m", .node_name = "n"}.make();
  EXPECT_TRUE(wakes({Resource::AssignedPod, Action::UpdatePodScaleDown, bound, smaller}));
}

TEST(Hints, FitLooksAtWhatIsFreeNow) {
  NodeResourcesFitArgs args;
  args.ignored.names = {"example.com/gadget"};
  Profile profile;
  profile.add<NodeResourcesFit>(1, args);
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n", .cpu = "4", .pods = 2}.make());
  cluster.set_pod(PodSample{.name = "stays", .cpu = "3", .node_name = "n"}.make());
  const auto gone = PodSample{.name = "gone", .cpu = "1", .node_name = "n"}.make();
  const ClusterEvent left{Resource::AssignedPod, Action::Delete, gone, nullptr};
  const auto wakes = [&](const PodSample& pod, const Cluster* now) {
    return profile.could_help("NodeResourcesFit", *pod.make(), left, now);
  };
  EXPECT_TRUE(wakes({.name = "p", .cpu = "1"}, &cluster));
  EXPECT_FALSE(wakes({.name = "p", .cpu = "2"}, &cluster));
  EXPECT_TRUE(wakes({.name = "p", .cpu = "2"}, nullptr)) << "it may evict the other";
  EXPECT_TRUE(wakes({.name = "p", .cpu = "1", .extended = {{"example.com/gadget", "1"}}}, &cluster))
      << "somebody else looks after gadgets";
  EXPECT_FALSE(wakes({.name = "p", .cpu = "1", .extended = {{"example.com/gpu", "1"}}}, &cluster));
  cluster.set_pod(PodSample{.name = "small", .node_name = "n"}.make());
  EXPECT_FALSE(wakes({.name = "p"}, &cluster)) << "no slot is free";
}

TEST(Hints, RoomThatIsKeptWakesWhenThePodThatItIsKeptForGoes) {
  const Profile profile = default_profile();
  const auto pod = [](const std::string& name, const std::string& nominated) {
    return PodSample{.name = name,
                     .cpu = "1",
                     .nominated_node = nominated,
                     .spec = R"("volumes":[{"name":"d","gcePersistentDisk":{"pdName":"x"}}])",
                     .ports = R"([{"containerPort":80,"hostPort":80}])"}
        .make();
  };
  const auto waiting = pod("p", "");
  const auto wakes = [&](std::string_view plugin, const std::string& nominated) {
    return profile.could_help(
        plugin, *waiting, {Resource::AssignedPod, Action::Delete, pod("gone", nominated), nullptr});
  };
  for (const std::string_view plugin : {"NodeResourcesFit", "NodePorts", "NodeVolumeLimits"}) {
    EXPECT_TRUE(wakes(plugin, "n")) << plugin;
    EXPECT_FALSE(wakes(plugin, "")) << plugin;
  }
}

TEST(Hints, TaintsWakeWhenTheyGo) {
  const Profile profile = default_profile();
  const auto pod = PodSample{.name = "p"}.make();
  const NodeSample clean{.name = "n"};
  const NodeSample tainted{.name = "n", .taints = R"([{"key":"k","effect":"NoSchedule"}])"};
  const auto wakes = [&](const ClusterEvent& event) {
    return profile.could_help("TaintToleration", *pod, event);
  };
  EXPECT_TRUE(wakes(node_event(Action::UpdateNodeTaint, tainted, clean)));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeTaint, clean, tainted)));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeTaint, clean, clean)));
  EXPECT_TRUE(wakes(node_event(Action::Add, clean)));
  EXPECT_FALSE(wakes(node_event(Action::Add, tainted)));
}

TEST(Hints, CordonsWakeWhenLifted) {
  const Profile profile = default_profile();
  const auto pod = PodSample{.name = "p"}.make();
  const auto wakes = [&](const ClusterEvent& event) {
    return profile.could_help("NodeUnschedulable", *pod, event);
  };
  EXPECT_TRUE(wakes(
      node_event(Action::UpdateNodeTaint, {.name = "n", .unschedulable = true}, {.name = "n"})));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeTaint, {.name = "n"}, {.name = "n"})));
  EXPECT_FALSE(wakes(node_event(Action::Add, {.name = "n", .unschedulable = true})));
}

TEST(Hints, PortsWakeWhenTheirHolderGoes) {
  const Profile profile = default_profile();
  const auto with_port = [](int port, const std::string& node) {
    const std::string number = std::to_string(port);
    return PodSample{.name = "p",
                     .node_name = node,
                     .ports = R"([{"containerPort":)" + number + R"(,"hostPort":)" + number + "}]"}
        .make();
  };
  const auto pod = with_port(80, "");
  const auto wakes = [&](const ClusterEvent& event) {
    return profile.could_help("NodePorts", *pod, event);
  };
  EXPECT_TRUE(wakes({Resource::AssignedPod, Action::Delete, with_port(80, "n"), nullptr}));
  EXPECT_FALSE(wakes({Resource::AssignedPod, Action::Delete, with_port(81, "n"), nullptr}));
  EXPECT_FALSE(wakes({Resource::AssignedPod, Action::Delete, with_port(80, ""), nullptr}));
  EXPECT_FALSE(wakes({Resource::AssignedPod, Action::Add, nullptr, with_port(80, "n")}));
  EXPECT_TRUE(wakes(node_event(Action::Add, {.name = "n"})));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeLabel, {.name = "n"}, {.name = "n"})));
}

// Whatever else happens costs those nothing who wait because of the plugin.
TEST(Hints, PluginsListenToWhatTheyRegisterForAndNothingElse) {
  using R = Resource;
  using A = Action;
  using Events = std::set<std::pair<R, A>>;
  const std::map<std::string_view, Events> registered{
      {"SchedulingGates", {{R::TargetPod, A::UpdatePodSchedulingGatesEliminated}}},
      {"NodeName", {{R::Node, A::Add}}},
      {"NodeUnschedulable",
       {{R::Node, A::Add}, {R::Node, A::UpdateNodeTaint}, {R::TargetPod, A::UpdatePodToleration}}},
      {"TaintToleration",
       {{R::Node, A::Add}, {R::Node, A::UpdateNodeTaint}, {R::TargetPod, A::UpdatePodToleration}}},
      {"NodeAffinity", {{R::Node, A::Add}, {R::Node, A::UpdateNodeLabel}}},
      {"NodePorts", {{R::Node, A::Add}, {R::AssignedPod, A::Delete}}},
      {"NodeResourcesFit",
       {{R::Node, A::Add},
        {R::Node, A::UpdateNodeAllocatable},
        {R::AssignedPod, A::Delete},
        {R::AssignedPod, A::UpdatePodScaleDown},
        {R::TargetPod, A::UpdatePodScaleDown}}},
      {"VolumeRestrictions",
       {{R::Node, A::Add}, {R::AssignedPod, A::Delete}, {R::PersistentVolumeClaim, A::Add}}},
      {"NodeVolumeLimits",
       {{R::CSINode, A::Add},
        {R::CSINode, A::Update},
        {R::AssignedPod, A::Delete},
        {R::PersistentVolumeClaim, A::Add},
        {R::VolumeAttachment, A::Delete}}},
      {"VolumeBinding",
       {{R::Node, A::Add},
        {R::Node, A::UpdateNodeLabel},
        {R::StorageClass, A::Add},
        {R::StorageClass, A::Update},
        {R::PersistentVolumeClaim, A::Add},
        {R::PersistentVolumeClaim, A::Update},
        {R::PersistentVolume, A::Add},
        {R::PersistentVolume, A::Update},
        {R::CSINode, A::Add},
        {R::CSINode, A::Update},
        {R::CSIDriver, A::Update},
        {R::CSIStorageCapacity, A::Add},
        {R::CSIStorageCapacity, A::Update}}},
      {"VolumeZone",
       {{R::Node, A::Add},
        {R::Node, A::UpdateNodeLabel},
        {R::StorageClass, A::Add},
        {R::PersistentVolumeClaim, A::Add},
        {R::PersistentVolumeClaim, A::Update},
        {R::PersistentVolume, A::Add},
        {R::PersistentVolume, A::Update}}},
      {"PodTopologySpread",
       {{R::Node, A::Add},
        {R::Node, A::Delete},
        {R::Node, A::UpdateNodeLabel},
        {R::Node, A::UpdateNodeTaint},
        {R::AssignedPod, A::Add},
        {R::AssignedPod, A::Delete},
        {R::AssignedPod, A::UpdatePodLabel},
        {R::TargetPod, A::UpdatePodLabel},
        {R::TargetPod, A::UpdatePodToleration}}},
      {"InterPodAffinity",
       {{R::Node, A::Add},
        {R::Node, A::UpdateNodeLabel},
        {R::AssignedPod, A::Add},
        {R::AssignedPod, A::Delete},
        {R::AssignedPod, A::UpdatePodLabel},
        {R::TargetPod, A::UpdatePodLabel},
        {R::Namespace, A::Add}}},
      {"DynamicResources", {}},
      {"NodeDeclaredFeatures", {{R::Node, A::Add}, {R::Node, A::UpdateNodeDeclaredFeature}}},
  };
  const std::map<R, std::vector<A>> possible{
      {R::Node,
       {A::Add, A::Delete, A::UpdateNodeAllocatable, A::UpdateNodeLabel, A::UpdateNodeTaint,
        A::UpdateNodeCondition, A::UpdateNodeAnnotation, A::UpdateNodeDeclaredFeature}},
      {R::AssignedPod,
       {A::Add, A::Delete, A::UpdatePodLabel, A::UpdatePodScaleDown, A::UpdatePodScaleUp,
        A::UpdatePodToleration, A::UpdatePodSchedulingGatesEliminated}},
      {R::TargetPod,
       {A::UpdatePodLabel, A::UpdatePodScaleDown, A::UpdatePodScaleUp, A::UpdatePodToleration,
        A::UpdatePodSchedulingGatesEliminated}},
      {R::Namespace, {A::Add}},
      {R::PersistentVolume, {A::Add, A::Update, A::Delete}},
      {R::PersistentVolumeClaim, {A::Add, A::Update, A::Delete}},
      {R::StorageClass, {A::Add, A::Update, A::Delete}},
      {R::CSINode, {A::Add, A::Update, A::Delete}},
      {R::CSIDriver, {A::Add, A::Update, A::Delete}},
      {R::CSIStorageCapacity, {A::Add, A::Update, A::Delete}},
      {R::VolumeAttachment, {A::Add, A::Update, A::Delete}},
  };
  const Profile profile = default_profile();
  for (const auto& [plugin, events] : registered)
    for (const auto& [resource, actions] : possible)
      for (const Action action : actions)
        EXPECT_EQ(profile.listens(plugin, resource, action), events.contains({resource, action}))
            << plugin << ", resource " << static_cast<int>(resource) << ", action "
            << static_cast<int>(action);
}

// A profile without the plugin has refused nobody by it, and has no say.
TEST(Hints, OnlyProfilesThatHaveThePluginAreAsked) {
  Profiles profiles("full", default_profile());
  profiles.add("bare", Profile());
  EXPECT_FALSE(profiles.listens("InterPodAffinity", Resource::Node, Action::UpdateNodeCondition));
  EXPECT_TRUE(profiles.listens("InterPodAffinity", Resource::Node, Action::UpdateNodeLabel));
  EXPECT_TRUE(profiles.listens("Nobody", Resource::Node, Action::UpdateNodeCondition));
}

TEST(Hints, APodThatChangesItselfIsAskedAbout) {
  const Profile profile = default_profile();
  const auto plain = PodSample{.name = "p"}.make();
  const auto tolerant =
      PodSample{.name = "p", .spec = R"("tolerations":[{"operator":"Exists"}])"}.make();
  const auto wakes = [&](std::string_view plugin, Action action, const api::ObjectPtr& after) {
    return profile.could_help(plugin, *after, {Resource::TargetPod, action, plain, after});
  };
  EXPECT_TRUE(wakes("NodeUnschedulable", Action::UpdatePodToleration, tolerant));
  EXPECT_FALSE(wakes("NodeUnschedulable", Action::UpdatePodToleration, plain));
  EXPECT_TRUE(wakes("TaintToleration", Action::UpdatePodToleration, plain));
  EXPECT_TRUE(wakes("NodeResourcesFit", Action::UpdatePodScaleDown, plain));
  EXPECT_TRUE(wakes("SchedulingGates", Action::UpdatePodSchedulingGatesEliminated, plain));
  EXPECT_TRUE(wakes("InterPodAffinity", Action::UpdatePodLabel, plain));
}

TEST(Hints, AffinityWakesWhenANodeBeginsToMatch) {
  const Profile profile = default_profile();
  const auto pod = PodSample{.name = "p", .spec = R"("nodeSelector":{"disk":"ssd"})"}.make();
  const NodeSample ssd{.name = "n", .labels = {{"disk", "ssd"}}};
  const NodeSample hdd{.name = "n", .labels = {{"disk", "hdd"}}};
  const auto wakes = [&](const ClusterEvent& event) {
    return profile.could_help("NodeAffinity", *pod, event);
  };
  EXPECT_TRUE(wakes(node_event(Action::UpdateNodeLabel, hdd, ssd)));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeLabel, ssd, ssd)));
  EXPECT_FALSE(wakes(node_event(Action::UpdateNodeLabel, ssd, hdd)));
  EXPECT_TRUE(wakes(node_event(Action::Add, ssd)));
}

TEST(Hints, ADriverThatIsInstalledBesideOthersWakes) {
  const Profile profile = default_profile();
  const auto pod = pod_with("p", {"a"});
  const auto node = [](const std::string& drivers) {
    return object_of(api::kinds::csi_node(),
                     R"({"metadata":{"name":"n"},"spec":{"drivers":[)" + drivers + "]}}");
  };
  const std::string one = R"({"name":"one","nodeID":"x"})";
  const auto before = node(one);
  const auto after = node(one + R"(,{"name":"two","nodeID":"x"})");
  EXPECT_TRUE(profile.could_help("NodeVolumeLimits", *pod,
                                 {Resource::CSINode, Action::Update, before, after}));
  EXPECT_FALSE(profile.could_help("NodeVolumeLimits", *pod,
                                  {Resource::CSINode, Action::Update, after, before}));
}

TEST(Hints, ALimitThatIsLiftedWakes) {
  const Profile profile = default_profile();
  const auto pod = pod_with("p", {"a"});
  const auto node = [](const std::string& allocatable) {
    return object_of(api::kinds::csi_node(),
                     R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","nodeID":"x")" +
                         allocatable + "}]}}");
  };
  const auto limited = node(R"(,"allocatable":{"count":1})");
  const auto unlimited = node("");
  EXPECT_TRUE(profile.could_help("NodeVolumeLimits", *pod,
                                 {Resource::CSINode, Action::Update, limited, unlimited}));
  EXPECT_FALSE(profile.could_help("NodeVolumeLimits", *pod,
                                  {Resource::CSINode, Action::Update, unlimited, limited}));
}

TEST(Hints, WhatAStorageObjectDidNotSayBeforeWakes) {
  const Profile profile = default_profile();
  const auto pod = pod_with("p", {"a"});
  const auto wakes = [&](std::string_view plugin, Resource resource, const api::ObjectPtr& before,
                         const api::ObjectPtr& after) {
    return profile.could_help(plugin, *pod, {resource, Action::Update, before, after});
  };
  const auto capacity = [](const std::string& amount) {
    return object_of(api::kinds::csi_storage_capacity(),
                     R"({"metadata":{"name":"k"},"storageClassName":"fast")" + amount + "}");
  };
  const auto unknown = capacity("");
  const auto known = capacity(R"(,"capacity":"1Gi")");
  EXPECT_TRUE(wakes("VolumeBinding", Resource::CSIStorageCapacity, unknown, known));
  EXPECT_FALSE(wakes("VolumeBinding", Resource::CSIStorageCapacity, known, unknown));
  const auto volume = VolumeSample{.name = "v"}.make();
  const auto zonal =
      VolumeSample{.name = "v", .labels = R"("topology.kubernetes.io/zone":"a")"}.make();
  EXPECT_TRUE(wakes("VolumeZone", Resource::PersistentVolume, volume, zonal));
  EXPECT_TRUE(wakes("VolumeZone", Resource::PersistentVolume, zonal, volume));
  EXPECT_FALSE(wakes("VolumeZone", Resource::PersistentVolume, volume, volume));
}

TEST(Profile, AnUnknownPluginIsWokenByEverything) {
  const Profile profile = default_profile();
  EXPECT_TRUE(profile.could_help("Nobody", *PodSample{.name = "p"}.make(),
                                 node_event(Action::Add, {.name = "n"})));
}

TEST(Profile, GatesArePreEnqueueReasons) {
  const Profile profile = default_profile();
  const auto gated =
      PodSample{.name = "p", .spec = R"("schedulingGates":[{"name":"quota"}])"}.make();
  EXPECT_EQ(profile.pre_enqueue(*gated), "waiting for scheduling gates: [quota]");
  EXPECT_EQ(profile.gated_by(*gated), "SchedulingGates");
  EXPECT_EQ(profile.pre_enqueue(*PodSample{.name = "q"}.make()), std::nullopt);
}

}  // namespace
}  // namespace muster::scheduler
