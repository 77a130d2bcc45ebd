#include "scheduler/framework/cap_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

// A filter as a test wants it: so many pods on each node, and so many on all nodes of a rack.
struct Limits {
  std::map<std::string, std::int32_t> on_node = {};  // others take any number
  std::map<std::string, std::int32_t> in_rack = {};  // likewise; none: no limits of racks
  Exactness exactness = Exactness::PerNode;
  bool follows_moves = false;
};

class Limited final : public FilterPass {
 public:
  Limited(Cluster& cluster, Limits limits)
      : cluster_(cluster), limits_(std::move(limits)), rack_(cluster.watch_label("rack")) {}
  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override { return cap_at(node) > 0; }
  Exactness cap(CapColumn& at_most) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { at_most[node] = std::min(at_most[node], cap_at(node)); });
    return limits_.exactness;
  }
  std::int32_t cap_at(NodeId node) const override {
    return limit_of(limits_.on_node, cluster_.node_name(node));
  }
  Verdict ask(NodeId) const override { return Verdict::accept(); }
  bool follows_moves() const override { return limits_.follows_moves; }
  const LabelColumn* domain_column() const override {
    return limits_.in_rack.empty() ? nullptr : &rack_;
  }
  std::int32_t domain_cap(LabelValueId value) const override {
    return limit_of(limits_.in_rack, rack_.names[index_of(value)]);
  }

 private:
  static std::int32_t limit_of(const std::map<std::string, std::int32_t>& limits,
                               const std::string& name) {
    const auto at = limits.find(name);
    return at == limits.end() ? kNoCap : at->second;
  }

  const Cluster& cluster_;
  Limits limits_;
  const LabelColumn& rack_;
};

class CapTableTest : public ::testing::Test {
 protected:
  // Two racks of two nodes each, and a node in none. By zone they are a0, b0 and a1, b1, n.
  CapTableTest() {
    for (const char* name : {"a0", "a1", "b0", "b1"})
      cluster_.set_node(
          NodeSample{.name = name, .labels = {{"rack", std::string(1, *name)}}}.make());
    cluster_.set_node(NodeSample{.name = "n"}.make());
    zones_ = divide({{"a0", 0}, {"b0", 0}, {"a1", 1}, {"b1", 1}, {"n", 1}}, 2);
  }
  NodeId node(const std::string& name) const {
    NodeId node{};
    EXPECT_TRUE(cluster_.find_node(name, node)) << name;
    return node;
  }
  std::shared_ptr<const Division> divide(const std::map<std::string, std::uint32_t>& cells,
                                         std::size_t count) const {
    auto division = std::make_shared<Division>();
    division->cell_count = count;
    division->cell_of.resize(cluster_.rows());
    for (const auto& [name, cell] : cells) division->cell_of[node(name)] = CellId{cell};
    return division;
  }
  void filter_by(Limits limits) {
    filters_.push_back({"Limited", std::make_unique<Limited>(cluster_, std::move(limits))});
  }
  // With keys for the nodes that all filters admit.
  void build(bool none = false) {
    Contest keys;
    keys.reset(cluster_.rows(), {}, 0);
    cluster_.nodes().for_each([&](NodeId id) {
      if (std::ranges::all_of(filters_, [&](const auto& f) { return f.pass->admits(id); }))
        keys.enter(index_of(id), 1);
    });
    keys.rebuild();
    table_.build(filters_, keys, none);
  }
  std::int64_t in(const std::vector<std::uint32_t>& zones) {
    std::vector<CellId> cells;
    for (const std::uint32_t zone : zones) cells.push_back(CellId{zone});
    return table_.sum_over(zones_, cells);
  }
  std::int32_t on(const std::string& name) const { return table_.column()[node(name)]; }

  using Sums = std::vector<std::int64_t>;
  Cluster cluster_;
  std::vector<NamedFilter> filters_;
  CapTable table_{cluster_};
  std::shared_ptr<const Division> zones_;
};

const std::map<std::string, std::int32_t> kFive{
    {"a0", 1}, {"a1", 2}, {"b0", 3}, {"b1", 4}, {"n", 5}};

TEST_F(CapTableTest, TheLeastOfAllFiltersIsSummedByCell) {
  EXPECT_FALSE(table_.is_built());
  filter_by({.on_node = kFive});
  filter_by({.on_node = {{"b1", 2}, {"a0", 9}, {"n", 0}}});
  build();
  EXPECT_TRUE(table_.is_built());
  EXPECT_EQ(on("a0"), 1);
  EXPECT_EQ(on("b1"), 2);
  EXPECT_EQ(on("n"), 0);
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 4}));
  EXPECT_EQ(in({0}), 4);
  EXPECT_EQ(in({0, 1}), 8);
  EXPECT_EQ(in({}), 0);
  EXPECT_EQ(table_.exactness(), Exactness::PerNode);
  EXPECT_FALSE(table_.has_domain_caps());
}

TEST_F(CapTableTest, AnUpperBoundOfOneFilterMakesAllOfItOne) {
  filter_by({.on_node = kFive, .exactness = Exactness::UpperBound});
  filter_by({.on_node = {{"a0", 1}}});
  build();
  EXPECT_EQ(table_.exactness(), Exactness::UpperBound);
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 11}));
  filters_.clear();
  filter_by({.on_node = kFive});
  build();
  EXPECT_EQ(table_.exactness(), Exactness::PerNode) << "building starts over";
}

