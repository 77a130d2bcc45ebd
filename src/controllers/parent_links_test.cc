#include "controllers/parent_links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::controllers {
namespace {

using Texts = std::vector<std::string>;

std::string name(std::size_t i) { return fmt::format("g{:06}", i); }

// The same by climbing.
class Climber {
 public:
  std::map<std::string, std::string> parents;
  std::multiset<std::string> leaves;
  std::set<std::string> leaving;

  bool is_above(const std::string& ancestor, std::string key) const {
    for (std::size_t steps = 0; steps <= parents.size(); ++steps) {
      if (key == ancestor) return true;
      const auto at = parents.find(key);
      if (at == parents.end()) return false;
      key = at->second;
    }
    return false;
  }
  bool is_used(const std::string& key) const {
    if (leaves.contains(key)) return true;
    for (const auto& [child, parent] : parents)
      if (parent == key && !is_above(child, key)) return true;
    return false;
  }
  bool is_on_circle(const std::string& key) const {
    const auto at = parents.find(key);
    return at != parents.end() && is_above(key, at->second);
  }
  Texts free_on_circle(const std::string& key) const {
    Texts out;
    if (!is_on_circle(key)) return out;
    for (const std::string& each : leaving)
      if (is_on_circle(each) && is_above(each, key) && !is_used(each)) out.push_back(each);
    return out;
  }
  std::size_t size() const {
    std::set<std::string> known(leaving.begin(), leaving.end());
    known.insert(leaves.begin(), leaves.end());
    for (const auto& [child, parent] : parents) known.insert({child, parent});
    return known.size();
  }
};

TEST(ParentLinks, AnswerLikeOneWhoClimbs) {
  std::mt19937 draw(7);  // NOLINT(*-msc51-cpp): the same every time
  for (const std::size_t count : {2U, 5U, 12U}) {
    ParentLinks links;
    Climber climber;
    const auto any = [&] { return name(draw() % count); };
    for (int step = 0; step < 4000; ++step) {
      const std::string key = any();
      switch (draw() % 5) {
        case 0:
          climber.parents.erase(key);
          EXPECT_FALSE(links.set_parent(key, ""));
          break;
        case 1: {
          const std::string parent = any();
          const auto at = climber.parents.find(key);
          const bool same = at != climber.parents.end() && at->second == parent;
          climber.parents[key] = parent;
          EXPECT_EQ(links.set_parent(key, parent), !same && climber.is_on_circle(key));
          break;
        }
        case 2: {
          const bool leaving = draw() % 2 == 0;
          climber.leaving.erase(key);
          if (leaving) climber.leaving.insert(key);
          links.set_leaving(key, leaving);
          break;
        }
        case 3:
          if (climber.leaves.size() > count / 2) break;
          climber.leaves.insert(key);
          links.add_leaf(key);
          break;
        default:
          if (const auto at = climber.leaves.find(key); at != climber.leaves.end()) {
            climber.leaves.erase(at);
            links.remove_leaf(key);
          }
      }
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(links.is_used(name(i)), climber.is_used(name(i))) << count << " " << step;
        ASSERT_EQ(links.free_on_circle(name(i)), climber.free_on_circle(name(i))) << step;
      }
      ASSERT_EQ(links.size(), climber.size());
    }
  }
}

// Whichever end it is made from and asked at, and whether it is closed to a circle or not.
TEST(ParentLinks, ALongWayUpCostsFewSteps) {
  constexpr std::size_t kCount = 20'000;
  constexpr std::uint64_t kStepsEach = 200;
  for (const bool from_the_top : {true, false})
    for (const bool circle : {true, false}) {
      ParentLinks links;
      for (std::size_t i = 1; i < kCount; ++i) {
        const std::size_t at = from_the_top ? i : kCount - i;
        links.set_parent(name(at), name(at - 1));
      }
      if (circle) {
        EXPECT_TRUE(links.set_parent(name(0), name(kCount - 1)));
      }
      for (std::size_t i = 0; i + 1 < kCount; ++i) EXPECT_EQ(links.is_used(name(i)), !circle);
      for (std::size_t i = 0; i < kCount; ++i) links.set_parent(name((i * 7) % kCount), "");
      EXPECT_EQ(links.size(), 0U);
      EXPECT_LT(links.steps(), kCount * kStepsEach);
    }
}

// Somebody may close and open a long circle as often as they like.
TEST(ParentLinks, ClosingACircleAgainAndAgainCostsThoseThatAreSetFree) {
  constexpr std::size_t kCount = 20'000;
  constexpr std::size_t kTimes = 1'000;
  ParentLinks links;
  for (std::size_t i = 1; i < kCount; ++i) links.set_parent(name(i), name(i - 1));
  for (std::size_t i = 0; i < kCount; ++i) {
    links.set_leaving(name(i), true);
    if (i != 77) links.add_leaf(name(i));
  }
  const std::uint64_t before = links.steps();
  for (std::size_t i = 0; i < kTimes; ++i) {
    EXPECT_TRUE(links.set_parent(name(0), name(kCount - 1)));
    EXPECT_EQ(links.free_on_circle(name(0)), Texts{name(77)});
    EXPECT_FALSE(links.set_parent(name(0), ""));
  }
  EXPECT_LT(links.steps() - before, kTimes * 200);
}

}  // namespace
}  // namespace muster::controllers
