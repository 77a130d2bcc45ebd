#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"
#include "scheduler/plugins/node_volume_limits.h"
#include "scheduler/plugins/volume_binding.h"
#include "scheduler/plugins/volume_restrictions.h"
#include "scheduler/plugins/volume_zone.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

// A cluster with storage, and pods that mount claims.
struct Bench {
  Cluster cluster;
  Profile profile;

  Bench() {
    profile.add<VolumeRestrictions>(1);
    profile.add<NodeVolumeLimits>(1);
    profile.add<VolumeBinding>(1);
    profile.add<VolumeZone>(1);
  }
  NodeId add(const std::string& name, std::map<std::string, std::string> labels = {}) {
    labels["kubernetes.io/hostname"] = name;
    cluster.set_node(NodeSample{.name = name, .labels = std::move(labels)}.make());
    NodeId id{};
    EXPECT_TRUE(cluster.find_node(name, id));
    return id;
  }
  template <typename... Samples>
  void put(const Samples&... samples) {
    (cluster.put_volume_object(samples.make()), ...);
  }
  void put_object(const api::Kind& kind, const std::string& json) {
    cluster.put_volume_object(object_of(kind, json));
  }
  api::ObjectPtr pod(const std::string& name, std::initializer_list<std::string_view> claims,
                     const std::string& node = {}) {
    api::ObjectPtr made = PodSample{.name = name, .node_name = node, .spec = mounts(claims)}.make();
    cluster.count_claim_users(*made, 1);
    if (!node.empty()) cluster.set_pod(made);
    return made;
  }
  Standing standing(const api::ObjectPtr& one) { return {cluster.class_of(one), profile, cluster}; }
  std::vector<std::string> reasons(const api::ObjectPtr& one, NodeId node) {
    Standing standing(cluster.class_of(one), profile, cluster);
    standing.catch_up();
    if (standing.refused_everywhere()) return {standing.refused_everywhere()->reason};
    const Standing::Answer answer = standing.ask(node);
    EXPECT_EQ(answer.verdict.accepted(), standing.is_feasible(node));
    return {answer.verdict.reasons().begin(), answer.verdict.reasons().end()};
  }
  // Limits of the node's drivers.
  void limit(const std::string& node, int count) {
    put_object(
        api::kinds::csi_node(),
        R"({"metadata":{"name":")" + node +
            R"("},"spec":{"drivers":[{"name":"csi.example.com","nodeID":"x","allocatable":{"count":)" +
            std::to_string(count) + "}}]}}");
  }
};

using Reasons = std::vector<std::string>;

// --- VolumeBinding ---

TEST(VolumeBindingFilter, BoundVolumesKeepPodsWhereTheyAreReached) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put(ClassSample{}, ClaimSample{.name = "a", .volume = "v"},
            VolumeSample{.name = "v", .claim = "a", .host = "n1"});
  const auto pod = bench.pod("p", {"a"});
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{});
  EXPECT_EQ(bench.reasons(pod, n2),
            Reasons{"node(s) didn't match PersistentVolume's node affinity"});
}

TEST(VolumeBindingFilter, UnboundImmediateClaimsHoldThePodBackEverywhere) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{.waits = false}, ClaimSample{.name = "a"});
  EXPECT_EQ(bench.reasons(bench.pod("p", {"a"}), n1),
            Reasons{"pod has unbound immediate PersistentVolumeClaims"});
}

TEST(VolumeBindingFilter, AMissingClaimIsNamedByTheFirstThatLooks) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  EXPECT_EQ(bench.reasons(bench.pod("p", {"nope"}), n1),
            Reasons{"persistentvolumeclaim \"nope\" not found"});
}

TEST(VolumeBindingFilter, AnEphemeralClaimThatIsNotMadeYetIsWaitedFor) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const auto pod =
      PodSample{.name = "p",
                .spec = R"("volumes":[{"name":"e","ephemeral":{"volumeClaimTemplate":{}}}])"}
          .make();
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{"waiting for ephemeral volume controller to create the "
                                            "persistentvolumeclaim \"p-e\""})
      << "that the limits cannot be checked is said later, node by node";
}

