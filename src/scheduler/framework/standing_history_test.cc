#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "scheduler/framework/standing_testing.h"

namespace muster::scheduler {
namespace {

// Everything happens that may happen to a cluster, and drafts are made and undone.
class StandingHistory : public StandingBench, public ::testing::WithParamInterface<int> {
 protected:
  StandingHistory() : random_(static_cast<std::uint32_t>(GetParam())) {
    const StandingRules kinds[] = {{},
                                   {.limit = RackLimit::Form{.limit = 3}},
                                   {.limit = RackLimit::Form{.limit = 3, .has_places = true}},
                                   {.is_crowd = true},
                                   {.limit = RackLimit::Form{.limit = 3}, .is_crowd = true}};
    rules_ = kinds[GetParam() % 5];
    profile_.add<Room>(1);
    if (rules_.limit) profile_.add<RackLimit>(1, *rules_.limit);
    if (rules_.is_crowd)
      profile_.add<Crowd>(3);
    else
      profile_.add<Raw>(3);
    profile_.add<Local>(2);
    for (int i = 0; i < 20; ++i) node(fmt::format("n{:02}", i), {.rack = i % 6, .local = i % 5});
  }
  int any(unsigned below) { return static_cast<int>(random_() % below); }
  void change(const std::string& new_pod) {
    const std::string name = fmt::format("n{:02}", any(25));
    const int what = any(8);
    if (what < 2) {
      node(name, {.room = any(4), .rack = any(6), .local = any(5), .raw = any(3)});
    } else if (what == 2) {
      cluster_.remove_node(name);
    } else if (what < 6 && cluster_.has_node(name)) {
      cluster_.assume(PodSample{.name = new_pod}.make(), name);
      assumed_.insert("default-" + new_pod);
    } else if (!assumed_.empty()) {
      cluster_.forget(*assumed_.begin());
      assumed_.erase(assumed_.begin());
    }
  }
  // A standing that follows moves is told of them, and true after each.
  void make_and_undo_draft(Standing& standing) {
    const PodClass& asks = pods();
    std::vector<NodeId> moves;
    for (int i = any(6); i > 0; --i) {
      const auto best = standing.pick();
      if (!best) break;
      moves.push_back(best->node);
      cluster_.place(asks, best->node);
      standing.placed(asks, best->node);
      ASSERT_NO_FATAL_FAILURE(expect_true(standing, rules_, "in a draft"));
    }
    for (; !moves.empty(); moves.pop_back()) {
      cluster_.unplace(asks, moves.back());
      standing.removed(asks, moves.back());
      ASSERT_NO_FATAL_FAILURE(expect_true(standing, rules_, "while it is undone"));
    }
  }

  std::mt19937 random_;
  StandingRules rules_;
  std::set<std::string> assumed_;
};

TEST_P(StandingHistory, AStandingIsTrueWhateverHappened) {
  Standing standing = make();
  for (int step = 0; step < 30; ++step) {
    for (int changes = any(4); changes > 0; --changes) change(fmt::format("p{}-{}", step, changes));
    standing.catch_up();
    ASSERT_NO_FATAL_FAILURE(expect_true(standing, rules_, fmt::format("after step {}", step)));
    if (!standing.follows_moves() || any(3) > 0) continue;
    ASSERT_NO_FATAL_FAILURE(make_and_undo_draft(standing));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StandingHistory, ::testing::Range(0, 10));

}  // namespace
}  // namespace muster::scheduler
