#include "scheduler/preemption/running_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

constexpr int kNodes = 50;

class RunningTableTest : public ::testing::Test {
 protected:
  RunningTableTest() {
    for (int i = 0; i < kNodes; ++i) {
      const std::string node = fmt::format("n{}", i);
      cluster_.set_node(NodeSample{.name = node}.make());
      for (const std::string side : {"a", "b"})
        cluster_.set_pod(PodSample{.name = fmt::format("{}-{}", side, i),
                                   .node_name = node,
                                   .priority = i % 3,
                                   .labels = {{"app", fmt::format("app{}", i % 10)}}}
                             .make());
    }
  }
  // A pod that keeps away from those of an app.
  void ask_about(const std::string& app) {
    const PodSample pod{
        .name = "asks",
        .spec =
            R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
            R"({"topologyKey":"zone","labelSelector":{"matchLabels":{"app":")" +
            app + R"("}}}]}})"};
    cluster_.retain_class(cluster_.class_of(pod.make()).id);
  }
  // Rows that are read for what has changed since.
  std::uint64_t rows_read_by(auto&& change) {
    const std::uint64_t before = RunningTable::of(cluster_).rows_read();
    change();
    return RunningTable::of(cluster_).rows_read() - before;
  }
  void expect_true() {
    const RunningTable& table = RunningTable::of(cluster_);
    std::size_t pods = 0;
    for (std::size_t row = 0; row < cluster_.rows(); ++row) {
      const auto node = static_cast<NodeId>(row);
      const auto held = cluster_.pods_at(node);
      ASSERT_EQ(table.at(node).size(), held.size());
      pods += held.size();
      for (std::size_t i = 0; i < held.size(); ++i)
        EXPECT_EQ(table.at(node)[i].pods, cluster_.counted_class_of(held[i]).id);
    }
    for (const auto& [priority, count] : table.by_priority()) pods -= count;
    EXPECT_EQ(pods, 0u);
  }

  Cluster cluster_;
};

TEST_F(RunningTableTest, OnlyTheRowsOfPodsThatSomebodyAsksAboutAreReadAgain) {
  EXPECT_EQ(rows_read_by([&] { ask_about("app3"); }), 5u);
  expect_true();
  EXPECT_EQ(rows_read_by([&] { ask_about("nobody"); }), 0u);
  EXPECT_EQ(rows_read_by([&] { ask_about("app3"); }), 0u) << "asked before";
  EXPECT_EQ(rows_read_by([&] {
              cluster_.remove_pod("default-a-7");
              ask_about("app7");
            }),
            5u + 1)
      << "one row twice";
  expect_true();
}

TEST_F(RunningTableTest, AServiceCostsTheRowsOfItsPods) {
  cluster_.set_default_spread_keys({"zone"});
  RunningTable::of(cluster_);
  const auto service = api::parse_json(
      R"({"metadata":{"name":"s","namespace":"default","uid":"s"},"spec":{"selector":{"app":"app4"}}})");
  EXPECT_EQ(
      rows_read_by([&] {
        cluster_.put_selector(*api::Object::make(*api::find_kind("", "Service"), service->value));
      }),
      0u);
  const PodSample waits{.name = "w", .labels = {{"app", "app4"}}};
  EXPECT_EQ(rows_read_by([&] { cluster_.retain_class(cluster_.class_of(waits.make()).id); }), 5u);
  expect_true();
}

}  // namespace
}  // namespace muster::scheduler