TEST(VolumeBindingFilter, AVolumeThatIsBeingMadeDecidesTheNode) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put(ClassSample{}, ClaimSample{.name = "a", .selected_node = "n1"},
            VolumeSample{.name = "v", .claim = "a"});
  const auto pod = bench.pod("p", {"a"});
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{});
  EXPECT_EQ(bench.reasons(pod, n2),
            Reasons{"node(s) didn't find available persistent volumes to bind"})
      << "although a volume is kept for the claim";
}

TEST(VolumeBindingFilter, AVolumeOfAnotherClassIsNotForTheClaim) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{.name = "local", .provisioner = "kubernetes.io/no-provisioner"},
            ClaimSample{.name = "a", .storage_class = "local"},
            VolumeSample{.name = "v", .storage_class = "fast", .claim = "a"});
  EXPECT_EQ(bench.reasons(bench.pod("p", {"a"}), n1),
            Reasons{"node(s) didn't find available persistent volumes to bind"});
}

TEST(VolumeBindingFilter, ClaimsThatWaitFindAVolumeOrAProvisioner) {
  Bench bench;
  const NodeId n1 = bench.add("n1", {{"zone", "a"}});
  const NodeId n2 = bench.add("n2", {{"zone", "b"}});
  bench.put(ClassSample{.name = "local", .provisioner = "kubernetes.io/no-provisioner"},
            ClassSample{.name = "made", .more = R"(,"allowedTopologies":[{"matchLabelExpressions":[
                            {"key":"zone","values":["b"]}]}])"},
            ClaimSample{.name = "l", .storage_class = "local"},
            ClaimSample{.name = "m", .storage_class = "made"},
            VolumeSample{.name = "v", .storage_class = "local", .host = "n1"});
  const Reasons none{"node(s) didn't find available persistent volumes to bind"};
  EXPECT_EQ(bench.reasons(bench.pod("p1", {"l"}), n1), Reasons{});
  EXPECT_EQ(bench.reasons(bench.pod("p2", {"l"}), n2), none);
  EXPECT_EQ(bench.reasons(bench.pod("p3", {"m"}), n1), none);
  EXPECT_EQ(bench.reasons(bench.pod("p4", {"m"}), n2), Reasons{});
  bench.put(ClaimSample{.name = "m", .storage_class = "made", .selected_node = "n9"});
  EXPECT_EQ(bench.reasons(bench.pod("p5", {"m"}), n2), none);
}

TEST(VolumeBindingFilter, FollowsTheVolumesThatADraftGivesAway) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put(ClassSample{.provisioner = "kubernetes.io/no-provisioner"}, ClaimSample{.name = "a"},
            ClaimSample{.name = "b"}, VolumeSample{.name = "v1", .host = "n1"},
            VolumeSample{.name = "v2", .host = "n2"}, VolumeSample{.name = "v3", .host = "n2"});
  const PodClass& pods = bench.cluster.class_of(bench.pod("p", {"a"}));
  EXPECT_EQ(&pods, &bench.cluster.class_of(bench.pod("q", {"b"}))) << "one class for both";
  Standing standing(pods, bench.profile, bench.cluster);
  standing.catch_up();
  EXPECT_TRUE(standing.follows_moves());
  EXPECT_EQ(standing.cap_now(n1), 1);
  EXPECT_EQ(standing.cap_now(n2), 2);
  bench.cluster.place(pods, n1);
  standing.placed(pods, n1);
  EXPECT_FALSE(standing.is_feasible(n1));
  EXPECT_TRUE(standing.is_feasible(n2));
  bench.cluster.place(pods, n2);
  standing.placed(pods, n2);
  EXPECT_TRUE(standing.is_feasible(n2));
  bench.cluster.place(pods, n2);
  standing.placed(pods, n2);
  EXPECT_FALSE(standing.is_feasible(n2));
  bench.cluster.unplace(pods, n2);
  standing.removed(pods, n2);
  EXPECT_TRUE(standing.is_feasible(n2));
  EXPECT_FALSE(standing.is_feasible(n1));
  bench.cluster.unplace(pods, n2);
  standing.removed(pods, n2);
  bench.cluster.unplace(pods, n1);
  standing.removed(pods, n1);
  EXPECT_TRUE(standing.is_feasible(n1));
}

