#include "sim/cluster_shape.h"

#include <gtest/gtest.h>

#include "api/values/pretend.h"
#include "sim/node_labels.h"

namespace muster::sim {
namespace {

TEST(ClusterShape, NamesAndLabelsTellThePlaceOfANode) {
  ClusterShape shape;
  shape.pools.push_back({.zones = 2,
                         .blocks_per_zone = 1,
                         .racks_per_block = 2,
                         .nodes_per_rack = 3,
                         .resources = parse_resources("cpu=32,nvidia.com/gpu=8").value()});
  const std::vector<api::Json> nodes = node_documents(shape);
  ASSERT_EQ(nodes.size(), 12U);
  ASSERT_EQ(shape.node_count(), 12U);
  const api::Json& last = nodes.back();
  EXPECT_EQ(api::find_path(last, "metadata.name")->as_string(), "z2-b1-r2-n3");
  const api::JsonObject& labels = api::find_path(last, "metadata.labels")->as_object();
  EXPECT_EQ(labels.at(kZoneLabel).as_string(), "z2");
  EXPECT_EQ(labels.at(kBlockLabel).as_string(), "z2-b1");
  EXPECT_EQ(labels.at(kRackLabel).as_string(), "z2-b1-r2");
  EXPECT_EQ(labels.at(kHostnameLabel).as_string(), "z2-b1-r2-n3");
  const api::JsonObject& room = api::find_path(last, "status.allocatable")->as_object();
  EXPECT_EQ(room.at("nvidia.com/gpu").as_string(), "8");
  EXPECT_EQ(room.at("pods").as_string(), "110");
}

TEST(ClusterShape, ReadsPoolsAndNodesFromOneFile) {
  const Result<ClusterShape> shape = parse_cluster_file(R"(
pools:
- zones: 2
  racksPerBlock: 2
  nodesPerRack: 4
  resources: {cpu: 32, memory: 128Gi}
  labels: {pool: train}
  taints: [{key: dedicated, value: train, effect: NoSchedule}]
---
apiVersion: v1
kind: Node
metadata: {name: login}
status: {allocatable: {cpu: 4, pods: 10}}
)");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->node_count(), 17U);
  EXPECT_EQ(api::find_path(node_documents(*shape).front(), "metadata.labels.pool")->as_string(),
            "train");
}

TEST(ClusterShape, SaysWhatIsWrongWithAFile) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"pools: [{zonez: 2}]", "document 1: pools[0]: a pool has no member zonez"},
           {"pools: [{zones: 0}]",
            "document 1: pools[0]: zones must be a whole number of at least 1, not 0"},
           {"pools: [{resources: {cpu: lots}}]", "document 1: pools[0]: lots is no amount of cpu"},
           {"kind: Node", "document 1: a Node needs metadata.name"},
           {"hello: world", "document 1: it has neither `pools:` nor `kind: Node`"},
           {"", "it describes no node"},
           {"pools: []", "it describes no node"},
           {"pools: [{zones: 2}, {zones: 1}]", "two pools have no prefix, so their nodes would"},
           {"pools: [{prefix: a}]\n---\npools: [{prefix: a}]", "two pools have the prefix a, so"},
           {"pools: [{}]\n---\nkind: Node\nmetadata: {name: z1-b1-r1-n1}",
            "two nodes have the name z1-b1-r1-n1"},
           {"pools: [{zones: 1000000, nodesPerRack: 1000000}]",
            "it describes more than 200000 nodes"}}) {
    const Result<ClusterShape> shape = parse_cluster_file(c.text);
    ASSERT_FALSE(shape) << c.text;
    EXPECT_EQ(shape.error().message.substr(0, std::string_view(c.want).size()), c.want);
  }
}

TEST(ClusterShape, RefusesBadResourceLists) {
  for (const char* text : {"cpu", "=3", "cpu=", "cpu=x", "memory=-1Gi"})
    EXPECT_FALSE(parse_resources(text)) << text;
}

