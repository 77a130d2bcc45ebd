// Pods whose needs have one text are judged once for all.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/volumes/volume_book.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

// Both mount claim "a", and ask different things of nodes.
TEST(VolumeNeedsText, TellsApartWhatAsksDifferentThingsOfNodes) {
  const Put bound = with(ClassSample{}, ClaimSample{.name = "a", .volume = "v"});
  const Put waits = with(ClassSample{}, ClaimSample{.name = "a"});
  const auto in = [](const std::string& key, const std::string& op, const std::string& values) {
    return R"({"matchExpressions":[{"key":")" + key + R"(","operator":")" + op + R"(","values":[)" +
           values + "]}]}";
  };
  const std::string usual = in("k", "In", R"("x")");
  const auto zone = [](const std::string& label, const std::string& zones) {
    return with(
        VolumeSample{.name = "v",
                     .claim = "a",
                     .labels = R"("topology.kubernetes.io/)" + label + R"(":")" + zones + "\""});
  };
  const auto claim = [](const std::string& spec, const std::string& mode = "ReadWriteOnce") {
    return with(ClassSample{}, ClaimSample{.name = "a", .mode = mode, .more = spec});
  };
  struct Case {
    const char* what;
    std::vector<Put> one, other;
  };
  const Case cases[] = {
      {"a volume that is reached from some nodes only",
       {bound, with_terms(usual)},
       {bound, with(VolumeSample{.name = "v"})}},
      {"the key", {bound, with_terms(usual)}, {bound, with_terms(in("l", "In", R"("x")"))}},
      {"the operator", {bound, with_terms(usual)}, {bound, with_terms(in("k", "NotIn", R"("x")"))}},
      {"the value", {bound, with_terms(usual)}, {bound, with_terms(in("k", "In", R"("y")"))}},
      {"two values and one",
       {bound, with_terms(in("k", "In", R"("x","y")"))},
       {bound, with_terms(in("k", "In", R"("x;1:y")"))}},
      {"two terms and one of two",
       {bound, with_terms(usual + "," + in("l", "In", R"("x")"))},
       {bound, with_terms(R"({"matchExpressions":[{"key":"k","operator":"In","values":["x"]},
                                                 {"key":"l","operator":"In","values":["x"]}]})")}},
      {"the zone", {bound, zone("zone", "z1")}, {bound, zone("zone", "z2")}},
      {"a zone and a region", {bound, zone("zone", "z1")}, {bound, zone("region", "z1")}},
      {"a second zone", {bound, zone("zone", "z1")}, {bound, zone("zone", "z1__z2")}},
      {"the driver",
       {bound, with(VolumeSample{.name = "v"})},
       {bound, with(VolumeSample{.name = "v", .driver = "other"})}},
      {"a driver that must be on the node",
       {bound, with(VolumeSample{.name = "v"})},
       {bound, with(VolumeSample{.name = "v"}),
        with_object(
            api::kinds::csi_driver(),
            R"({"metadata":{"name":"csi.example.com"},"spec":{"preventPodSchedulingIfMissing":true}})")}},
      {"the size", {claim("")}, {with(ClassSample{}, ClaimSample{.name = "a", .size = "2Gi"})}},
      {"the class",
       {waits},
       {with(ClassSample{.name = "slow"}, ClaimSample{.name = "a", .storage_class = "slow"})}},
      {"the node that was selected",
       {waits},
       {with(ClassSample{}, ClaimSample{.name = "a", .selected_node = "n1"})}},
      {"the mode of the volume", {claim("")}, {claim(R"(,"volumeMode":"Block")")}},
      {"the class of attributes", {claim("")}, {claim(R"(,"volumeAttributesClassName":"gold")")}},
      {"the mode of access", {claim("")}, {claim("", "ReadOnlyMany")}},
      {"a selector", {claim("")}, {claim(R"(,"selector":{"matchLabels":{"k":"x"}})")}},
      {"the selector",
       {claim(R"(,"selector":{"matchLabels":{"k":"x"}})")},
       {claim(R"(,"selector":{"matchLabels":{"k":"y"}})")}},
      {"a volume that is kept for it",
       {waits},
       {waits, with(VolumeSample{.name = "v", .claim = "a"})}},
      {"where that can be reached",
       {waits, with_terms(usual)},
       {waits, with_terms(in("k", "In", R"("y")"))}},
      {"that it is reached everywhere",
       {waits, with(VolumeSample{.name = "v", .claim = "a"})},
       {waits, with_terms("")}},
      {"whether the class waits",
       {waits},
       {with(ClassSample{.waits = false}, ClaimSample{.name = "a"})}},
      {"a claim that is not there", {waits}, {}},
  };
  const auto pod = pod_with("p", {"a"});
  for (const Case& c : cases) {
    EXPECT_NE(needs(c.one, *pod)->text, needs(c.other, *pod)->text) << c.what;
    EXPECT_EQ(needs(c.one, *pod)->text, needs(c.one, *pod)->text) << c.what;
  }
}

