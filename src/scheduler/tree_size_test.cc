#include <gtest/gtest.h>

#include <string>

#include "scheduler/scheduler_testing.h"

// B16: one GroupBinding takes 10,000 pods, and what is needed together is never bound in parts.
namespace muster::scheduler {
namespace {

using std::chrono::seconds;
using testing::World;

constexpr int kTreePodsMax = 10'000;
constexpr const char* kBasicInAZone =
    R"("schedulingPolicy":{"basic":{}},"schedulingConstraints":{"topology":[{"key":"zone"}]})";

class TreeSize : public ::testing::Test {
 protected:
  TreeSize() : world_({.group_bindings = true}) {
    // Room for 110 pods each.
    for (int i = 0; i < 92; ++i) world_.node(fmt::format("n{}", i), {.zone = "z"});
  }

  void pods(const std::string& group, int count) {
    for (int i = 0; i < count; ++i)
      world_.pod(fmt::format("{}-{}", group, i), {.cpu = "0", .group = group});
  }
  void group(const api::Kind& kind, const std::string& name, const std::string& spec) {
    world_.scheduler.apply(
        client::Event{
            client::Event::Type::Added,
            testing::parse(
                kind,
                fmt::format(
                    R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"uid-{0}"}},"spec":{{{1}}},"status":{{}}}})",
                    name, spec))},
        world_.now);
  }
  void start() {
    world_.synced();
    world_.run();
  }
  // The pods of the GroupBindings that wait for an answer.
  std::vector<std::size_t> bindings() const {
    std::vector<std::size_t> sizes;
    for (const World::Call& call : world_.calls)
      if (call.request.kind == &api::kinds::group_binding())
        sizes.push_back(api::find_path(call.request.body, "spec.pods")->as_array().size());
    return sizes;
  }
  std::size_t waiting() const {
    std::size_t count = 0;
    for (const auto& [name, pod] : world_.pods) count += pod.node.empty() ? 1 : 0;
    return count;
  }

  World world_;
};

using Sizes = std::vector<std::size_t>;

TEST_F(TreeSize, AGangThatLacksMoreThanOneBindingTakesSaysSoWithoutASearch) {
  world_.gang("g", kTreePodsMax + 1);
  pods("g", kTreePodsMax + 1);
  start();
  EXPECT_EQ(bindings(), Sizes{});
  const auto told = world_.requests("podgroups/ns/g/status");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("10001 pods of the tree would have to be bound together, 10000 can be"),
            std::string::npos)
      << told[0];
  EXPECT_TRUE(world_.requests("pods/ns/g-").empty()) << "its pods say nothing";
  world_.answer();
  EXPECT_EQ(waiting(), kTreePodsMax + 1);

  // With one of them running, it lacks exactly as many as fit.
  world_.pod("g-0", {.cpu = "0", .node = "n0", .group = "g"});
  world_.now += seconds{30};
  world_.run();
  EXPECT_EQ(bindings(), Sizes{kTreePodsMax});
}

TEST_F(TreeSize, PodsBeyondTheMinimumOfAGangFollow) {
  world_.gang("g", kTreePodsMax);
  pods("g", kTreePodsMax + 2);
  start();
  EXPECT_EQ(bindings(), Sizes{kTreePodsMax});
  world_.settle();
  EXPECT_EQ(waiting(), 0U);
  EXPECT_TRUE(world_.requests("bound together").empty());
}

TEST_F(TreeSize, ATreeOfSeveralGroupsIsNotCut) {
  group(api::kinds::composite_pod_group(), "c",
        R"("schedulingPolicy":{"gang":{"minGroupCount":2}})");
  for (const char* name : {"a", "b"})
    group(api::kinds::pod_group(), name,
          R"("schedulingPolicy":{"gang":{"minCount":5000}},"parentCompositePodGroupName":"c")");
  pods("a", 5'000);
  pods("b", 5'001);
  start();
  EXPECT_EQ(bindings(), Sizes{});
  world_.settle();  // each pod says so too
  for (const char* name : {"podgroups/ns/a/", "podgroups/ns/b/", "compositepodgroups/ns/c/"}) {
    const auto told = world_.requests(name);
    ASSERT_EQ(told.size(), 1U) << name;
    EXPECT_NE(told[0].find("10001 pods of the tree would have to be bound together, 10000 can be"),
              std::string::npos)
        << told[0];
  }
  EXPECT_EQ(waiting(), 10'001U);
  world_.delete_pod("b-0");
  world_.now += seconds{30};
  world_.run();
  EXPECT_EQ(bindings(), Sizes{kTreePodsMax});
}

TEST_F(TreeSize, PodsOfABasicGroupNeedNobody) {
  group(api::kinds::pod_group(), "b", kBasicInAZone);
  pods("b", kTreePodsMax / 2);
  for (int i = 0; i <= kTreePodsMax / 2; ++i)
    world_.pod(fmt::format("other-{}", i), {.cpu = "1m", .group = "b"});
  start();
  EXPECT_EQ(bindings(), Sizes{});
  EXPECT_TRUE(world_.requests("bound together").empty());
  EXPECT_EQ(world_.requests("/binding ").size(), 1000U) << "so many at a time";
}

TEST_F(TreeSize, OfPodsThatAreAlikeTheLastOnesFollow) {
  group(api::kinds::pod_group(), "b", kBasicInAZone);
  pods("b", kTreePodsMax + 1);
  start();
  EXPECT_EQ(bindings(), Sizes{kTreePodsMax});
  world_.settle();
  EXPECT_EQ(waiting(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