// One that follows moves may refuse a node now and take pods there later.
TEST_F(CapTableTest, OnlyFiltersThatStayAsTheyAreCloseANodeForGood) {
  filter_by({.on_node = {{"a0", 0}}, .exactness = Exactness::UpperBound});
  build();
  EXPECT_EQ(on("a0"), 0);
  EXPECT_EQ(on("a1"), kNoCap);
  class Later final : public FilterPass {
   public:
    void narrow(NodeSet& candidates) const override { candidates.clear(); }
    bool admits(NodeId) const override { return false; }
    Verdict ask(NodeId) const override { return Verdict::accept(); }
    bool follows_moves() const override { return true; }
  };
  filters_.push_back({"Later", std::make_unique<Later>()});
  build();
  EXPECT_EQ(on("a0"), 0);
  EXPECT_EQ(on("a1"), kNoCap);
  build(true);
  EXPECT_EQ(on("a1"), 0) << "refused everywhere";
}

TEST_F(CapTableTest, RowsWithoutANodeTakeNobody) {
  cluster_.remove_node("n");
  filter_by({.exactness = Exactness::UpperBound});
  build();
  for (std::size_t row = 0; row < table_.column().padded(); ++row) {
    const bool is_node =
        row < cluster_.rows() && cluster_.nodes().contains(NodeId{static_cast<std::uint32_t>(row)});
    EXPECT_EQ(table_.column().data()[row], is_node ? kNoCap : 0) << row;
  }
  filters_.clear();
  filter_by({.on_node = {{"a0", 1}, {"a1", 1}, {"b0", 1}, {"b1", 1}}});
  build();
  EXPECT_EQ(table_.sums(zones_), (Sums{2, 2}));
}

TEST_F(CapTableTest, SumsFollowACapThatIsSet) {
  filter_by({.on_node = kFive, .in_rack = {{"a", 10}, {"b", 10}}});
  build();
  EXPECT_EQ(in({0, 1}), 15);
  table_.set(node("b0"), 1);
  table_.set(node("n"), 7);
  table_.set(node("a1"), 2);  // as it is
  EXPECT_EQ(on("b0"), 1);
  EXPECT_EQ(table_.sums(zones_), (Sums{2, 13}));
  EXPECT_EQ(in({0}), 2);
  EXPECT_EQ(in({1}), 13);
}

TEST_F(CapTableTest, NodesThatShareAValueTakeNoMoreThanItsLimit) {
  filter_by({.on_node = kFive, .in_rack = {{"a", 2}, {"b", 5}}});
  build();
  EXPECT_TRUE(table_.has_domain_caps());
  EXPECT_EQ(table_.exactness(), Exactness::UpperBound);
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 11})) << "blind to limits";
  EXPECT_EQ(in({0}), 1 + 3);
  EXPECT_EQ(in({1}), 2 + 4 + 5) << "nodes without the label share no limit";
  EXPECT_EQ(in({0, 1}), 2 + 5 + 5);
  EXPECT_EQ(in({0, 1}), 2 + 5 + 5) << "nothing is left over from the first time";
}

TEST_F(CapTableTest, OfSeveralLimitsTheLeastHolds) {
  filter_by({.on_node = kFive, .in_rack = {{"a", 2}, {"b", 5}}});
  filter_by({.in_rack = {{"a", 3}, {"b", 1}}});
  build();
  EXPECT_EQ(in({0, 1}), 3 + 1 + 5);
  EXPECT_EQ(in({0}), 1 + 1);
}

TEST_F(CapTableTest, OtherDivisionsAreSummedWhenTheyAreAskedFor) {
  filter_by({.on_node = kFive});
  build();
  const auto racks = divide({{"a0", 0}, {"a1", 0}, {"b0", 1}, {"b1", 1}, {"n", 2}}, 3);
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 11}));
  EXPECT_EQ(table_.sums(racks), (Sums{3, 7, 5}));
  table_.set(node("n"), 6);
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 12}));
  EXPECT_EQ(table_.sums(racks), (Sums{3, 7, 6}));
  // More than are kept: those that were dropped are summed again.
  for (int i = 0; i < 6; ++i) EXPECT_EQ(table_.sums(divide({{"n", 1}}, 2)), (Sums{10, 6}));
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 12}));
}

TEST_F(CapTableTest, KeptSumsAreMadeAgainWithTheCaps) {
  filter_by({.on_node = kFive});
  build();
  EXPECT_EQ(table_.sums(zones_), (Sums{4, 11}));
  filters_.clear();
  filter_by({.on_node = {{"a0", 1}, {"a1", 1}, {"b0", 1}, {"b1", 1}, {"n", 1}}});
  build();
  EXPECT_EQ(table_.sums(zones_), (Sums{2, 3}));
}

TEST_F(CapTableTest, WithoutCellsThereIsNothing) {
  Cluster cluster;
  CapTable table(cluster);
  Contest keys;
  keys.reset(0, {}, 0);
  keys.rebuild();
  table.build({}, keys, false);
  EXPECT_EQ(table.sum_over(std::make_shared<Division>(), {}), 0);
}

}  // namespace
}  // namespace muster::scheduler