TEST(VolumeNeedsText, TellsApartPodsWithDifferentVolumes) {
  VolumeBook book;
  with(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b"},
       ClaimSample{.name = "bound", .volume = "v"}, ClaimSample{.name = "other", .volume = "w"},
       ClaimSample{.name = "more", .volume = "x"}, ClaimSample{.name = "lost", .volume = "gone"},
       VolumeSample{.name = "v"}, VolumeSample{.name = "w"}, VolumeSample{.name = "x"})(book);
  const auto text = [&](std::initializer_list<std::string_view> claims) {
    return book.resolve(*pod_with("p", claims))->text;
  };
  EXPECT_NE(text({}), text({"a"}));
  EXPECT_NE(text({"a"}), text({"a", "b"}));
  EXPECT_EQ(text({"a", "b"}), text({"b", "a"})) << "the order says nothing";
  EXPECT_EQ(text({"bound"}), text({"other"})) << "volumes of one driver that nobody else uses";
  EXPECT_NE(text({"bound"}), text({"bound", "other"}));
  for (const char* user : {"q", "r"})
    book.count_users(*pod_with(user, {"bound", "other", "more"}), 1);
  EXPECT_NE(text({"bound"}), text({"other"})) << "others may have attached one of them already";
  EXPECT_NE(text({"bound"}), text({"bound", "other"}));
  EXPECT_EQ(text({"bound", "other"}), text({"other", "bound"}));
}

// The plugins about zones and limits do not look at a claim made for the pod; that its volume is
// gone is all that is known.
TEST(VolumeNeedsText, TellsApartAnEphemeralClaimWhoseVolumeIsGone) {
  const auto claim = with_object(
      api::kinds::persistent_volume_claim(),
      R"({"metadata":{"name":"p-e","namespace":"default","uid":"u","annotations":{"pv.kubernetes.io/bind-completed":"yes"},
          "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"uid-p","controller":true}]},
          "spec":{"volumeName":"v"},"status":{"phase":"Bound"}})");
  const auto volume =
      with_object(api::kinds::persistent_volume(),
                  R"({"metadata":{"name":"v","labels":{"topology.kubernetes.io/zone":"z"}}})");
  const auto pod = pod_of(R"({"name":"e","ephemeral":{}})");
  const auto there = needs({claim, volume}, *pod);
  const auto gone = needs({claim}, *pod);
  EXPECT_FALSE(there->lost_volume);
  EXPECT_TRUE(gone->lost_volume);
  EXPECT_EQ(there->binding_refusal + there->zone_refusal + gone->zone_refusal, "");
  EXPECT_TRUE(there->zones.empty());
  EXPECT_NE(there->text, gone->text);
}

}  // namespace
}  // namespace muster::scheduler
