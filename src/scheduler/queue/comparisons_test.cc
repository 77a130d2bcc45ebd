#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/queue/queue_testing.h"

// Trees of a Workload, and when they are to be compared with it.
namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class Comparisons : public QueueTest {
 protected:
  void put_planned(const std::string& name) {
    const auto document = api::parse_json(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"group-{0}"}},"spec":{{
             "schedulingPolicy":{{"gang":{{"minCount":2}}}},
             "workloadRef":{{"workloadName":"w","templateName":"t"}}}},"status":{{}}}})",
        name));
    model_.put(api::Object::make(api::kinds::pod_group(), document->value));
  }
  void put_member(const std::string& name, const std::string& group) {
    put(name, {.group = group, .created = "1970-01-01T00:16:40Z"});  // now
  }
  Names due() {
    Names out;
    for (const GroupKey& root : queue_.drain_comparisons(now_)) out.push_back(root.name);
    return out;
  }
};

TEST_F(Comparisons, ATreeIsComparedOnceItHasWaitedForAMinute) {
  put_planned("g");
  EXPECT_EQ(queue_.next_deadline(), std::nullopt) << "it has no pods";
  put_member("a", "g");
  EXPECT_EQ(queue_.next_deadline(), now_ + minutes{1});
  now_ += minutes{1} - milliseconds{1};
  EXPECT_EQ(due(), Names{});
  now_ += milliseconds{1};
  EXPECT_EQ(due(), Names{"g"});
  EXPECT_EQ(due(), Names{}) << "once";
  EXPECT_EQ(queue_.next_deadline(), std::nullopt);
}

TEST_F(Comparisons, AGroupWithoutAWorkloadIsNotCompared) {
  put_group("g", 2);
  put_member("a", "g");
  EXPECT_EQ(queue_.next_deadline(), std::nullopt);
}

TEST_F(Comparisons, ATreeWhosePodsAreGoneIsNotCompared) {
  put_planned("g");
  put_planned("h");
  put_member("a", "g");
  put_member("b", "h");
  remove("a");
  now_ += minutes{1};
  EXPECT_EQ(due(), Names{"h"});
}

// The ones it was planned for have gone.
TEST_F(Comparisons, YoungerPodsAreWaitedFor) {
  put_planned("g");
  put_member("old", "g");
  ASSERT_EQ(queue_.next_deadline(), Time{seconds{1060}});
  put("young", {.group = "g", .created = "1970-01-01T00:17:10Z"});
  remove("old");
  now_ = Time{seconds{1060}};
  EXPECT_EQ(due(), Names{});
  EXPECT_EQ(queue_.next_deadline(), Time{seconds{1090}});
  now_ = Time{seconds{1090}};
  EXPECT_EQ(due(), Names{"g"});
}

TEST_F(Comparisons, OfVeryManyTheRestAreForTheNextTime) {
  for (int i = 0; i < 65; ++i) {
    put_planned(fmt::format("g{}", i));
    put_member(fmt::format("p{}", i), fmt::format("g{}", i));
  }
  now_ += minutes{1};
  EXPECT_EQ(due().size(), 64U);
  EXPECT_EQ(due().size(), 1U);
}

}  // namespace
}  // namespace muster::scheduler
