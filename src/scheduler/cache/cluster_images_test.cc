#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

class Images : public ::testing::Test {
 protected:
  struct OnNode {
    std::vector<std::string> names;
    std::int64_t size;
  };
  void node(const std::string& name, const std::vector<OnNode>& images) {
    std::string list;
    for (const OnNode& image : images) {
      std::string names;
      for (const std::string& one : image.names)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ",", one);
      list += fmt::format(R"({}{{"names":[{}],"sizeBytes":{}}})", list.empty() ? "" : ",", names,
                          image.size);
    }
    cluster_.set_node(
        NodeSample{.name = name, .status = fmt::format("\"images\":[{}]", list)}.make());
  }
  // Of the image of that name, which a pod asks for.
  std::vector<ImageId> ids_of(const std::string& image) {
    return cluster_
        .class_of(
            pod_of(fmt::format(R"({{"metadata":{{"name":"p","namespace":"default","uid":"u"}},)"
                               R"("spec":{{"containers":[{{"name":"c","image":"{}"}}]}}}})",
                               image)))
        .images;
  }
  const Cluster::Image* find(const std::string& image) {
    const std::vector<ImageId> ids = ids_of(image);
    return ids.empty() ? nullptr : cluster_.find_image(ids.front());
  }
  std::vector<std::string> nodes_with(const std::string& image) {
    std::vector<std::string> names;
    if (const Cluster::Image* found = find(image))
      for (const NodeId node : found->nodes) names.push_back(cluster_.node_name(node));
    return names;
  }

  using Names = std::vector<std::string>;
  static constexpr const char* kApp = "example.com/app:v1";
  Cluster cluster_;
};

TEST_F(Images, AreKnownWithTheNodesThatHaveThem) {
  EXPECT_TRUE(ids_of(kApp).empty());
  node("n1", {{{kApp, "example.com/app@sha256:1"}, 100}});
  node("n2", {{{"example.com/other:v1"}, 7}});
  node("n3", {{{kApp}, 100}});
  EXPECT_EQ(nodes_with(kApp), (Names{"n1", "n3"}));
  EXPECT_EQ(nodes_with("example.com/app@sha256:1"), Names{"n1"});
  EXPECT_EQ(find(kApp)->size, 100);
  EXPECT_EQ(find("example.com/other:v1")->size, 7);
  node("n2", {{{kApp}, 100}});
  EXPECT_EQ(nodes_with(kApp), (Names{"n1", "n2", "n3"})) << "by row";
  EXPECT_EQ(find("example.com/other:v1"), nullptr);
  cluster_.remove_node("n1");
  EXPECT_EQ(nodes_with(kApp), (Names{"n2", "n3"}));
}

TEST_F(Images, AreNumberedAnewWhenTheyComeBack) {
  node("n1", {{{kApp}, 100}});
  const ImageId first = ids_of(kApp).at(0);
  node("n1", {});
  EXPECT_EQ(cluster_.find_image(first), nullptr);
  node("n1", {{{kApp}, 100}});
  EXPECT_NE(ids_of(kApp).at(0), first) << "numbers are never given again";
}

TEST_F(Images, AreAsLargeAsTheFirstNodeSaysUnlessItIsTheOnlyOne) {
  node("n1", {{{kApp}, 100}});
  node("n2", {{{kApp}, 200}});
  EXPECT_EQ(find(kApp)->size, 100);
  const std::uint64_t before = find(kApp)->changed;
  node("n1", {{{kApp}, 300}});
  EXPECT_EQ(find(kApp)->size, 100) << "another has it too";
  EXPECT_EQ(find(kApp)->changed, before);
  cluster_.remove_node("n1");
  EXPECT_GT(find(kApp)->changed, before);
  EXPECT_EQ(find(kApp)->size, 100);
  const std::uint64_t alone = find(kApp)->changed;
  node("n2", {{{kApp}, 200}});
  EXPECT_EQ(find(kApp)->size, 200) << "as the only one says";
  EXPECT_GT(find(kApp)->changed, alone);
  const std::uint64_t same = find(kApp)->changed;
  node("n2", {{{kApp}, 200}});
  EXPECT_EQ(find(kApp)->changed, same);
}

TEST_F(Images, NamesThatARowRepeatsAreOneWithTheFirstSize) {
  node("n1", {{{kApp, kApp}, 100}, {{kApp}, 50}});
  EXPECT_EQ(find(kApp)->size, 100);
  EXPECT_EQ(nodes_with(kApp), Names{"n1"});
  node("n1", {});
  EXPECT_EQ(find(kApp), nullptr);
}

}  // namespace
}  // namespace muster::scheduler
