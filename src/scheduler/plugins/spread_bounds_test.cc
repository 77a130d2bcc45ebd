#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/plugins/pod_topology_spread.h"
#include "scheduler/plugins/standing_testing.h"

// How uneven the spread of pods may be.
namespace muster::scheduler {
namespace {

constexpr std::string_view kUneven = "node(s) didn't match pod topology spread constraints";

std::string web_by(const std::string& key, int skew, const std::string& more = "") {
  return fmt::format(
      R"({{"topologyKey":"{}","maxSkew":{},"whenUnsatisfiable":"DoNotSchedule","labelSelector":{{"matchLabels":{{"app":"web"}}}}{}}})",
      key, skew, more);
}

class SpreadBounds : public StandingTest {
 protected:
  // A node of its own zone, with so many pods.
  void zone(const std::string& name, int count, const std::string& rack = "") {
    NodeSample node{.name = name, .labels = {{"zone", name}}};
    if (!rack.empty()) node.labels["rack"] = rack;
    cluster_.set_node(node.make());
    for (int i = 0; i < count; ++i)
      cluster_.set_pod(PodSample{
          .name = fmt::format("p{}", next_++), .node_name = name, .labels = {{"app", "web"}}}
                           .make());
  }
  void ask(const std::string& constraints) {
    if (profile_.filters().empty()) profile_.add<PodTopologySpread>(1);
    standing_of(PodSample{.name = "asks",
                          .spec = "\"topologySpreadConstraints\":[" + constraints + "]",
                          .labels = {{"app", "web"}}}
                    .make());
  }
};

TEST_F(SpreadBounds, AZoneMayBeAheadOfTheLeastByTheSkew) {
  for (int count = 0; count < 5; ++count) zone(fmt::format("z{}", count), count + 1);
  for (int skew = 1; skew <= 5; ++skew) {
    ask(web_by("zone", skew));
    for (int count = 0; count < 5; ++count)
      EXPECT_EQ(why(fmt::format("z{}", count)), count + 1 <= skew ? "" : kUneven)
          << "skew " << skew << ", " << count << " more than the least";
  }
}

TEST_F(SpreadBounds, UntilThereAreEnoughZonesTheLeastIsNobody) {
  zone("a", 2);
  zone("b", 3);
  struct Case {
    int domains;
    int skew;
    bool a, b;
  };
  const Case cases[] = {{1, 1, true, false},  {2, 1, true, false},  {2, 2, true, true},
                        {3, 1, false, false}, {3, 2, false, false}, {3, 3, true, false},
                        {3, 4, true, true}};
  for (const Case& c : cases) {
    ask(web_by("zone", c.skew, fmt::format(R"(,"minDomains":{})", c.domains)));
    EXPECT_EQ(why("a"), c.a ? "" : kUneven) << c.domains << " domains, skew " << c.skew;
    EXPECT_EQ(why("b"), c.b ? "" : kUneven) << c.domains << " domains, skew " << c.skew;
  }
}

TEST_F(SpreadBounds, EveryConstraintMustHold) {
  zone("a", 1, "r1");
  zone("b", 0, "r1");
  zone("c", 0, "r2");
  zone("d", 0);
  ask(web_by("zone", 1) + "," + web_by("rack", 1));
  EXPECT_EQ(why("a"), kUneven) << "by zone and by rack";
  EXPECT_EQ(why("b"), kUneven) << "by rack";
  EXPECT_EQ(why("c"), "");
  EXPECT_EQ(why("d"),
            "node(s) didn't match pod topology spread constraints (missing required label)");
  ask(web_by("zone", 1) + "," + web_by("rack", 2));
  EXPECT_EQ(why("a"), kUneven) << "by zone";
  EXPECT_EQ(why("b"), "");
}

TEST_F(SpreadBounds, AMoveCountsUntilItIsUndone) {
  zone("a", 0);
  zone("b", 0);
  ask(web_by("zone", 1));
  const PodClass& pods = standing_->pods();
  const auto place = [&](const std::string& node) {
    cluster_.place(pods, id(node));
    standing_->placed(pods, id(node));
  };
  place("a");
  EXPECT_EQ(why("a"), kUneven);
  EXPECT_EQ(why("b"), "");
  place("b");
  EXPECT_EQ(why("a"), "") << "the least has risen";
  EXPECT_EQ(why("b"), "");
  cluster_.unplace(pods, id("b"));
  standing_->removed(pods, id("b"));
  EXPECT_EQ(why("a"), kUneven);
  cluster_.unplace(pods, id("a"));
  standing_->removed(pods, id("a"));
  EXPECT_EQ(why("a"), "");
}

}  // namespace
}  // namespace muster::scheduler
