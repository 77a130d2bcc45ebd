#include "controllers/node_lifecycle/zones.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::controllers {
namespace {

using std::chrono::seconds;

class ZonesTest : public ::testing::Test {
 protected:
  // Nodes z-0, z-1, …, the first `down` of them down. Those that are up come first.
  void fill(const std::string& zone, int size, int down) {
    for (int i = size - 1; i >= 0; --i)
      zones_.set(fmt::format("{}-{}", zone, i), zone, i >= down, now_);
  }
  // "node@seconds" of the next turn of a zone.
  std::string next(const std::string& zone) const {
    const auto turn = zones_.next_turn(zone);
    if (!turn) return "none";
    return fmt::format("{}@{}", turn->node,
                       std::chrono::duration_cast<seconds>(turn->at - Time{}).count());
  }

  Time now_{seconds{1000}};
  Zones zones_;
};

TEST_F(ZonesTest, NodesTakeTurnsTenSecondsApart) {
  fill("a", 10, 2);
  zones_.ask("a-1", now_);
  zones_.ask("a-0", now_ + seconds{1});
  EXPECT_EQ(next("a"), "a-1@1000");
  EXPECT_FALSE(zones_.take_turn("a-0", now_ + seconds{1})) << "it is not the first";
  EXPECT_TRUE(zones_.take_turn("a-1", now_));
  EXPECT_FALSE(zones_.take_turn("a-1", now_)) << "a turn is taken once";
  EXPECT_EQ(next("a"), "a-0@1010");
  EXPECT_FALSE(zones_.take_turn("a-0", now_ + seconds{9}));
  EXPECT_TRUE(zones_.take_turn("a-0", now_ + seconds{10}));
}

TEST_F(ZonesTest, AZoneThatIsMostlyDownIsSlowIfLargeAndStopsIfSmall) {
  fill("large", 60, 33);
  zones_.ask("large-0", now_);
  zones_.ask("large-1", now_);
  EXPECT_TRUE(zones_.take_turn("large-0", now_));
  EXPECT_EQ(next("large"), "large-1@1100") << "55 % of 60: one per 100 s";
  fill("small", 50, 28);
  zones_.ask("small-0", now_);
  EXPECT_EQ(next("small"), "none");
  fill("two", 3, 2);
  zones_.ask("two-0", now_);
  EXPECT_EQ(next("two"), "two-0@1000") << "two nodes are no reason to worry";
  zones_.set("small-27", "small", true, now_ + seconds{50});
  EXPECT_EQ(next("small"), "small-0@1060") << "less than 55 % again: a whole pause from now";
}

TEST_F(ZonesTest, ADeadZoneGoesOnAsLongAsAnotherLives) {
  fill("a", 4, 4);
  EXPECT_TRUE(zones_.all_down());
  fill("b", 4, 0);
  EXPECT_FALSE(zones_.all_down());
  zones_.ask("a-0", now_);
  EXPECT_EQ(next("a"), "a-0@1010");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(zones_.set(fmt::format("b-{}", i), "b", false, now_));
  EXPECT_TRUE(zones_.set("b-3", "b", false, now_)) << "the last one of all";
  EXPECT_TRUE(zones_.all_down());
  EXPECT_EQ(next("a"), "none");
  EXPECT_FALSE(zones_.take_turn("a-0", now_ + seconds{100}));
  EXPECT_TRUE(zones_.set("a-3", "a", true, now_ + seconds{100}));
  EXPECT_EQ(next("a"), "none") << "three of four are down";
}

TEST_F(ZonesTest, NodesThatGoOrMoveLeaveNothingBehind) {
  fill("a", 3, 1);
  zones_.ask("a-0", now_);
  zones_.set("a-0", "b", false, now_);
  EXPECT_EQ(next("a"), "none");
  EXPECT_EQ(next("b"), "none") << "who moves asks again";
  zones_.ask("a-0", now_);
  zones_.ask("a-0", now_ + seconds{5});
  EXPECT_EQ(next("b"), "a-0@1000") << "who asks again keeps its place";
  zones_.withdraw("a-0");
  EXPECT_EQ(next("b"), "none");
  zones_.remove("a-0", now_);
  EXPECT_FALSE(zones_.remove("a-1", now_));
  EXPECT_FALSE(zones_.remove("a-2", now_));
  EXPECT_FALSE(zones_.all_down()) << "without nodes nothing is down";
}

TEST_F(ZonesTest, AZoneOfFiftyIsSmallAndThreeThatAreDownAreMany) {
  fill("fifty", 50, 28);
  fill("more", 51, 29);
  fill("three", 5, 3);
  fill("most", 4, 3);
  fill("live", 2, 0);
  for (const std::string zone : {"fifty", "more", "three", "most"}) zones_.ask(zone + "-0", now_);
  EXPECT_EQ(next("fifty"), "none");
  EXPECT_EQ(next("more"), "more-0@1100") << "it is large, so slowly";
  EXPECT_EQ(next("three"), "none") << "60 %";
  EXPECT_EQ(next("most"), "none") << "75 %";
  zones_.set("three-2", "three", true, now_);
  EXPECT_EQ(next("three"), "three-0@1010") << "two of five";
}

TEST_F(ZonesTest, EachZoneSaysHowItIs) {
  Metrics metrics;
  Zones zones(&metrics);
  zones.set("n1", "a", true, now_);
  zones.set("n2", "a", false, now_);
  zones.set("n3", "a", true, now_);
  zones.set("n4", "a", true, now_);
  zones.ask("n2", now_);
  EXPECT_TRUE(zones.take_turn("n2", now_));
  const std::string text = metrics.text();
  for (const std::string_view line :
       {R"(node_collector_zone_size{zone="a"} 4)", R"(node_collector_zone_health{zone="a"} 75)",
        R"(node_collector_unhealthy_nodes_in_zone{zone="a"} 1)",
        R"(node_collector_evictions_total{zone="a"} 1)"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

}  // namespace
}  // namespace muster::controllers
