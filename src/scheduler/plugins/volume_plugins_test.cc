#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"
#include "scheduler/plugins/default_profile.h"
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

// Zones would refuse the pod before any node is looked at; here nobody asks about zones.
TEST(VolumeBindingFilter, AVolumeThatIsGoneIsAReasonAtEachNode) {
  Bench bench;
  bench.profile = Profile();
  bench.profile.add<VolumeBinding>(1);
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{}, ClaimSample{.name = "a", .volume = "gone"});
  EXPECT_EQ(bench.reasons(bench.pod("p", {"a"}), n1),
            Reasons{"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"});
}

TEST(VolumeBindingFilter, StorageThatDriversReportMustBeEnough) {
  Bench bench;
  const NodeId n1 = bench.add("n1", {{"zone", "a"}});
  const NodeId n2 = bench.add("n2", {{"zone", "b"}});
  bench.put(ClassSample{}, ClaimSample{.name = "a", .size = "3Gi"});
  bench.put_object(api::kinds::csi_driver(), R"({"metadata":{"name":"csi.example.com"},
      "spec":{"storageCapacity":true}})");
  const auto report = [&](const char* name, const char* zone, const std::string& amounts) {
    bench.put_object(api::kinds::csi_storage_capacity(),
                     R"({"metadata":{"name":")" + std::string(name) +
                         R"(","namespace":"x"},"storageClassName":"fast",)" + amounts +
                         R"(,"nodeTopology":{"matchLabels":{"zone":")" + zone + R"("}}})");
  };
  report("ka", "a", R"("capacity":"12Gi")");
  report("kb", "b", R"("capacity":"12Gi","maximumVolumeSize":"2Gi")");
  const auto pod = bench.pod("p", {"a"});
  EXPECT_EQ(bench.reasons(pod, n1), Reasons{});
  EXPECT_EQ(bench.reasons(pod, n2), Reasons{"node(s) did not have enough free storage"})
      << "there is room, but for smaller volumes";
  const Standing standing = bench.standing(pod);
  ASSERT_EQ(standing.scores().size(), 1U);
  EXPECT_EQ(standing.scores().front().pass->local(n1), 75) << "3 of 12";
  EXPECT_EQ(standing.scores().front().pass->local(n2), 0) << "nothing that could be used";
}

TEST(VolumeBindingScore, PrefersNodesWhereLittleOfTheStorageIsUsed) {
  struct Case {
    const char* name;
    std::vector<std::pair<std::string, std::string>> volumes;  // class, size
    std::vector<std::pair<std::string, std::string>> claims;
    std::int64_t want;
  };
  const Case cases[] = {
      {"N3: 30 of 100", {{"fast", "100Gi"}}, {{"fast", "30Gi"}}, 70},
      {"N4: two classes",
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

TEST(NodeVolumeLimits, AMissingDriverIsNamedBeforeALimit) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  bench.put(ClassSample{}, ClassSample{.name = "other", .provisioner = "other.example.com"},
            ClaimSample{.name = "a"}, ClaimSample{.name = "b", .storage_class = "other"});
  bench.put_object(api::kinds::csi_driver(), R"({"metadata":{"name":"other.example.com"},
      "spec":{"preventPodSchedulingIfMissing":true}})");
  bench.limit("n1", 0);
  EXPECT_EQ(bench.reasons(bench.pod("p", {"a", "b"}), n1),
            Reasons{"other.example.com CSI driver is not installed on the node"});
  EXPECT_EQ(bench.reasons(bench.pod("q", {"a"}), n1), Reasons{"node(s) exceed max volume count"});
}

// Disks of the time before CSI count for the driver that has taken them over, with and without a
// claim; on a node of which nothing is known there is no limit.
TEST(NodeVolumeLimits, DisksOfOldCountForTheirDriver) {
  Bench bench;
  const NodeId n1 = bench.add("n1");
  const NodeId n2 = bench.add("n2");
  bench.put_object(api::kinds::csi_node(), R"({"metadata":{"name":"n1"},"spec":{"drivers":[
      {"name":"pd.csi.storage.gke.io","nodeID":"x","allocatable":{"count":1}}]}})");
  const auto with_disks = [](const std::string& name, const std::string& node,
                             std::initializer_list<const char*> disks) {
    std::string volumes;
    for (const char* disk : disks)
      volumes += (volumes.empty() ? R"({"name":")" : R"(,{"name":")") + std::string(disk) +
                 R"(","gcePersistentDisk":{"pdName":")" + disk + R"(","readOnly":true}})";
    return PodSample{.name = name, .node_name = node, .spec = R"("volumes":[)" + volumes + "]"}
        .make();
  };
  const Reasons too_many{"node(s) exceed max volume count"};
  EXPECT_EQ(bench.reasons(with_disks("p", "", {"d1", "d2"}), n1), too_many);
  EXPECT_EQ(bench.reasons(with_disks("p", "", {"d1", "d2"}), n2), Reasons{});
  bench.cluster.set_pod(with_disks("runs", "n1", {"d1"}));
  EXPECT_EQ(bench.reasons(with_disks("q", "", {"d1"}), n1), Reasons{}) << "attached already";
  EXPECT_EQ(bench.reasons(with_disks("r", "", {"d2"}), n1), too_many);
}

