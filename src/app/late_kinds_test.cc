#include "app/late_kinds.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

namespace muster::app {
namespace {

using std::chrono::seconds;

class LateKindsTest : public ::testing::Test {
 protected:
  // What is found during so much time, with a look at the clock each second.
  std::string found_within(seconds time) {
    for (seconds passed{}; passed < time; passed += seconds{1}) {
      now_ += seconds{1};
      if (std::string found = late_.look(absent_, now_); !found.empty()) return found;
    }
    return "";
  }

  const std::array<const api::Kind*, 2> absent_{&api::kinds::workload(), &api::kinds::pod_group()};
  client::ServedKinds served_;
  bool is_away_ = false;
  int asked_ = 0;
  Time now_{};
  LateKinds late_{[this](std::span<const api::Kind* const> kinds) -> Result<client::ServedKinds> {
    EXPECT_EQ(kinds.size(), absent_.size());
    ++asked_;
    if (is_away_) return fail(Reason::ServiceUnavailable, "away");
    return served_;
  }};
};

TEST_F(LateKindsTest, AKindThatStaysIsFoundWithinAMinuteAndAHalf) {
  EXPECT_EQ(found_within(seconds{300}), "");
  EXPECT_LE(asked_, 15);
  served_.set(api::kinds::pod_group(), "v1beta1");
  EXPECT_EQ(found_within(seconds{90}), "podgroups.scheduling.k8s.io/v1beta1");
}

TEST_F(LateKindsTest, AKindThatComesAndGoesIsNotFound) {
  for (int upgrade = 0; upgrade < 10; ++upgrade) {
    served_.set(api::kinds::pod_group(), "v1beta1");
    EXPECT_EQ(found_within(seconds{40}), "");
    served_.remove(api::kinds::pod_group());
    EXPECT_EQ(found_within(seconds{20}), "");
  }
}

TEST_F(LateKindsTest, AServerThatIsAwayChangesNothing) {
  served_.set(api::kinds::workload(), "v1beta1");
  EXPECT_EQ(found_within(seconds{50}), "");
  is_away_ = true;
  EXPECT_EQ(found_within(seconds{600}), "");
  is_away_ = false;
  EXPECT_EQ(found_within(seconds{21}), "workloads.scheduling.k8s.io/v1beta1");
}

TEST_F(LateKindsTest, WhereNothingIsMissingNobodyIsAsked) {
  EXPECT_EQ(late_.look({}, now_ + seconds{100}), "");
  EXPECT_EQ(late_.look({}, now_ + seconds{200}), "");
  EXPECT_EQ(asked_, 0);
}

TEST_F(LateKindsTest, LooksEveryTwentySecondsAndBelievesTheThird) {
  served_.set(api::kinds::pod_group(), "v1beta1");
  std::string looks;
  for (int second = 0; second <= 60; ++second) {
    const int before = asked_;
    const std::string found = late_.look(absent_, now_ + seconds{second});
    if (asked_ > before) looks += std::to_string(second) + found + " ";
  }
  EXPECT_EQ(looks, "20 40 60podgroups.scheduling.k8s.io/v1beta1 ") << "the start has just asked";
}

}  // namespace
}  // namespace muster::app
