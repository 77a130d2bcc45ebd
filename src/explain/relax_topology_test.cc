#include <gtest/gtest.h>

#include <string>

#include "explain/explain_testing.h"
#include "explain/relax.h"

namespace muster::explain {
namespace {

// Four racks of two nodes, in two blocks of one zone.
Yard three_levels() {
  Yard yard;
  for (int i = 0; i < 8; ++i)
    yard.add_node({.name = fmt::format("n{}", i),
                   .cpu = "8",
                   .labels = {{"rack", fmt::format("r{}", i / 2)},
                              {"block", fmt::format("b{}", i / 4)},
                              {"zone", "z"}}});
  return yard;
}

std::string wider_topology_for(int pods) {
  const Yard yard =
      three_levels().gang({.name = "train", .minimum = pods, .key = "rack"}, pods, "8");
  const Result<Explanation> told = yard.ask("train");
  EXPECT_TRUE(told) << told.error().message;
  for (const Relaxation& relaxation : told->relaxations)
    if (relaxation.kind == RelaxationKind::WiderTopology) return relaxation.sentence;
  return "";
}

TEST(WiderTopology, TheNarrowestThatWillDoIsAdvised) {
  EXPECT_EQ(wider_topology_for(3),
            "let podgroup default/train spread over one block (block) instead of one rack; it "
            "would stand in block b0");
  EXPECT_EQ(wider_topology_for(5),
            "let podgroup default/train spread over one zone (zone) instead of one rack; it would "
            "stand in zone z");
}

}  // namespace
}  // namespace muster::explain
