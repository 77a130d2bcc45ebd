#include "scheduler/volumes/volume_needs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/volumes/volume_book.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

using Names = std::vector<std::string>;

TEST(VolumeNeeds, AnEphemeralClaimIsThePodsOnlyIfThePodControlsIt) {
  struct Case {
    const char* uid;
    const char* controller;
    bool is_owner;
  };
  for (const Case& c :
       {Case{"uid-p", "true", true}, Case{"uid-p", "false", false}, Case{"x", "true", false}}) {
    const auto claim = with_object(
        api::kinds::persistent_volume_claim(),
        R"({"metadata":{"name":"p-e","namespace":"default","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":")" +
            std::string(c.uid) + R"(","controller":)" + c.controller +
            R"(}]},"spec":{"storageClassName":"fast"},"status":{"phase":"Pending"}})");
    const auto found =
        needs({with(ClassSample{}), claim}, *pod_of(R"({"name":"e","ephemeral":{}})"));
    EXPECT_EQ(found->binding_refusal.empty(), c.is_owner) << c.uid << " " << c.controller;
    EXPECT_EQ(found->delayed.size(), c.is_owner ? 1U : 0U);
    EXPECT_EQ(found->zone_refusal, "");
  }
}

// --- what is said ---

TEST(VolumeNeeds, OfSeveralClaimsTheFirstThatIsWrongIsNamed) {
  const auto found = needs({with(ClassSample{.waits = false}, ClaimSample{.name = "soon"})},
                           *pod_with("p", {"soon", "first", "second"}));
  EXPECT_EQ(found->restrictions_refusal, "persistentvolumeclaim \"first\" not found");
  EXPECT_EQ(found->limits_refusal,
            "looking up PVC default/first: persistentvolumeclaim \"first\" not found");
  EXPECT_EQ(found->binding_refusal, "persistentvolumeclaim \"first\" not found")
      << "that another is bound at once is said last";
  EXPECT_EQ(found->zone_refusal, "PersistentVolume had no name");
}

TEST(VolumeNeeds, AMissingEphemeralClaimIsOnlyWaitedFor) {
  const auto found = needs({}, *pod_of(R"({"name":"e","ephemeral":{}})"));
  EXPECT_EQ(found->restrictions_refusal, "");
  EXPECT_EQ(found->zone_refusal, "");
  EXPECT_EQ(found->limits_refusal,
            "looking up PVC default/p-e: persistentvolumeclaim \"p-e\" not found");
}

TEST(VolumeNeeds, AClaimThatIsAskedForTwiceIsReadOnce) {
  const auto found =
      needs({with(ClassSample{}, ClaimSample{.name = "a"})}, *pod_with("p", {"a", "a"}));
  EXPECT_EQ(found->delayed.size(), 1U);
  EXPECT_EQ(found->attached.front().own, 1);
}

TEST(VolumeNeeds, AClaimForOnePodAtATimeIsNamedWhenOthersNameItToo) {
  const std::vector<Put> puts{
      with(ClassSample{}, ClaimSample{.name = "b", .mode = "ReadWriteOncePod"},
           ClaimSample{.name = "a", .mode = "ReadWriteOncePod"}, ClaimSample{.name = "c"})};
  const auto pod = pod_with("p", {"b", "a", "c"});
  EXPECT_TRUE(needs(puts, *pod)->exclusive.empty());
  EXPECT_EQ(needs(puts, *pod, 2)->exclusive, (Names{"default/a", "default/b"}));
  EXPECT_NE(needs(puts, *pod_with("p", {"a", "c"}), 2)->text,
            needs(puts, *pod_with("p", {"b", "c"}), 2)->text);
}

TEST(VolumeNeeds, EveryVolumeThatIsBoundBringsItsTermsAndZones) {
  const auto volume = [](const char* name, const char* claim, const char* host,
                         const char* labels) {
    return with(ClaimSample{.name = claim, .volume = name},
                VolumeSample{.name = name, .claim = claim, .host = host, .labels = labels});
  };
  const auto found = needs(
      {volume(
           "v", "a", "n1",
           R"("topology.kubernetes.io/zone":"z","failure-domain.beta.kubernetes.io/region":"r")"),
       volume("w", "b", "n1",
              R"("topology.kubernetes.io/zone":"z2__z1","topology.kubernetes.io/region":"r")"),
       volume("x", "c", "", R"("failure-domain.beta.kubernetes.io/zone":"z","other":"z")")},
      *pod_with("p", {"b", "a", "c"}));
  EXPECT_EQ(found->affinities.size(), 1U) << "equal ones are one";
  std::vector<std::string> zones;
  for (const VolumeNeeds::Zone& zone : found->zones) {
    zones.push_back(zone.key);
    for (const std::string& value : zone.values) zones.back() += " " + value;
  }
  EXPECT_EQ(zones,
            (Names{"failure-domain.beta.kubernetes.io/region r",
                   "failure-domain.beta.kubernetes.io/zone z", "topology.kubernetes.io/region r",
                   "topology.kubernetes.io/zone z", "topology.kubernetes.io/zone z1 z2"}));
  EXPECT_EQ(found->label_keys,
            (Names{"failure-domain.beta.kubernetes.io/region",
                   "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname",
                   "topology.kubernetes.io/region", "topology.kubernetes.io/zone"}));
}

