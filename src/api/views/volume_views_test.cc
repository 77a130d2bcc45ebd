#include "api/views/volume_views.h"

#include <gtest/gtest.h>

#include "api/json.h"
#include "api/views/node_selector.h"

namespace muster::api {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

ObjectPtr object(const Kind& kind, std::string_view json) {
  const auto parsed = parse_json(json);
  EXPECT_TRUE(parsed.has_value()) << json;
  return Object::make(kind, parsed->value);
}

TEST(ClaimView, ReadsWhatAClaimAsksForAndWhatItGot) {
  const ObjectPtr claim = object(kinds::persistent_volume_claim(), R"({"metadata":{"name":"c",
    "namespace":"lab","annotations":{"pv.kubernetes.io/bind-completed":"yes",
    "volume.kubernetes.io/selected-node":"n1"}},"spec":{"accessModes":["ReadWriteOncePod"],
    "storageClassName":"fast","volumeMode":"Block","volumeName":"v",
    "resources":{"requests":{"storage":"2Gi"}},"selector":{"matchLabels":{"a":"b"}}},
    "status":{"phase":"Bound"}})");
  const auto& view = claim->view<ClaimView>();
  EXPECT_EQ(view.storage_class, "fast");
  EXPECT_EQ(view.volume_mode, "Block");
  EXPECT_EQ(view.request, 2 * kGi);
  EXPECT_EQ(view.phase, "Bound");
  EXPECT_EQ(view.selected_node, "n1");
  EXPECT_TRUE(view.is_bound());
  EXPECT_TRUE(view.is_exclusive);
  ASSERT_TRUE(view.selector);
  EXPECT_TRUE(view.selector->matches({{"a", "b"}}));
  EXPECT_FALSE(view.selector->matches({{"a", "c"}}));
}

TEST(ClaimView, AClassMayBeMissingOrEmpty) {
  const ObjectPtr none =
      object(kinds::persistent_volume_claim(), R"({"metadata":{"name":"c"},"spec":{}})");
  EXPECT_EQ(none->view<ClaimView>().storage_class, std::nullopt);
  EXPECT_EQ(none->view<ClaimView>().volume_mode, "Filesystem");
  EXPECT_FALSE(none->view<ClaimView>().selector);
  const ObjectPtr empty = object(kinds::persistent_volume_claim(),
                                 R"({"metadata":{"name":"c"},"spec":{"storageClassName":""}})");
  EXPECT_EQ(empty->view<ClaimView>().storage_class, "");
}

TEST(VolumeView, ReadsWhoseItIsAndWhoReachesIt) {
  const ObjectPtr volume = object(kinds::persistent_volume(), R"({"metadata":{"name":"v"},"spec":{
    "capacity":{"storage":"10Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"fast",
    "csi":{"driver":"d","volumeHandle":"h"},"claimRef":{"namespace":"lab","name":"c","uid":"u"},
    "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
    {"key":"zone","operator":"In","values":["a"]}]}]}}},"status":{"phase":"Available"}})");
  const auto& view = volume->view<VolumeView>();
  EXPECT_EQ(view.capacity, 10 * kGi);
  EXPECT_EQ(view.driver, "d");
  EXPECT_EQ(view.handle, "h");
  EXPECT_TRUE(view.has_affinity);
  ASSERT_EQ(view.affinity.size(), 1U);
  EXPECT_TRUE(matches(view.affinity.front(), "n", {{"zone", "a"}}));
  EXPECT_FALSE(matches(view.affinity.front(), "n", {{"zone", "b"}}));
  const auto claim = [](std::string_view uid) {
    return object(kinds::persistent_volume_claim(),
                  std::string(R"({"metadata":{"name":"c","namespace":"lab","uid":")") +
                      std::string(uid) + R"("}})");
  };
  EXPECT_TRUE(view.is_for(*claim("u")));
  EXPECT_FALSE(view.is_for(*claim("other")));
}

// Only labels are compared: what is said of names of nodes does not count.
TEST(VolumeView, NamesOfNodesDoNotCountInItsAffinity) {
  const auto read = [](const std::string& terms) {
    return object(kinds::persistent_volume(),
                  R"({"metadata":{"name":"v"},"spec":{"nodeAffinity":{"required":{)"
                  R"("nodeSelectorTerms":[)" +
                      terms + "]}}}}");
  };
  const std::string name =
      R"("matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}])";
  const std::string zone = R"("matchExpressions":[{"key":"zone","operator":"In","values":["z"]}])";
  const ObjectPtr both = read("{" + name + "," + zone + "}");
  ASSERT_EQ(both->view<VolumeView>().affinity.size(), 1U);
  EXPECT_TRUE(matches(both->view<VolumeView>().affinity.front(), "b", {{"zone", "z"}}));
  EXPECT_FALSE(matches(both->view<VolumeView>().affinity.front(), "a", {{"zone", "y"}}));
  EXPECT_FALSE(read("{" + zone + "},{" + name + "}")->view<VolumeView>().has_affinity);
  const ObjectPtr nowhere = read("{}");
  EXPECT_TRUE(nowhere->view<VolumeView>().has_affinity) << "an empty term matches no node";
}