TEST(VolumeBindingFilter, ASharedClaimThatWaitsKeepsItsPodsOnOneNode) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put(ClassSample{}, ClaimSample{.name = "a"});
  const auto one = bench.pod("p", {"a"});
  bench.pod("q", {"a"});
  const PodClass& pods = bench.cluster.class_of(one);
  Standing standing(pods, bench.profile, bench.cluster);
  standing.catch_up();
  bench.cluster.place(pods, n1);
  standing.placed(pods, n1);
  EXPECT_TRUE(standing.is_feasible(n1));
  EXPECT_FALSE(standing.is_feasible(n2));
  bench.cluster.unplace(pods, n1);
  standing.removed(pods, n1);
  EXPECT_TRUE(standing.is_feasible(n2));
}

TEST(VolumeBindingScore, PrefersNodesWhereLittleOfTheStorageIsUsed) {
  struct Case {
    const char* name;
    std::vector<std::pair<std::string, std::string>> volumes;  // class, size
    std::vector<std::pair<std::string, std::string>> claims;
    std::int64_t want;
  };
  const Case cases[] = {
      {"30 of 100", {{"fast", "100Gi"}}, {{"fast", "30Gi"}}, 70},
      {"two classes",
       {{"fast", "100Gi"}, {"slow", "3Gi"}},
       {{"fast", "50Gi"}, {"slow", "1Gi"}},
       59},
      {"all of it", {{"fast", "1Gi"}}, {{"fast", "1Gi"}}, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Bench bench;
    const NodeId n1 = bench.add("n1");
    bench.put(ClassSample{.name = "fast"}, ClassSample{.name = "slow"});
    for (const auto& [storage_class, size] : c.volumes)
      bench.put(
          VolumeSample{.name = "v-" + storage_class, .storage_class = storage_class, .size = size});
    for (const auto& [storage_class, size] : c.claims)
      bench.put(ClaimSample{.name = storage_class, .storage_class = storage_class, .size = size});
    const auto pod =
        c.claims.size() == 1 ? bench.pod("p", {"fast"}) : bench.pod("p", {"fast", "slow"});
    const Standing standing = bench.standing(pod);
    ASSERT_EQ(standing.scores().size(), 1U);
    EXPECT_EQ(standing.scores().front().pass->local(n1), c.want);
  }
}

// --- NodeVolumeLimits ---

TEST(NodeVolumeLimits, CountsWhatIsAttachedOnce) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{}, ClaimSample{.name = "a", .volume = "va"},
            ClaimSample{.name = "b", .volume = "vb"}, ClaimSample{.name = "c", .volume = "vc"},
            VolumeSample{.name = "va", .claim = "a"}, VolumeSample{.name = "vb", .claim = "b"},
            VolumeSample{.name = "vc", .claim = "c"});
  bench.limit("n1", 2);
  bench.pod("p1", {"a"}, "n1");
  EXPECT_EQ(bench.reasons(bench.pod("p2", {"b"}), n1), Reasons{});
  bench.pod("p3", {"b"}, "n1");
  EXPECT_EQ(bench.reasons(bench.pod("p4", {"c"}), n1), Reasons{"node(s) exceed max volume count"});
  EXPECT_EQ(bench.reasons(bench.pod("p5", {"a"}), n1), Reasons{}) << "attached already";
  bench.limit("n1", 3);
  EXPECT_EQ(bench.reasons(bench.pod("p6", {"c"}), n1), Reasons{});
}

TEST(NodeVolumeLimits, SaysHowManyMorePodsANodeTakes) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b"});
  bench.limit("n1", 5);
  const PodClass& pods = bench.cluster.class_of(bench.pod("p", {"a", "b"}));
  Standing standing(pods, bench.profile, bench.cluster);
  standing.catch_up();
  EXPECT_EQ(standing.cap_now(n1), 2);
  bench.cluster.place(pods, n1);
  EXPECT_EQ(standing.cap_now(n1), 1);
  bench.cluster.place(pods, n1);
  EXPECT_EQ(standing.cap_now(n1), 0);
  bench.cluster.unplace(pods, n1);
  bench.cluster.unplace(pods, n1);
  EXPECT_EQ(standing.cap_now(n1), 2);
}

