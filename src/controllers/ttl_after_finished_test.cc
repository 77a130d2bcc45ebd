#include "controllers/ttl_after_finished.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

constexpr Time kFinished{seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

api::ObjectPtr job(std::string_view ttl, std::string_view condition, std::string_view metadata = "",
                   std::string_view status = "True") {
  return object(
      *api::find_kind("batch", "Job"),
      fmt::format(R"({{"metadata":{{"name":"j","namespace":"ns","uid":"u"{}}},"spec":{{{}}},)"
                  R"("status":{{"conditions":[{{"type":"{}","status":"{}",)"
                  R"("lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
                  metadata, ttl, condition, status));
}

// When a Job that the controller sees at `seen` is deleted: seconds after it finished; -1: never.
std::int64_t deleted_after(const api::ObjectPtr& job, seconds seen = {}) {
  Sent sent;
  TtlAfterFinished controller(sent.context());
  Time now = kFinished + seen;
  controller.apply(client::Event{.type = Type::Added, .object = job}, now);
  controller.apply(client::Synced{}, now);
  controller.run_once(now, 10);
  if (sent.requests.empty()) {
    const std::optional<Time> next = controller.next_deadline();
    if (!next) return -1;
    now = *next;
    controller.run_once(now, 10);
  }
  if (sent.requests.empty()) return -2;
  const api::Request& request = sent.requests.front().first;
  EXPECT_EQ(request.verb, api::Verb::Delete);
  EXPECT_EQ(request.remove.propagation_policy, "Foreground");
  EXPECT_EQ(request.remove.preconditions.uid, "u");
  return std::chrono::duration_cast<seconds>(now - kFinished).count();
}

TEST(TtlAfterFinished, DeletesAJobWhenItsTimeIsUp) {
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":100)", "Complete")), 100);
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":100)", "Failed")), 100);
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":0)", "Complete")), 0);
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":100)", "Complete"), seconds{500}), 500);
}

TEST(TtlAfterFinished, LeavesOthersAlone) {
  EXPECT_EQ(deleted_after(job("", "Complete")), -1);
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":100)", "Suspended")), -1);
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":100)", "Complete",
                              R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")),
            -1);
  EXPECT_EQ(deleted_after(job(R"("ttlSecondsAfterFinished":100)", "Complete", "", "False")), -1);
}

// Shows a Job that has finished, then `change`, and runs on; how many requests there were.
std::size_t asked_after(const client::Input& change) {
  Sent sent;
  TtlAfterFinished controller(sent.context());
  controller.apply(client::Event{.type = Type::Added,
                                 .object = job(R"("ttlSecondsAfterFinished":10)", "Failed")},
                   kFinished);
  controller.apply(client::Synced{}, kFinished);
  controller.run_once(kFinished, 10);
  controller.apply(change, kFinished);
  controller.run_once(kFinished + seconds{10}, 10);
  return sent.requests.size();
}

TEST(TtlAfterFinished, AsksNothingOfAJobThatIsGoneGoesOrNoLongerSaysWhen) {
  const std::string_view ten = R"("ttlSecondsAfterFinished":10)";
  EXPECT_EQ(asked_after(client::Synced{}), 1U);
  EXPECT_EQ(asked_after(client::Event{.type = Type::Deleted, .object = job(ten, "Failed")}), 0U);
  EXPECT_EQ(asked_after(client::Event{
                .type = Type::Modified,
                .object = job(ten, "Failed", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")}),
            0U);
  EXPECT_EQ(asked_after(client::Event{.type = Type::Modified, .object = job("", "Failed")}), 0U);
}

TEST(TtlAfterFinished, TriesAgainLater) {
  Sent sent;
  TtlAfterFinished controller(sent.context());
  controller.apply(
      client::Event{.type = Type::Added, .object = job(R"("ttlSecondsAfterFinished":0)", "Failed")},
      kFinished);
  controller.apply(client::Synced{}, kFinished);
  controller.run_once(kFinished, 10);
  ASSERT_EQ(sent.requests.size(), 1U);
  controller.apply(client::Called{sent.requests[0].second, fail(Reason::TooManyRequests, "no")},
                   kFinished);
  controller.run_once(kFinished, 10);
  EXPECT_EQ(sent.requests.size(), 1U);
  ASSERT_TRUE(controller.next_deadline().has_value());
  controller.run_once(*controller.next_deadline(), 10);
  EXPECT_EQ(sent.requests.size(), 2U);
}

TEST(TtlAfterFinished, FollowsAChangeOfMind) {
  Sent sent;
  TtlAfterFinished controller(sent.context());
  controller.apply(client::Event{.type = Type::Added,
                                 .object = job(R"("ttlSecondsAfterFinished":10)", "Failed")},
                   kFinished);
  controller.apply(client::Synced{}, kFinished);
  controller.run_once(kFinished, 10);
  controller.apply(client::Event{.type = Type::Modified,
                                 .object = job(R"("ttlSecondsAfterFinished":60)", "Failed")},
                   kFinished);
  controller.run_once(kFinished + seconds{10}, 10);
  EXPECT_TRUE(sent.requests.empty());
  controller.run_once(kFinished + seconds{60}, 10);
  EXPECT_EQ(sent.requests.size(), 1U);
}

}  // namespace
}  // namespace muster::controllers