// Passes read only these labels of nodes.
TEST(VolumeNeeds, TheLabelsThatVolumesAskForAreNamed) {
  const auto keys = [](const std::vector<Put>& more) {
    std::vector<Put> puts{with(ClassSample{}, ClaimSample{.name = "a"})};
    puts.insert(puts.end(), more.begin(), more.end());
    return needs(puts, *pod_with("p", {"a"}))->label_keys;
  };
  EXPECT_EQ(keys({}), Names{});
  EXPECT_EQ(keys({with(VolumeSample{.name = "open", .host = "n1"})}),
            Names{"kubernetes.io/hostname"});
  EXPECT_EQ(
      keys({with_terms(
          R"({"matchExpressions":[{"key":"k","operator":"Exists"},{"key":"j","operator":"Exists"}]})")}),
      (Names{"j", "k"}));
  EXPECT_EQ(keys({with(VolumeSample{.name = "open", .host = "n1"}),
                  with_terms(R"({"matchExpressions":[{"key":"k","operator":"Exists"}]})")}),
            (Names{"k", "kubernetes.io/hostname"}));
}

TEST(VolumeNeeds, WhatIsAttachedIsCountedByDriver) {
  VolumeBook book;
  with(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b", .volume = "v"},
       ClaimSample{.name = "c", .volume = "w"}, ClaimSample{.name = "d", .volume = "x"},
       VolumeSample{.name = "v", .driver = "another"}, VolumeSample{.name = "w"},
       VolumeSample{.name = "x"})(book);
  const auto pod = pod_with("p", {"d", "c", "b", "a"});
  for (const char* user : {"q", "r"}) book.count_users(*pod_with(user, {"c", "d"}), 1);
  const auto found = book.resolve(*pod);
  ASSERT_EQ(found->attached.size(), 2U);
  EXPECT_EQ(found->attached[0].driver, "another");
  EXPECT_EQ(found->attached[0].own, 1);
  EXPECT_EQ(found->attached[0].handles, Names{});
  EXPECT_FALSE(found->attached[0].required_on_node);
  EXPECT_EQ(found->attached[1].driver, "csi.example.com");
  EXPECT_EQ(found->attached[1].own, 1);
  EXPECT_EQ(found->attached[1].handles, (Names{"handle-w", "handle-x"}));
}

TEST(VolumeNeeds, ClaimsWhoseVolumeIsBeingMadeAreJudgedFirstThenTheSmallest) {
  VolumeBook book;
  with(ClassSample{}, ClaimSample{.name = "middle", .size = "2Gi"}, ClaimSample{.name = "small"},
       ClaimSample{.name = "also-small"},
       ClaimSample{.name = "made", .size = "9Gi", .selected_node = "n"},
       ClaimSample{.name = "kept", .size = "3Gi", .selected_node = "n"},
       VolumeSample{.name = "v", .size = "3Gi", .claim = "kept"})(book);
  std::vector<api::ObjectPtr> claims;
  const auto found =
      book.resolve(*pod_with("p", {"kept", "middle", "small", "also-small", "made"}), &claims);
  Names order;
  for (const api::ObjectPtr& claim : claims) order.push_back(claim->meta().name);
  EXPECT_EQ(order, (Names{"made", "small", "also-small", "middle", "kept"}));
  ASSERT_EQ(found->delayed.size(), 5U);
  EXPECT_EQ(found->delayed[0].selected_node, "n");
  EXPECT_EQ(found->delayed[3].request, std::int64_t{2} << 30U);
}

// --- where a volume can be made ---

