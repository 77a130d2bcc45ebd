#include "scheduler/framework/pass.h"

#include <gtest/gtest.h>

#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/draft.h"
#include "scheduler/framework/placement_plugin.h"

namespace muster::scheduler {
namespace {

using Scores = std::vector<std::int64_t>;

TEST(DefaultNormalize, GivesSharesOfTheGreatestOrWhatIsMissingToAHundred) {
  struct Case {
    const char* name;
    Scores scores;
    Scores higher;
    Scores lower;
  };
  const Case cases[] = {
      {"shares are cut off", {3, 1, 2, 0}, {100, 33, 66, 0}, {0, 67, 34, 100}},
      {"all are 0", {0, 0}, {0, 0}, {100, 100}},
      {"one", {5}, {100}, {0}},
      {"none is above 0", {-2, 0}, {-2, 0}, {100, 100}},
  };
  for (const Case& c : cases) {
    Scores higher = c.scores;
    default_normalize(Better::Higher, higher);
    EXPECT_EQ(higher, c.higher) << c.name;
    Scores lower = c.scores;
    default_normalize(Better::Lower, lower);
    EXPECT_EQ(lower, c.lower) << c.name;
  }
}

// Takes one node and says nothing of how many.
class OnlyOne final : public FilterPass {
 public:
  OnlyOne(NodeId node, bool follows) : node_(node), follows_(follows) {}
  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return node == node_; });
  }
  bool admits(NodeId node) const override { return node == node_; }
  Verdict ask(NodeId) const override { return Verdict::accept(); }
  bool follows_moves() const override { return follows_; }
  void placed(const PodClass&, NodeId, Touched&) override { ++heard; }

  int heard = 0;

 private:
  NodeId node_;
  bool follows_;
};

TEST(FilterPass, WithoutACapIsExactUnlessItFollowsMoves) {
  CapColumn caps;
  const OnlyOne stays(NodeId{1}, false);
  EXPECT_EQ(stays.cap(caps), Exactness::PerNode);
  EXPECT_EQ(stays.cap_at(NodeId{1}), kNoCap);
  EXPECT_EQ(stays.cap_at(NodeId{2}), 0);
  const OnlyOne follows(NodeId{1}, true);
  EXPECT_EQ(follows.cap(caps), Exactness::UpperBound);
  EXPECT_EQ(follows.cap_at(NodeId{2}), kNoCap) << "it may accept after other moves";
}

TEST(FilterPass, HearsOfManyPodsOneByOneUnlessItCountsThem) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n"}.make());
  Touched touched(cluster);
  OnlyOne pass(NodeId{}, true);
  pass.placed_many(cluster.class_of(PodSample{.name = "p"}.make()), NodeId{}, 3, touched);
  EXPECT_EQ(pass.heard, 3);
}

// --- placements as a column ---

class PlacementColumns : public ::testing::Test {
 protected:
  PlacementColumns() {
    // Rows are not in the order of names.
    for (const char* name : {"c", "b", "a"}) cluster_.set_node(NodeSample{.name = name}.make());
  }
  NodeId node(const std::string& name) const {
    NodeId node{};
    EXPECT_TRUE(cluster_.find_node(name, node));
    return node;
  }
  PlacementColumn column(std::vector<std::string> names,
                         const std::map<std::string, PlacementColumn::List>& lists) const {
    PlacementColumn column(std::move(names), cluster_.rows());
    for (auto& [name, list] : lists) column.put(node(name), list);
    return column;
  }
  std::vector<std::string> names_at(const PlacementColumn& column, const std::string& name) const {
    std::vector<std::string> names;
    for (const auto placement : column.at(node(name))) names.push_back(column.names()[placement]);
    return names;
  }

  using Names = std::vector<std::string>;
  Cluster cluster_;
};

TEST_F(PlacementColumns, NodesWithEqualAnswersShareAList) {
  const PlacementColumn halls = column({"x", "y"}, {{"a", {0, 1}}, {"b", {0, 1}}, {"c", {}}});
  EXPECT_EQ(halls.list_of(node("a")), halls.list_of(node("b")));
  EXPECT_EQ(halls.list_of(node("c")), 0U) << "the first list is empty";
  ASSERT_EQ(halls.lists().size(), 2U);
  EXPECT_EQ(halls.lists()[halls.list_of(node("a"))], (PlacementColumn::List{0, 1}));
  const PlacementColumn unset = column({"x"}, {{"a", {0}}});
  EXPECT_TRUE(unset.at(node("b")).empty());
}

TEST_F(PlacementColumns, PairsAreNumberedByTheNamesOfTheirNodes) {
  const PlacementColumn joined =
      intersect(column({"x", "y"}, {{"a", {1}}, {"b", {0, 1}}, {"c", {0}}}),
                column({"u", "v"}, {{"a", {0}}, {"b", {0}}, {"c", {1}}}), cluster_);
  EXPECT_EQ(joined.names(), (Names{"y/u", "x/u", "x/v"}));
  EXPECT_EQ(names_at(joined, "a"), Names{"y/u"});
  EXPECT_EQ(names_at(joined, "b"), (Names{"y/u", "x/u"}));
  EXPECT_EQ(names_at(joined, "c"), Names{"x/v"});
  EXPECT_TRUE(std::ranges::is_sorted(joined.at(node("b")))) << "lists rise";
}

TEST_F(PlacementColumns, NamesThatWouldBeEqualAreNumbered) {
  const PlacementColumn joined =
      intersect(column({"p", "p/q", "p/q/r"}, {{"a", {0, 1, 2}}}),
                column({"s", "r/s", "q/r/s"}, {{"a", {0, 1, 2}}}), cluster_);
  EXPECT_EQ(joined.names(), (Names{"p/s", "p/r/s", "p/q/r/s", "p/q/s", "p/q/r/s~2", "p/q/q/r/s",
                                   "p/q/r/s~3", "p/q/r/r/s", "p/q/r/q/r/s"}));
}

TEST_F(PlacementColumns, WhoeverIsNowhereForOneIsNowhereForBoth) {
  const PlacementColumn joined = intersect(column({"x"}, {{"a", {0}}, {"b", {}}}),
                                           column({"u"}, {{"a", {0}}, {"b", {0}}}), cluster_);
  EXPECT_EQ(joined.names(), Names{"x/u"});
  EXPECT_TRUE(joined.at(node("b")).empty());
}

}  // namespace
}  // namespace muster::scheduler