TEST(VolumeView, DisksOfOldBelongToTheDriverThatTookThemOver) {
  const ObjectPtr volume = object(kinds::persistent_volume(),
                                  R"({"metadata":{"name":"v"},"spec":{
    "awsElasticBlockStore":{"volumeID":"vol-1"}}})");
  EXPECT_EQ(volume->view<VolumeView>().driver, "ebs.csi.aws.com");
  EXPECT_EQ(volume->view<VolumeView>().handle, "vol-1");
}

TEST(StorageClassView, ReadsModeAndTopologies) {
  const ObjectPtr object_of_class = object(kinds::storage_class(), R"({"metadata":{"name":"s"},
    "provisioner":"p","volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[
    {"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]}]})");
  const auto& view = object_of_class->view<StorageClassView>();
  EXPECT_TRUE(view.waits_for_consumer());
  EXPECT_TRUE(view.provisions());
  ASSERT_EQ(view.allowed_topologies.size(), 1U);
  EXPECT_EQ(view.allowed_topologies.front().front().second, (std::vector<std::string>{"a", "b"}));
  const ObjectPtr local = object(kinds::storage_class(), R"({"metadata":{"name":"l"},
    "provisioner":"kubernetes.io/no-provisioner"})");
  EXPECT_FALSE(local->view<StorageClassView>().provisions());
}

TEST(CsiViews, ReadLimitsCapacitiesAndAttachments) {
  const ObjectPtr node = object(kinds::csi_node(), R"({"metadata":{"name":"n"},"spec":{"drivers":[
    {"name":"d","nodeID":"x","allocatable":{"count":3}},{"name":"e","nodeID":"x"}]}})");
  EXPECT_EQ(node->view<CsiNodeView>().drivers.at("d"), 3);
  EXPECT_EQ(node->view<CsiNodeView>().drivers.at("e"), std::nullopt);
  const ObjectPtr capacity = object(kinds::csi_storage_capacity(), R"({"metadata":{"name":"k",
    "namespace":"x"},"storageClassName":"s","capacity":"5Gi","nodeTopology":{"matchLabels":
    {"zone":"a"}}})");
  EXPECT_EQ(capacity->view<CapacityView>().limit, 5 * kGi);
  const ObjectPtr attachment = object(kinds::volume_attachment(), R"({"metadata":{"name":"t"},
    "spec":{"attacher":"d","nodeName":"n","source":{"persistentVolumeName":"v"}}})");
  EXPECT_EQ(attachment->view<AttachmentView>().volume_name, "v");
}

TEST(PodView, NamesItsClaimsAndDisks) {
  const ObjectPtr pod = object(kinds::pod(), R"({"metadata":{"name":"p"},"spec":{"volumes":[
    {"name":"a","persistentVolumeClaim":{"claimName":"c"}},{"name":"b","ephemeral":{}},
    {"name":"d","gcePersistentDisk":{"pdName":"disk","readOnly":true}},
    {"name":"e","azureDisk":{"diskName":"n","diskURI":"uri"}},
    {"name":"f","cinder":{"volumeID":"id","readOnly":true}}]}})");
  const auto& view = pod->view<PodView>();
  ASSERT_EQ(view.claims.size(), 2U);
  EXPECT_EQ(claim_name(*pod, view.claims[0]), "c");
  EXPECT_EQ(claim_name(*pod, view.claims[1]), "p-b");
  using Type = InlineDisk::Type;
  EXPECT_EQ(view.needs.disks, (std::vector<InlineDisk>{{Type::Gce, "disk", {}, true},
                                                       {Type::Azure, "uri", {}, false},
                                                       {Type::Cinder, "id", {}, true}}));
}

TEST(InlineDisk, MayBeSharedByReadersButForOneKind) {
  using Type = InlineDisk::Type;
  const InlineDisk reader{Type::Gce, "x", {}, true};
  const InlineDisk writer{Type::Gce, "x", {}, false};
  EXPECT_FALSE(conflict(reader, reader));
  EXPECT_TRUE(conflict(reader, writer));
  EXPECT_FALSE(conflict(writer, {Type::Gce, "y", {}, false}));
  EXPECT_FALSE(conflict(writer, {Type::Iscsi, "x", {}, false}));
  EXPECT_TRUE(conflict({Type::Ebs, "x", {}, true}, {Type::Ebs, "x", {}, true}));
  const InlineDisk image{Type::Rbd, "rbd/i", {"m1", "m2"}, false};
  EXPECT_TRUE(conflict(image, {Type::Rbd, "rbd/i", {"m2"}, true}));
  EXPECT_FALSE(conflict(image, {Type::Rbd, "rbd/i", {"m3"}, false}));
  for (const Type type : {Type::Azure, Type::Cinder})
    EXPECT_FALSE(conflict({type, "x", {}, false}, {type, "x", {}, false})) << "their drivers judge";
}

}  // namespace
}  // namespace muster::api