TEST(VolumeNeeds, AVolumeIsMadeWhereOneOfTheTopologiesHoldsInFull) {
  const auto found = needs({with(ClassSample{.more = R"(,"allowedTopologies":[
      {"matchLabelExpressions":[{"key":"zone","values":["a","b"]},{"key":"disk","values":["ssd"]}]},
      {"matchLabelExpressions":[{"key":"zone","values":["c"]}]}])"},
                                 ClaimSample{.name = "a"})},
                           *pod_with("p", {"a"}));
  struct Case {
    const char* labels;
    bool is_allowed;
  };
  for (const Case& c : {Case{R"("zone":"a","disk":"ssd")", true},
                        Case{R"("zone":"b","disk":"ssd")", true}, Case{R"("zone":"a")", false},
                        Case{R"("zone":"a","disk":"slow")", false}, Case{R"("disk":"ssd")", false},
                        Case{R"("zone":"c")", true}, Case{R"("zone":"d","disk":"ssd")", false}})
    EXPECT_EQ(refuses_to_provision(found->delayed.front(), *host("n", c.labels)),
              c.is_allowed ? "" : kNoVolume)
        << c.labels;
}

TEST(VolumeNeeds, OfSeveralReportsTheFirstThatServesTheNodeCounts) {
  const auto report = [](const char* name, const char* storage_class, const char* more) {
    return with_object(api::kinds::csi_storage_capacity(),
                       R"({"metadata":{"name":")" + std::string(name) +
                           R"(","namespace":"x"},"storageClassName":")" + storage_class + "\"" +
                           more + "}");
  };
  const auto driver =
      with_object(api::kinds::csi_driver(),
                  R"({"metadata":{"name":"csi.example.com"},"spec":{"storageCapacity":true}})");
  const auto claim = with(ClassSample{}, ClaimSample{.name = "a"});
  const auto found = needs(
      {driver, claim, report("k1", "slow", R"(,"capacity":"9Gi","nodeTopology":{})"),
       report("k2", "fast", R"(,"capacity":"9Gi")"),
       report("k3", "fast", R"(,"capacity":"100Mi","nodeTopology":{})"),
       report("k4", "fast", R"(,"nodeTopology":{})"),
       report("k5", "fast", R"(,"capacity":"7Gi","nodeTopology":{"matchLabels":{"zone":"a"}})"),
       report("k6", "fast", R"(,"capacity":"5Gi","nodeTopology":{})"),
       report("k7", "fast",
              R"(,"maximumVolumeSize":"4Gi","nodeTopology":{"matchLabels":{"zone":"b"}})")},
      *pod_with("p", {"a"}));
  const DelayedClaim& waiting = found->delayed.front();
  EXPECT_TRUE(waiting.asks_capacity);
  ASSERT_EQ(waiting.capacities.size(), 3U);
  EXPECT_EQ(waiting.capacities[2].capacity, 0);
  EXPECT_EQ(capacity_for(waiting, host("n", R"("zone":"a")")->meta().labels)->capacity,
            std::int64_t{7} << 30U);
  EXPECT_EQ(capacity_for(waiting, host("n", R"("zone":"b")")->meta().labels)->capacity,
            std::int64_t{5} << 30U);
  EXPECT_TRUE(needs({claim, report("k5", "fast", R"(,"capacity":"7Gi","nodeTopology":{})")},
                    *pod_with("p", {"a"}))
                  ->delayed.front()
                  .capacities.empty())
      << "a driver that does not say where it has room";
}

TEST(VolumeNeeds, AClaimWithAVolumeOfItsOwnGetsNoOther) {
  const auto found = needs({with(ClassSample{}, ClaimSample{.name = "a"},
                                 ClaimSample{.name = "b", .size = "2Gi", .selected_node = "n"},
                                 VolumeSample{.name = "mine", .claim = "a"},
                                 VolumeSample{.name = "open", .size = "2Gi"})},
                           *pod_with("p", {"a", "b"}));
  EXPECT_FALSE(is_made_elsewhere(*found, "n"));
  EXPECT_TRUE(is_made_elsewhere(*found, "m"));
  const auto given = [&](bool reaches) {
    Names names;
    for (const VolumeCandidate& volume :
         choose_volumes(
             *found, [&](const VolumeCandidate&) { return reaches; },
             [](const VolumeCandidate&) { return false; })
             .volumes)
      names.push_back(volume.volume == nullptr ? "none" : volume.volume->meta().name);
    return names;
  };
  EXPECT_EQ(given(true), (Names{"none", "mine"})) << "the volume of b is being made";
  EXPECT_EQ(given(false), (Names{"none", "none"}));
  EXPECT_EQ(refuses_to_provision(found->delayed[1], *host("n")), kNoVolume);
  EXPECT_EQ(refuses_to_provision(found->delayed[0], *host("n")), "");
}

}  // namespace
}  // namespace muster::scheduler
