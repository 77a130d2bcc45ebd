#include "scheduler/plugins/image_locality.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"
#include "scheduler/plugins/node_declared_features.h"

namespace muster::scheduler {
namespace {

constexpr std::int64_t kMi = std::int64_t{1024} * 1024;

std::string images(const std::vector<std::pair<std::string, std::int64_t>>& reported) {
  std::string text;
  for (const auto& [name, mebi] : reported)
    text += fmt::format(R"({}{{"names":["{}"],"sizeBytes":{}}})", text.empty() ? "" : ",", name,
                        mebi * kMi);
  return "\"images\":[" + text + "]";
}

api::ObjectPtr pod_with(const std::vector<std::string>& containers,
                        const std::string& volume = "") {
  std::string text;
  for (const std::string& image : containers)
    text += fmt::format(R"({}{{"name":"c{}","image":"{}"}})", text.empty() ? "" : ",", text.size(),
                        image);
  return pod_of(fmt::format(
      R"({{"metadata":{{"name":"p","uid":"p"}},"spec":{{"containers":[{}],"volumes":[{}]}}}})",
      text,
      volume.empty() ? "" : fmt::format(R"({{"name":"v","image":{{"reference":"{}"}}}})", volume)));
}

class ImageTest : public ::testing::Test {
 protected:
  void node(const std::string& name, const std::string& status = "") {
    cluster_.set_node(NodeSample{.name = name, .status = status}.make());
  }
  // Of node n0; one row and the whole column must agree.
  std::int64_t score(const api::ObjectPtr& pod) {
    Profile profile;
    profile.add<ImageLocality>(1);
    Standing standing(cluster_.class_of(pod), profile, cluster_);
    if (standing.scores().empty()) return 0;
    standing.catch_up();
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node("n0", id));
    Column<std::int32_t> totals;
    totals.resize(cluster_.rows());
    standing.scores()[0].pass->add_local(1, totals);
    EXPECT_EQ(totals[id], standing.scores()[0].pass->local(id));
    return totals[id];
  }
  Cluster cluster_;
};

TEST_F(ImageTest, F1OneNode) {
  node("n0", images({{"app:1", 250}}));
  EXPECT_EQ(score(pod_with({"app:1"})), 23);
}

TEST_F(ImageTest, F2OneOfTenNodes) {
  node("n0", images({{"app:1", 250}}));
  for (int i = 1; i < 10; ++i) node(fmt::format("n{}", i));
  EXPECT_EQ(score(pod_with({"app:1"})), 0);
}

TEST_F(ImageTest, F3IsClampedAbove) {
  for (int i = 0; i < 3; ++i) node(fmt::format("n{}", i), images({{"app:1", 2000}}));
  EXPECT_EQ(score(pod_with({"app:1"})), 100);
}

TEST_F(ImageTest, F4AddsUpContainers) {
  node("n0", images({{"a:1", 300}, {"b:1", 100}}));
  node("n1", images({{"a:1", 300}}));
  node("n2");
  node("n3");
  EXPECT_EQ(score(pod_with({"a:1", "b:1"})), 7);
}

TEST_F(ImageTest, F5CountsImageVolumes) {
  node("n0", images({{"a:1", 300}}));
  node("n1", images({{"a:1", 300}}));
  node("n2");
  node("n3");
  EXPECT_EQ(score(pod_with({"a:1", "b:1"}, "c:1")), 4);
}

// 977Mi between the least and the most that count are a hundred steps.
TEST_F(ImageTest, CountsFrom23MiToAThousandForEachContainer) {
  struct Case {
    std::int64_t mebi;
    std::int64_t one, two;  // of a pod with one container, and with two
  };
  const Case cases[] = {{23, 0, 0},      {32, 0, 0},      {33, 1, 0},      {42, 1, 0},
                        {43, 2, 1},      {999, 99, 49},   {1000, 100, 49}, {1001, 100, 49},
                        {1999, 100, 99}, {2000, 100, 100}};
  for (const Case& c : cases) {
    node("n0", images({{"a:1", c.mebi}}));
    EXPECT_EQ(score(pod_with({"a:1"})), c.one) << c.mebi;
    EXPECT_EQ(score(pod_with({"a:1", "b:1"})), c.two) << c.mebi;
  }
}

TEST_F(ImageTest, F6NobodyHasIt) {
  node("n0", images({{"a:1", 300}}));
  EXPECT_EQ(score(pod_with({"b:1"})), 0);
}

TEST_F(ImageTest, NamesWithoutATagMeanLatest) {
  node("n0", images({{"reg:5000/app:latest", 250}}));
  EXPECT_EQ(score(pod_with({"reg:5000/app"})), 23);
}

// What another node has changes what an image is worth here.
TEST_F(ImageTest, FollowsImagesOnOtherNodes) {
  node("n0", images({{"a:1", 800}}));
  node("n1");
  const api::ObjectPtr pod = pod_with({"a:1"});
  Profile profile;
  profile.add<ImageLocality>(1);
  Standing standing(cluster_.class_of(pod), profile, cluster_);
  standing.catch_up();
  const auto best = [&] { return standing.pick()->total; };
  EXPECT_EQ(best(), 100 * (400 - 23) / (1000 - 23));
  node("n1", images({{"a:1", 800}}));
  standing.catch_up();
  EXPECT_EQ(best(), 100 * (800 - 23) / (1000 - 23));
}

TEST_F(ImageTest, TheOnlyNodeThatHasItMayChangeItsSize) {
  node("n0", images({{"a:1", 250}}));
  EXPECT_EQ(score(pod_with({"a:1"})), 23);
  node("n0", images({{"a:1", 2000}}));
  EXPECT_EQ(score(pod_with({"a:1"})), 100);
}

// Pods that differ in images that nobody has are of one class.
TEST_F(ImageTest, OnlyImagesThatSomeNodeHasMakeAClass) {
  node("n0", images({{"a:1", 300}}));
  const ClassId one = cluster_.class_of(pod_with({"x:1"})).id;
  EXPECT_EQ(cluster_.class_of(pod_with({"x:2"})).id, one);
  EXPECT_NE(cluster_.class_of(pod_with({"a:1"})).id, one);
  cluster_.remove_node("n0");
  EXPECT_EQ(cluster_.class_of(pod_with({"a:1"})).id, one);
}

// --- NodeDeclaredFeatures ---

TEST(NodeDeclaredFeatures, AsksForWhatTheSpecNeeds) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "old"}.make());
  const auto modern = NodeSample{
      .name = "new", .status = R"("declaredFeatures":["UserNamespacesHostNetworkSupport","X"])"};
  cluster.set_node(modern.make());
  Profile profile;
  profile.add<NodeDeclaredFeatures>(1);
  const auto pod = PodSample{.name = "p", .spec = R"("hostNetwork":true,"hostUsers":false)"}.make();
  Standing standing(cluster.class_of(pod), profile, cluster);
  standing.catch_up();
  NodeId without{};
  NodeId with{};
  ASSERT_TRUE(cluster.find_node("old", without) && cluster.find_node("new", with));
  EXPECT_TRUE(standing.is_feasible(with));
  EXPECT_FALSE(standing.is_feasible(without));
  const Verdict verdict = standing.ask(without).verdict;
  EXPECT_EQ(verdict.reasons().front(), "node(s) didn't match Pod's required features");
  EXPECT_EQ(verdict.remedy(), Remedy::None);
  NodeSample upgraded = modern;
  upgraded.name = "old";
  cluster.set_node(upgraded.make());
  standing.catch_up();
  EXPECT_TRUE(standing.is_feasible(without));

  const NodeDeclaredFeatures plugin;
  const ClusterEvent event{Resource::Node, Action::UpdateNodeDeclaredFeature,
                           NodeSample{.name = "old"}.make(), upgraded.make()};
  EXPECT_TRUE(plugin.could_help(*pod, event));
  EXPECT_FALSE(plugin.could_help(
      *pod, {Resource::Node, Action::UpdateNodeDeclaredFeature, event.after, event.after}));
}

TEST(NodeDeclaredFeatures, ReadsTheSpec) {
  const auto features = [](const std::string& spec) {
    const auto pod = PodSample{.name = "p", .spec = spec}.make();
    const auto& read = pod->view<api::PodView>().needs.features;
    return std::vector<std::string>(read.begin(), read.end());
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(
      features(R"("initContainers":[{"restartPolicyRules":[{"action":"RestartAllContainers"}]}])"),
      Names{"RestartAllContainersOnContainerExits"});
  EXPECT_EQ(features(R"("initContainers":[{"volumeMounts":[{"bindMountOptions":{}}]}])"),
            Names{"VolumeBindMountOptions"});
  EXPECT_EQ(features(R"("hostNetwork":true,"hostUsers":true)"), Names{});
}

}  // namespace
}  // namespace muster::scheduler
