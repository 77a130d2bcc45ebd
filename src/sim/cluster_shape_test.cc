#include "sim/cluster_shape.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace muster::sim