// Two more kinds of such disks. Nobody else keeps pods apart that use the same one.
TEST(NodeVolumeLimits, DisksOfAzureAndOpenStackCountForTheirDrivers) {
  struct Case {
    const char* driver;
    const char* source;  // up to its id
  };
  for (const Case& c : {Case{"disk.csi.azure.com", R"("azureDisk":{"diskName":"d","diskURI":")"},
                        Case{"cinder.csi.openstack.org", R"("cinder":{"volumeID":")"}}) {
    Bench bench;
    const NodeId n1 = bench.add("n1");
    bench.put_object(
        api::kinds::csi_node(),
        fmt::format(
            R"({{"metadata":{{"name":"n1"}},"spec":{{"drivers":[{{"name":"{}","nodeID":"x","allocatable":{{"count":1}}}}]}}}})",
            c.driver));
    const auto with_disk = [&](const char* name, const char* node, const char* disk) {
      return PodSample{.name = name,
                       .node_name = node,
                       .spec = fmt::format(R"("volumes":[{{"name":"v",{}{}"}}}}])", c.source, disk)}
          .make();
    };
    EXPECT_EQ(bench.reasons(with_disk("p", "", "d1"), n1), Reasons{}) << c.driver;
    bench.cluster.set_pod(with_disk("runs", "n1", "d1"));
    EXPECT_EQ(bench.reasons(with_disk("q", "", "d1"), n1), Reasons{}) << "attached already";
    EXPECT_EQ(bench.reasons(with_disk("r", "", "d2"), n1),
              Reasons{"node(s) exceed max volume count"})
        << c.driver;
  }
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

// --- VolumeRestrictions ---

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

TEST(VolumeZone, EachLabelOfEachVolumeMustHold) {
  Bench bench;
  const NodeId both = bench.add(
      "both", {{"topology.kubernetes.io/zone", "z"}, {"topology.kubernetes.io/region", "r"}});
  const NodeId zone_only = bench.add("zone", {{"topology.kubernetes.io/zone", "z"}});
  const NodeId old = bench.add("old", {{"failure-domain.beta.kubernetes.io/zone", "z"},
                                       {"failure-domain.beta.kubernetes.io/region", "r"}});
  bench.put(
      ClassSample{}, ClaimSample{.name = "c", .volume = "v"},
      VolumeSample{.name = "v",
                   .claim = "c",
                   .labels = R"("topology.kubernetes.io/zone":"z",)"
                             R"("topology.kubernetes.io/region":"r")"},
      ClaimSample{.name = "d", .volume = "w"},
      VolumeSample{
          .name = "w", .claim = "d", .labels = R"("failure-domain.beta.kubernetes.io/zone":"y")"});
  const Reasons elsewhere{"node(s) had no available volume zone"};
  const auto pod = bench.pod("p", {"c"});
  EXPECT_EQ(bench.reasons(pod, both), Reasons{});
  EXPECT_EQ(bench.reasons(pod, zone_only), elsewhere) << "it is in no region";
  EXPECT_EQ(bench.reasons(pod, old), elsewhere) << "an old label does not stand for a new one";
  EXPECT_EQ(bench.reasons(bench.pod("q", {"c", "d"}), both), elsewhere);
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

struct Woken {
  std::string_view plugin;
  ClusterEvent event;
  bool want;
};

void expect_woken(const api::Object& pod, const std::vector<Woken>& cases) {
  const Profile profile = default_profile();
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(profile.could_help(cases[i].plugin, pod, cases[i].event), cases[i].want)
        << cases[i].plugin << ", case " << i;
}

TEST(VolumeHints, WhatMayGiveAClaimItsVolumeWakes) {
  const auto none = api::ObjectPtr();
  const auto slow = ClassSample{.name = "slow", .waits = false}.make();
  const auto fast = ClassSample{}.make();
  const auto zonal = ClassSample{.more = R"(,"allowedTopologies":[{"matchLabelExpressions":[
      {"key":"zone","values":["b"]}]}])"}
                         .make();
  const auto here = VolumeSample{.name = "v", .labels = R"("topology.kubernetes.io/zone":"a")"};
  const auto there = VolumeSample{.name = "v", .labels = R"("topology.kubernetes.io/zone":"b")"};
  const auto driver = [](bool reports) {
    return object_of(api::kinds::csi_driver(),
                     R"({"metadata":{"name":"d"},"spec":{"storageCapacity":)" +
                         std::string(reports ? "true}}" : "false}}"));
  };
  const auto capacity = [](const char* size) {
    return object_of(api::kinds::csi_storage_capacity(),
                     R"({"metadata":{"name":"k"},"storageClassName":"fast","capacity":")" +
                         std::string(size) + "\"}");
  };
  const auto csi_node = [](const char* migrated) {
    return object_of(api::kinds::csi_node(), R"({"metadata":{"name":"n","annotations":{)"
                                             R"("storage.alpha.kubernetes.io/migrated-plugins":")" +
                                                 std::string(migrated) + R"("}}})");
  };
  const auto node = NodeSample{.name = "n"}.make();
  const auto labelled = NodeSample{.name = "n", .labels = {{"zone", "a"}}}.make();
  using R = Resource;
  using A = Action;
  expect_woken(*pod_with("p", {"a"}),
               {{"VolumeBinding", {R::StorageClass, A::Add, none, slow}, true},
                {"VolumeBinding", {R::StorageClass, A::Update, fast, fast}, false},
                {"VolumeBinding", {R::StorageClass, A::Update, fast, zonal}, true},
                {"VolumeBinding", {R::PersistentVolume, A::Add, none, here.make()}, true},
                {"VolumeBinding", {R::PersistentVolume, A::Update, here.make(), here.make()}, true},
                {"VolumeBinding", {R::PersistentVolume, A::Delete, here.make(), none}, false},
                {"VolumeBinding", {R::Node, A::Add, none, node}, true},
                {"VolumeBinding", {R::Node, A::UpdateNodeLabel, node, labelled}, true},
                {"VolumeBinding", {R::Node, A::UpdateNodeTaint, node, node}, false},
                {"VolumeBinding", {R::CSINode, A::Add, none, csi_node("")}, true},
                {"VolumeBinding", {R::CSINode, A::Update, csi_node(""), csi_node("")}, false},
                {"VolumeBinding", {R::CSINode, A::Update, csi_node(""), csi_node("x")}, true},
                {"VolumeBinding", {R::CSIDriver, A::Update, driver(true), driver(false)}, true},
                {"VolumeBinding", {R::CSIDriver, A::Update, driver(false), driver(true)}, false},
                {"VolumeBinding", {R::CSIStorageCapacity, A::Add, none, capacity("1Gi")}, true},
                {"VolumeBinding",
                 {R::CSIStorageCapacity, A::Update, capacity("1Gi"), capacity("2Gi")},
                 true},
                {"VolumeBinding",
                 {R::CSIStorageCapacity, A::Update, capacity("2Gi"), capacity("1Gi")},
                 false},
                {"VolumeZone", {R::StorageClass, A::Add, none, fast}, true},
                {"VolumeZone", {R::StorageClass, A::Add, none, slow}, false},
                {"VolumeZone", {R::Node, A::Add, none, node}, true},
                {"VolumeZone", {R::Node, A::UpdateNodeLabel, node, labelled}, true},
                {"VolumeZone", {R::PersistentVolume, A::Add, none, here.make()}, true},
                {"VolumeZone", {R::PersistentVolume, A::Update, here.make(), here.make()}, false},
                {"VolumeZone", {R::PersistentVolume, A::Update, here.make(), there.make()}, true}});
}

