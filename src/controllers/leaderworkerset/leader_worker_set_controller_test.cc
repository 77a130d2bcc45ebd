#include "controllers/leaderworkerset/leader_worker_set_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "base/live_bytes_testing.h"
#include "controllers/leaderworkerset/leader_worker_set_testing.h"

namespace muster::controllers {
namespace {

std::ptrdiff_t count_of(const Texts& calls, std::string_view call) {
  return std::ranges::count(calls, call);
}

// What a step asks for that makes pods.
const Texts kPods{"create pods", "patch leaderworkersets/llm/status"};

TEST_F(LeaderWorkerSetControllerTest, HoldsNoCopiesOfALeadersTemplate) {
  start(500, 1);
  EXPECT_EQ(asked(), Texts{"create controllerrevisions"});
  EXPECT_EQ(step().front(), "create services");
  EXPECT_EQ(step().front(), "create statefulsets");
  const std::int64_t before = live_bytes();
  EXPECT_EQ(step(), kPods);
  EXPECT_LT(live_bytes() - before, 2 << 20);
}

TEST_F(LeaderWorkerSetControllerTest, HoldsNoCopiesOfAWorkersTemplate) {
  start(1, 500);
  EXPECT_EQ(asked(), Texts{"create controllerrevisions"});
  EXPECT_EQ(step().front(), "create services");
  EXPECT_EQ(step().front(), "create statefulsets");
  EXPECT_EQ(step(), kPods);
  EXPECT_EQ(step().front(), "create statefulsets");
  const std::int64_t before = live_bytes();
  EXPECT_EQ(step(), kPods);
  EXPECT_LT(live_bytes() - before, 2 << 20);
}

TEST_F(LeaderWorkerSetControllerTest, AsksForNoMoreWorkerSetsAtOnceThanThereIsRoomFor) {
  start(500, 2);
  asked();
  std::ptrdiff_t most = 0;
  for (int i = 0; i < 20 && most <= 1; ++i)
    most = std::max(most, count_of(step(), "create statefulsets"));
  EXPECT_GT(most, 200) << "of 64 KiB each";
  EXPECT_LT(most, 300);
}

constexpr std::string_view kGangs = R"(,"scheduling":{"replica":{"schedulingPolicy":{"gang":{}}}})";

// All groups of five hundred replicas were made in one look, each from a reading of the Workload.
TEST_F(LeaderWorkerSetControllerTest, GroupsAreMadeWhenTheyAreSent) {
  start(300, 2, kGangs, 1);
  asked();
  Texts calls;
  for (int i = 0; i < 10 && count_of(calls, "create podgroups") == 0; ++i) calls = step();
  EXPECT_EQ(count_of(calls, "create podgroups"), 1);
  EXPECT_EQ(count_of(step(), "create podgroups"), 2);
  std::ptrdiff_t groups = 3;
  for (int i = 0; i < 20; ++i) groups += count_of(step(), "create podgroups");
  EXPECT_EQ(groups, 300);
}

// A user who takes the names of a replica's groups, one after the other, makes no look long.
TEST_F(LeaderWorkerSetControllerTest, LooksForAFreeNameAFewTimes) {
  start(1, 2, kGangs, 1);
  asked();
  Texts calls;
  std::size_t refused = 0;
  for (int i = 0; i < 200; ++i) {
    calls = step_but([&](const api::Request& request) {
      if (request.kind != &api::kinds::pod_group()) return false;
      // Somebody else has it already.
      api::Json document = request.body;
      api::JsonObject& metadata = api::ensure_object(document.as_object(), "metadata");
      metadata["uid"] = fmt::format("other{}", refused++);
      metadata.erase("ownerReferences");
      show(object(api::kinds::pod_group(), api::to_text(document)), Type::Added);
      return true;
    });
  }
  EXPECT_GT(refused, 5U);
  EXPECT_LE(refused, 20U);
  EXPECT_EQ(count_of(calls, "create podgroups"), 0);
}

TEST_F(LeaderWorkerSetControllerTest, SaysHowFarItsReplicasAre) {
  start(1, 1, "", 1);
  asked();
  Texts calls;
  for (int i = 0; i < 5 && calls != kPods; ++i) calls = step();
  ASSERT_EQ(calls, kPods);
  const auto says = [&](std::string_view text) {
    return api::to_text(body(calls_.size() - 1)).find(text) != std::string::npos;
  };
  EXPECT_TRUE(says(R"("type":"Progressing","status":"True")"))
      << api::to_text(body(calls_.size() - 1));
  EXPECT_TRUE(says(R"("reason":"GroupsProgressing","message":"Replicas are progressing")"));
  EXPECT_FALSE(says(R"("type":"Available")")) << "it never was";
  EXPECT_FALSE(says(R"("type":"UpdateInProgress")"));
  const std::size_t call = calls_.size() - 2;
  api::Json document = body(call);
  step();
  api::ensure_object(document.as_object(), "metadata")["uid"] = fmt::format("u{}", call);
  document.as_object()["status"] =
      parsed(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})");
  refuse(calls_.size() - 1, Reason::NotFound);
  show(object(api::kinds::pod(), api::to_text(document)));
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked(), Texts{"patch leaderworkersets/llm/status"});
  EXPECT_TRUE(says(R"("type":"Available","status":"True")"))
      << api::to_text(body(calls_.size() - 1));
  EXPECT_TRUE(says(R"("reason":"AllGroupsReady","message":"All replicas are ready")"));
  EXPECT_FALSE(says(R"("type":"Progressing")"));
  EXPECT_TRUE(says(R"("readyReplicas":1)"));
  EXPECT_TRUE(says(R"("updatedReplicas":1)"));
}

}  // namespace
}  // namespace muster::controllers