TEST(ClusterShape, SaysWhatIsWrongWithEachMember) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"a: [b", "document 1: "},
           {"kind: Node\nmetadata: {name: a}\n---\npools: [{racksPerBlock: x}]",
            "document 2: pools[0]: racksPerBlock must be a whole number of at least 1, not \"x\""},
           {"pools: [{}, {prefix: b, blocksPerZone: 3000000000}]",
            "document 1: pools[1]: blocksPerZone must be a whole number of at least 1, not "
            "3000000000"},
           {"pools: [{nodesPerRack: 1.5}]", "document 1: pools[0]: nodesPerRack must be a whole"},
           {"pools: [7]", "document 1: pools[0]: a pool must be a map, not 7"},
           {"pools: [{resources: 7}]",
            "document 1: pools[0]: resources must be a map such as {cpu: 32, memory: 128Gi}"},
           {"pools: [{resources: {cpu: -1}}]",
            "document 1: pools[0]: -1 of cpu is negative: a node cannot have less than nothing"},
           {"pools: [{zonez: 2}]",
            "document 1: pools[0]: a pool has no member zonez; it may have prefix, zones, "
            "blocksPerZone, racksPerBlock, nodesPerRack, resources, labels, taints"},
           {"kind: Node\nmetadata: {labels: {}}", "document 1: a Node needs metadata.name"},
           {"kind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata: {name: a}",
            "two nodes have the name a"},
           {"pools: [{zones: 2, nodesPerRack: 100001}]", "it describes more than 200000 nodes"}}) {
    const Result<ClusterShape> shape = parse_cluster_file(c.text);
    ASSERT_FALSE(shape) << c.text;
    EXPECT_EQ(shape.error().message.substr(0, std::string_view(c.want).size()), c.want);
  }
}

TEST(ClusterShape, ANodeOfAPoolHasWhatThePoolSays) {
  const Result<ClusterShape> shape = parse_cluster_file(R"(
pools:
- prefix: gpu-
  blocksPerZone: 2
  resources: {cpu: 32, memory: 128Gi, pods: 20}
  labels: {pool: train, topology.kubernetes.io/zone: elsewhere}
  taints: [{key: dedicated, effect: NoSchedule}]
- prefix: cpu-
---
kind: Node
metadata: {name: login, labels: {kept: as-it-is}}
spec: {unschedulable: true}
)");
  ASSERT_TRUE(shape) << shape.error().message;
  const std::vector<api::Json> nodes = node_documents(*shape);
  ASSERT_EQ(nodes.size(), 4U);
  const auto text = [&](std::size_t node, const char* path) {
    const api::Json* found = api::find_path(nodes[node], path);
    return found == nullptr ? "none" : api::to_text(*found);
  };
  EXPECT_EQ(text(0, "metadata.name"), R"("gpu-z1-b1-r1-n1")");
  EXPECT_EQ(text(1, "metadata.name"), R"("gpu-z1-b2-r1-n1")");
  EXPECT_EQ(text(2, "metadata.name"), R"("cpu-z1-b1-r1-n1")");
  EXPECT_EQ(text(0, "spec"), R"({"taints":[{"key":"dedicated","effect":"NoSchedule"}]})");
  EXPECT_EQ(text(2, "spec"), "{}");
  EXPECT_EQ(text(0, "status.capacity"), text(0, "status.allocatable"));
  EXPECT_EQ(text(0, "status.capacity"), R"({"cpu":"32","memory":"128Gi","pods":"20"})");
  EXPECT_EQ(text(2, "status.capacity"), R"({"pods":"110"})");
  const api::JsonObject& labels = api::find_path(nodes[0], "metadata.labels")->as_object();
  EXPECT_EQ(labels.at("pool").as_string(), "train");
  EXPECT_EQ(labels.at(kZoneLabel).as_string(), "gpu-z1") << "the place wins";
  EXPECT_EQ(text(3, "metadata.labels.kept"), R"("as-it-is")");
  EXPECT_EQ(text(3, "spec.unschedulable"), "true");
  for (const api::Json& node : nodes) {
    const api::JsonObject& metadata = node.at("metadata").as_object();
    EXPECT_EQ(metadata.at("annotations").at(api::kPretendAnnotation).as_string(),
              api::kPretendValue);
    EXPECT_EQ(metadata.at("labels").at(kHostnameLabel), metadata.at("name"));
  }
}

TEST(ClusterShape, ReadsResourcesOfACommandLine) {
  using Resources = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_resources("").value(), Resources{});
  EXPECT_EQ(parse_resources("cpu=0,nvidia.com/gpu=8").value(),
            (Resources{{"cpu", "0"}, {"nvidia.com/gpu", "8"}}));
  EXPECT_EQ(parse_resources("cpu=4,").value(), (Resources{{"cpu", "4"}}));
  EXPECT_EQ(parse_resources("cpu=4,,").error().message,
            "\"\" is no resource: write NAME=AMOUNT, e.g. cpu=32,memory=128Gi");
  EXPECT_EQ(parse_resources("cpu=x").error().message,
            "x is no amount of cpu: write a quantity such as 8, 500m or 128Gi");
  EXPECT_EQ(parse_resources("memory=-1Gi").error().message,
            "-1Gi of memory is negative: a node cannot have less than nothing");
}

}  // namespace
}  // namespace muster::sim