TEST(VolumeHints, WhatIsGivenBackWakes) {
  const auto none = api::ObjectPtr();
  const auto disk = [](const std::string& name, const std::string& node, bool reads) {
    return PodSample{
        .name = name,
        .node_name = node,
        .spec = R"("volumes":[{"name":"d","gcePersistentDisk":{"pdName":"x","readOnly":)" +
                std::string(reads ? "true}}]" : "false}}]")}
        .make();
  };
  const auto plain = PodSample{.name = "plain", .node_name = "n"}.make();
  const auto csi_node = object_of(api::kinds::csi_node(), R"({"metadata":{"name":"n"}})");
  const auto attachment =
      object_of(api::kinds::volume_attachment(), R"({"metadata":{"name":"x"}})");
  const auto node = NodeSample{.name = "n"}.make();
  using R = Resource;
  using A = Action;
  expect_woken(
      *disk("p", "", false),
      {{"VolumeRestrictions", {R::AssignedPod, A::Delete, disk("q", "n", true), none}, true},
       {"VolumeRestrictions", {R::AssignedPod, A::Delete, plain, none}, false},
       {"VolumeRestrictions", {R::Node, A::Add, none, node}, true},
       {"VolumeRestrictions", {R::Node, A::UpdateNodeLabel, node, node}, false},
       {"NodeVolumeLimits", {R::AssignedPod, A::Delete, disk("q", "n", true), none}, true},
       {"NodeVolumeLimits", {R::AssignedPod, A::Delete, disk("q", "", true), none}, false},
       {"NodeVolumeLimits", {R::AssignedPod, A::Delete, plain, none}, false},
       {"NodeVolumeLimits", {R::CSINode, A::Add, none, csi_node}, true},
       {"NodeVolumeLimits", {R::VolumeAttachment, A::Delete, attachment, none}, true},
       {"NodeVolumeLimits", {R::VolumeAttachment, A::Add, none, attachment}, false}});
  expect_woken(
      *disk("p", "", true),
      {{"VolumeRestrictions", {R::AssignedPod, A::Delete, disk("q", "n", true), none}, false}});
}

}  // namespace
}  // namespace muster::scheduler
