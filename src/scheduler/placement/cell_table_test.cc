#include "scheduler/placement/cell_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/placement/topology.h"

namespace muster::scheduler {
namespace {

// Two racks: a with a0 and a1, b with b0; each node has 4 CPUs and 10 slots.
class CellTableTest : public ::testing::Test {
 protected:
  CellTableTest() {
    for (const char* name : {"a0", "a1", "b0"}) node(name, {});
    gpu_node("g0", "2");
    table_ = &Topology::of(cluster_, {"rack"}).table();
    table_->catch_up();
  }
  void node(const std::string& name, std::map<std::string, std::string> extended) {
    cluster_.set_node(NodeSample{.name = name,
                                 .pods = 10,
                                 .labels = {{"rack", name.substr(0, 1)}},
                                 .extended = std::move(extended)}
                          .make());
  }
  void gpu_node(const std::string& name, const std::string& gpus) {
    node(name, {{"example.com/gpu", gpus}});
  }
  void run(const std::string& name, const std::string& node, const std::string& cpu,
           std::map<std::string, std::string> extended = {}) {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = cpu, .extended = std::move(extended), .node_name = node}
            .make());
  }
  ResourceId gpu() const {
    ResourceId id{};
    EXPECT_TRUE(cluster_.find_resource("example.com/gpu", id));
    return id;
  }
  CellTable::Amount amount(ResourceId resource, std::size_t cell) {
    return table_->amounts(resource)[cell];
  }

  static constexpr std::size_t kA = 0, kB = 1, kG = 2;  // cells are numbered by node name
  using Amount = CellTable::Amount;
  using Slots = std::vector<std::int64_t>;
  Cluster cluster_;
  CellTable* table_ = nullptr;
};

TEST_F(CellTableTest, SumsWhatNodesHaveByCell) {
  run("p", "a0", "1");
  run("q", "a1", "500m");
  table_->catch_up();
  EXPECT_EQ(table_->slots(), (Slots{18, 10, 10}));
  EXPECT_EQ(amount(ResourceId::Cpu, kA), (Amount{6500, 8000, 1500}));
  EXPECT_EQ(amount(ResourceId::Cpu, kB), (Amount{4000, 4000, 0}));
  EXPECT_EQ(amount(gpu(), kG), (Amount{2, 2, 0}));
  EXPECT_EQ(amount(gpu(), kA), (Amount{0, 0, 0}));
}

// Scores give every pod some CPU and memory, if it asks for none.
TEST_F(CellTableTest, WhatIsUsedIsCountedTheWayScoresDo) {
  run("p", "b0", "");
  run("q", "g0", "1", {{"example.com/gpu", "1"}});
  table_->catch_up();
  EXPECT_EQ(amount(ResourceId::Cpu, kB), (Amount{4000, 4000, 100}));
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  EXPECT_EQ(amount(ResourceId::Memory, kB), (Amount{8192 * kMi, 8192 * kMi, 200 * kMi}));
  EXPECT_EQ(amount(gpu(), kG), (Amount{1, 2, 1}));
}

TEST_F(CellTableTest, ANodeThatHoldsMoreThanItHasTakesNothingFromOthers) {
  run("p", "a0", "9");
  for (int i = 0; i < 12; ++i) run("q" + std::to_string(i), "a1", "0");
  table_->catch_up();
  EXPECT_EQ(amount(ResourceId::Cpu, kA).free, 4000);
  EXPECT_EQ(table_->slots()[kA], 9);
}

TEST_F(CellTableTest, FollowsRowsThatChangeAndReadsNoOthers) {
  EXPECT_EQ(amount(ResourceId::Cpu, kA).free, 8000);
  EXPECT_EQ(amount(gpu(), kG).free, 2);
  const std::uint64_t before = table_->rows_read();
  table_->catch_up();
  EXPECT_EQ(table_->rows_read(), before);
  run("p", "a0", "1");
  run("q", "a0", "2");
  run("r", "g0", "1", {{"example.com/gpu", "2"}});
  table_->catch_up();
  EXPECT_EQ(table_->rows_read(), before + 2) << "a0 once";
  EXPECT_EQ(amount(ResourceId::Cpu, kA), (Amount{5000, 8000, 3000}));
  EXPECT_EQ(amount(gpu(), kG), (Amount{0, 2, 2}));
  EXPECT_EQ(table_->slots(), (Slots{18, 10, 9}));
  cluster_.remove_pod("default-q");
  gpu_node("g0", "8");
  table_->catch_up();
  EXPECT_EQ(amount(ResourceId::Cpu, kA), (Amount{7000, 8000, 1000}));
  EXPECT_EQ(amount(gpu(), kG), (Amount{6, 8, 2}));
  EXPECT_EQ(table_->slots(), (Slots{19, 10, 9}));
}

TEST_F(CellTableTest, StartsOverWhenItIsFarBehind) {
  EXPECT_EQ(amount(ResourceId::Cpu, kA).free, 8000);
  const std::uint64_t before = table_->rows_read();
  for (int i = 0; i < 30; ++i) run("p" + std::to_string(i), "a0", "100m");
  table_->catch_up();
  EXPECT_EQ(table_->rows_read(), before + 2 * cluster_.rows()) << "slots, and one resource";
  EXPECT_EQ(amount(ResourceId::Cpu, kA), (Amount{5000, 8000, 3000}));
  EXPECT_EQ(table_->slots()[kA], 10) << "nothing is left on a0";
  table_->catch_up();
  EXPECT_EQ(table_->rows_read(), before + 2 * cluster_.rows());
}

TEST_F(CellTableTest, AResourceThatCameBackIsSummedAgain) {
  EXPECT_EQ(amount(gpu(), kG).allocatable, 2);
  node("g0", {});  // the last that offers it
  table_->catch_up();
  ResourceId gone{};
  ASSERT_FALSE(cluster_.find_resource("example.com/gpu", gone));
  gpu_node("a0", "7");
  table_->catch_up();
  EXPECT_EQ(amount(gpu(), kA).allocatable, 7);
  EXPECT_EQ(amount(gpu(), kG).allocatable, 0);
}

TEST_F(CellTableTest, APodOnANodeThatIsNotThereCountsNowhere) {
  const Slots before = table_->slots();
  run("p", "nowhere", "1");
  table_ = &Topology::of(cluster_, {"rack"}).table();
  table_->catch_up();
  EXPECT_EQ(table_->slots(), before);
  EXPECT_EQ(amount(ResourceId::Cpu, kA), (Amount{8000, 8000, 0}));
  cluster_.remove_pod("default-p");
  table_->catch_up();
  EXPECT_EQ(table_->slots(), before);
}

TEST_F(CellTableTest, AmountsStayWhereTheyAre) {
  std::vector<CellTable::Amount>& cpu = table_->amounts(ResourceId::Cpu);
  EXPECT_NE(&table_->amounts(ResourceId::Memory), &cpu);
  EXPECT_NE(&table_->amounts(gpu()), &cpu);
  EXPECT_EQ(&table_->amounts(ResourceId::Cpu), &cpu);
  run("p", "b0", "1");
  table_->catch_up();
  EXPECT_EQ(cpu[kB].free, 3000);
}

}  // namespace
}  // namespace muster::scheduler
