#include "controllers/statefulset/roster.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/entropy.h"
#include "controllers/statefulset/stateful_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

TEST(OrdinalOf, ReadsOnlyNamesThatTheSetGives) {
  EXPECT_EQ(ordinal_of("web-0", "web"), 0);
  EXPECT_EQ(ordinal_of("web-12", "web"), 12);
  EXPECT_EQ(ordinal_of("web-1-2", "web-1"), 2);
  for (const char* name :
       {"web", "web-", "web-01", "web--1", "web-1x", "webs-1", "web-1-2", "web-99999999999"})
    EXPECT_EQ(ordinal_of(name, "web"), std::nullopt) << name;
}

TEST(FreeOrdinals, AreGapsOfTheRange) {
  FreeOrdinals free;
  free.reset(10, 15);
  for (const int taken : {12, 10, 12, 99}) free.occupy(taken);
  EXPECT_EQ(free.count(), 3);
  EXPECT_EQ(free.lowest(9), (std::vector<std::int32_t>{11, 13, 14}));
  EXPECT_EQ(free.lowest(2), (std::vector<std::int32_t>{11, 13}));
  EXPECT_EQ(free.count_from(13), 2);
  EXPECT_EQ(free.count_from(14), 1);
  EXPECT_EQ(free.highest(), 14);
  free.occupy(14);
  EXPECT_EQ(free.highest(), 13);
  free.release(14);
  EXPECT_EQ(free.first(), 10);
  EXPECT_EQ(free.end(), 15);
  for (const int back : {12, 12, 9, 15}) free.release(back);
  EXPECT_EQ(free.count(), 4);
  EXPECT_EQ(free.lowest(), 11);
  free.release(10);
  EXPECT_EQ(free.lowest(9).size(), 5U);
}

TEST(FreeOrdinals, OfNoRangeThereAreNone) {
  FreeOrdinals free;
  free.reset(7, 3);
  EXPECT_EQ(free.count(), 0);
  EXPECT_EQ(free.end(), 7);
  EXPECT_EQ(free.lowest(), std::nullopt);
  EXPECT_EQ(free.highest(), std::nullopt);
  EXPECT_FALSE(free.has(7));
}

TEST(FreeOrdinals, OfAHugeRangeCostNothing) {
  FreeOrdinals free;
  free.reset(0, 2'147'483'647);
  free.occupy(1);
  EXPECT_EQ(free.count(), 2'147'483'646);
  EXPECT_EQ(free.lowest(3), (std::vector<std::int32_t>{0, 2, 3}));
}

// What the roster keeps up to date must be what a count of all pods says.
struct Counted {
  std::int32_t ready = 0, available = 0;
  std::map<std::string, std::set<std::int32_t>> revisions;
  std::set<std::int32_t> unavailable, ended;
  std::vector<std::int32_t> free;
};

Counted count_all(const std::map<std::int32_t, PodText>& pods, int first, int count, Duration wait,
                  Time now) {
  Counted out;
  for (const auto& [ordinal, pod] : pods) {
    const bool ready = pod.phase == "Running" && pod.ready;
    const bool available = ready && (wait == Duration{} || pod.ready_since + wait <= now);
    out.ready += ready ? 1 : 0;
    out.available += available ? 1 : 0;
    if (!available || pod.deleted) out.unavailable.insert(ordinal);
    if (!pod.deleted) out.revisions[pod.revision].insert(ordinal);
    if (!pod.deleted && pod.phase == "Failed") out.ended.insert(ordinal);
  }
  for (int ordinal = first; ordinal < first + count; ++ordinal)
    if (!pods.contains(ordinal)) out.free.push_back(ordinal);
  return out;
}

void expect_same(const Roster& roster, const Counted& counted) {
  EXPECT_EQ(roster.ready(), counted.ready);
  EXPECT_EQ(roster.available(), counted.available);
  EXPECT_EQ(roster.unavailable(), counted.unavailable);
  EXPECT_EQ(roster.ended(), counted.ended);
  EXPECT_EQ(roster.free().lowest(1000), counted.free);
  ASSERT_EQ(roster.revisions().size(), counted.revisions.size());
  for (const auto& [revision, ordinals] : counted.revisions)
    EXPECT_EQ(roster.of_revision(revision), ordinals);
}

TEST(Roster, IsAlwaysWhatACountOfAllPodsSays) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededEntropy entropy(seed);
    const auto any = [&](std::uint64_t bound) { return static_cast<int>(entropy.below(bound)); };
    Roster roster;
    std::map<std::int32_t, PodText> pods;
    Time now = kNow;
    int first = 0;
    int count = 6;
    Duration wait{};
    for (int step = 0; step < 200; ++step) {
      now += seconds{any(3)};
      const int ordinal = any(10);
      if (any(4) == 0) {
        if (const auto at = pods.find(ordinal); at != pods.end()) {
          roster.remove(*pod_object(at->second), ordinal);
          pods.erase(at);
        }
      } else if (any(10) == 0) {
        first = any(3);
        count = any(9);
        wait = seconds{any(3) * 5};
      } else {
        PodText pod{.ordinal = ordinal,
                    .revision = any(2) == 0 ? "web-a" : "web-b",
                    .phase = any(6) == 0 ? "Failed" : "Running",
                    .ready = any(3) != 0,
                    .deleted = any(5) == 0,
                    .ready_since = now - seconds{any(8)}};
        roster.put(pod_object(pod), ordinal);
        pods.insert_or_assign(ordinal, pod);
      }
      roster.arrange(first, count, wait);
      roster.advance(now);
      expect_same(roster, count_all(pods, first, count, wait, now));
      if (HasFailure()) FAIL() << "seed " << seed << " step " << step;
    }
  }
}

TEST(Roster, APodThatCameInPlaceOfAnotherStaysWhenTheOtherIsGone) {
  Roster roster;
  roster.put(pod_object({.ordinal = 1, .uid = "new"}), 1);
  roster.remove(*pod_object({.ordinal = 1, .uid = "old"}), 1);
  EXPECT_EQ(roster.count(), 1);
}

}  // namespace
}  // namespace muster::controllers