TEST(NodeVolumeLimits, ADriverMayBeRequiredOnTheNode) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{}, ClaimSample{.name = "a"});
  bench.put_object(api::kinds::csi_driver(), R"({"metadata":{"name":"csi.example.com"},
      "spec":{"preventPodSchedulingIfMissing":true}})");
  EXPECT_EQ(bench.reasons(bench.pod("p", {"a"}), n1),
            Reasons{"csi.example.com CSI driver is not installed on the node"});
  bench.limit("n1", 1);
  EXPECT_EQ(bench.reasons(bench.pod("q", {}), n1), Reasons{});
}

TEST(NodeVolumeLimits, WhatIsStillAttachedCounts) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{}, ClaimSample{.name = "a"}, VolumeSample{.name = "old", .claim = "gone"});
  bench.limit("n1", 1);
  const std::string attachment = R"({"metadata":{"name":"t"},"spec":{"attacher":"csi.example.com",
      "nodeName":"n1","source":{"persistentVolumeName":"old"}}})";
  bench.put_object(api::kinds::volume_attachment(), attachment);
  const auto pod = bench.pod("p", {"a"});
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{"node(s) exceed max volume count"});
  bench.cluster.remove_volume_object(*object_of(api::kinds::volume_attachment(), attachment));
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{});
}

// --- VolumeRestrictions ---

TEST(NodeVolumeLimits, AttachmentsCountOnceTheirNodeAndVolumeAreKnown) {
  Bench bench;
  bench.put(ClassSample{}, ClaimSample{.name = "a", .volume = "v"},
            VolumeSample{.name = "v", .claim = "a"});
  bench.put_object(api::kinds::volume_attachment(),
                   R"({"metadata":{"name":"x"},"spec":{"attacher":"csi.example.com",
                       "nodeName":"n1","source":{"persistentVolumeName":"other"}}})");
  bench.limit("n1", 1);
  const auto pod = bench.pod("p", {"a"});
  const NodeId n1 = bench.add("n1");
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{});
  bench.put(VolumeSample{.name = "other"});
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{"node(s) exceed max volume count"});
  // Another node takes over the row of one that is gone, and nothing that was attached to that.
  bench.cluster.remove_node("n1");
  bench.limit("n2", 1);
  EXPECT_EQ(bench.reasons(pod, bench.add("n2")), Reasons{});
  EXPECT_EQ(bench.reasons(pod, bench.add("n1")), Reasons{"node(s) exceed max volume count"});
}

TEST(VolumeRestrictions, AClaimForOnePodAtATimeIsGivenToOne) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put(ClassSample{}, ClaimSample{.name = "a", .volume = "v", .mode = "ReadWriteOncePod"},
            VolumeSample{.name = "v", .claim = "a"});
  const auto first = bench.pod("p1", {"a"});
  EXPECT_EQ(bench.reasons(first, n1), Reasons{});
  bench.pod("p2", {"a"}, "n1");
  const Reasons in_use{
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
      "in-use by another pod"};
  EXPECT_EQ(bench.reasons(first, n1), in_use);
  EXPECT_EQ(bench.reasons(first, n2), in_use);
  bench.cluster.remove_pod("default/p2");
}

TEST(VolumeRestrictions, PodsOfADraftDoNotShareIt) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put(ClassSample{}, ClaimSample{.name = "a", .volume = "v", .mode = "ReadWriteOncePod"},
            VolumeSample{.name = "v", .claim = "a"});
  const auto first = bench.pod("p1", {"a"});
  bench.pod("p2", {"a"});
  const PodClass& pods = bench.cluster.class_of(first);
  Standing standing(pods, bench.profile, bench.cluster);
  standing.catch_up();
  EXPECT_TRUE(standing.is_feasible(n2));
  bench.cluster.place(pods, n1);
  standing.placed(pods, n1);
  EXPECT_FALSE(standing.is_feasible(n2));
  bench.cluster.unplace(pods, n1);
  standing.removed(pods, n1);
  EXPECT_TRUE(standing.is_feasible(n2));
}

