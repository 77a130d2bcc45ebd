#include "client/kit/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(CallsTest, HandsEachOutcomeToWhoMadeTheCall) {
  FakeApi api;
  std::vector<std::string> done;
  for (const std::string name : {"a", "b"})
    api.calls.send({}, [&done, name](const Outcome& outcome, Time) {
      done.push_back(name + (outcome ? "" : ": " + outcome.error().message));
    });
  EXPECT_EQ(api.calls.under_way(), 2U);
  api.refuse(1, Reason::Conflict, Time{});
  api.accept(0, Time{});
  EXPECT_EQ(done, (std::vector<std::string>{"b: no: Conflict", "a"}));
  api.accept(0, Time{});
  api.calls.complete(4711, api::Answer{}, Time{});
  EXPECT_EQ(done.size(), 2U) << "an outcome comes once, and unknown tickets are ignored";
  EXPECT_EQ(api.calls.under_way(), 0U);
}

TEST(CallsTest, ACallMayBeMadeFromAnOutcome) {
  FakeApi api;
  int done = 0;
  api.calls.send({}, [&](const Outcome&, Time) {
    ++done;
    for (int i = 0; i < 100; ++i) api.calls.send({}, [&](const Outcome&, Time) { ++done; });
  });
  api.accept(0, Time{});
  for (std::size_t i = 1; i <= 100; ++i) api.accept(i, Time{});
  EXPECT_EQ(done, 101);
}

TEST(CallsTest, CountsByMethodAndCode) {
  Metrics metrics;
  Calls calls([](const api::Request&, std::uint64_t) {}, &metrics);
  const auto ignore = [](const Outcome&, Time) {};
  api::Request create;
  create.verb = api::Verb::Create;
  api::Request patch;
  patch.verb = api::Verb::Patch;
  calls.send(create, ignore);
  calls.send(patch, ignore);
  calls.send(patch, ignore);
  calls.complete(1, api::Answer{}, Time{});
  for (const std::uint64_t ticket : {2U, 3U})
    calls.complete(ticket, fail(Reason::Conflict, "changed"), Time{});
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="201",host="loopback",)"
                              R"(method="POST"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="409",host="loopback",)"
                              R"(method="PATCH"} 2)"));
}

TEST(RetryDelayTest, GrowsWithEveryTryAndEnds) {
  const Error busy = make_error(Reason::TooManyRequests, "busy");
  EXPECT_EQ(retry_delay(busy, 1, {}), milliseconds{10});
  EXPECT_EQ(retry_delay(busy, 2, {}), milliseconds{50});
  EXPECT_EQ(retry_delay(busy, 9, {}), seconds{10});
  EXPECT_EQ(retry_delay(busy, 10, {}), std::nullopt);
}

TEST(RetryDelayTest, ConflictsAreTriedAgainOnlyIfAsked) {
  const Error conflict = make_error(Reason::Conflict, "changed");
  EXPECT_EQ(retry_delay(conflict, 1, {}), std::nullopt);
  EXPECT_EQ(retry_delay(conflict, 1, {.conflicts = true}), milliseconds{10});
  EXPECT_EQ(retry_delay(conflict, 4, {.conflicts = true}), std::nullopt);
}

TEST(RetryDelayTest, WaitsAtLeastAsLongAsTheServerSays) {
  Error busy = make_error(Reason::ServiceUnavailable, "busy");
  busy.retry_after_s = 3;
  EXPECT_EQ(retry_delay(busy, 1, {}), seconds{3});
}

}  // namespace
}  // namespace muster::client