TEST(VolumeRestrictions, TwoWritersOfADiskDoNotMeet) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  const std::string disk = R"("volumes":[{"name":"d","gcePersistentDisk":{"pdName":"x"}}])";
  bench.cluster.set_pod(PodSample{.name = "p", .node_name = "n1", .spec = disk}.make());
  const auto pod = PodSample{.name = "q", .spec = disk}.make();
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{"node(s) had no available disk"});
  EXPECT_EQ(bench.reasons(pod, n2), Reasons{});
  EXPECT_EQ(bench.standing(pod).cap_now(n2), 1) << "a second one would want the same disk";
}

// --- VolumeZone ---

TEST(VolumeZone, KeepsPodsInTheZonesOfTheirVolumes) {
  Bench bench;
  const NodeId a = bench.add("a", {{"topology.kubernetes.io/zone", "za"}});
  const NodeId b = bench.add("b", {{"topology.kubernetes.io/zone", "zb"}});
  const NodeId bare = bench.add("bare");
  bench.put(ClassSample{}, ClaimSample{.name = "c", .volume = "v"},
            VolumeSample{.name = "v",
                         .claim = "c",
                         .labels = R"("failure-domain.beta.kubernetes.io/zone":"za__zc")"});
  const auto pod = bench.pod("p", {"c"});
  EXPECT_EQ(bench.reasons(pod, a), Reasons{});
  EXPECT_EQ(bench.reasons(pod, b), Reasons{"node(s) had no available volume zone"});
  EXPECT_EQ(bench.reasons(pod, bare), Reasons{});
}

// --- hints ---

TEST(VolumeHints, ClaimsWakeTheirOwnPodsAlone) {
  const Profile profile = default_profile();
  const auto pod = pod_with("p", {"a"});
  const auto event = [](Resource resource, Action action, const api::ObjectPtr& before,
                        const api::ObjectPtr& after) {
    return ClusterEvent{resource, action, before, after};
  };
  const auto mine = ClaimSample{.name = "a"}.make();
  const auto other = ClaimSample{.name = "b"}.make();
  for (const std::string_view plugin : {"VolumeBinding", "VolumeZone"}) {
    SCOPED_TRACE(plugin);
    EXPECT_TRUE(profile.could_help(
        plugin, *pod, event(Resource::PersistentVolumeClaim, Action::Update, mine, mine)));
    EXPECT_FALSE(profile.could_help(
        plugin, *pod, event(Resource::PersistentVolumeClaim, Action::Update, other, other)));
    EXPECT_FALSE(profile.could_help(
        plugin, *pod, event(Resource::PersistentVolumeClaim, Action::Delete, mine, nullptr)));
  }
  EXPECT_TRUE(
      profile.could_help("VolumeRestrictions", *pod,
                         event(Resource::PersistentVolumeClaim, Action::Add, nullptr, mine)));
  EXPECT_TRUE(profile.could_help(
      "VolumeRestrictions", *pod,
      event(Resource::AssignedPod, Action::Delete, pod_with("q", {"a"}), nullptr)));
  EXPECT_FALSE(profile.could_help(
      "VolumeRestrictions", *pod,
      event(Resource::AssignedPod, Action::Delete, pod_with("q", {"b"}), nullptr)));
  EXPECT_FALSE(
      profile.could_help("NodeResourcesFit", *pod,
                         event(Resource::PersistentVolumeClaim, Action::Add, nullptr, mine)));
}

TEST(VolumeHints, AGrownLimitWakes) {
  const Profile profile = default_profile();
  const auto pod = pod_with("p", {"a"});
  const auto node = [](int count) {
    return object_of(api::kinds::csi_node(),
                     R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","nodeID":"x",
                         "allocatable":{"count":)" +
                         std::to_string(count) + "}}]}}");
  };
  const auto wakes = [&](int before, int after) {
    return profile.could_help("NodeVolumeLimits", *pod,
                              {Resource::CSINode, Action::Update, node(before), node(after)});
  };
  EXPECT_TRUE(wakes(1, 2));
  EXPECT_FALSE(wakes(2, 2));
  EXPECT_FALSE(wakes(2, 1));
}

}  // namespace
}  // namespace muster::scheduler
