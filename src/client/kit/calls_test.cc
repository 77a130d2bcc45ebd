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

TEST(CallsTest, KnowsTheBytesOfTheRequestsThatAreUnderWay) {
  FakeApi api;
  EXPECT_EQ(api.calls.bytes_under_way(), 0U);
  api::Request small;
  small.body = api::JsonObject{{"a", "x"}};
  api::Request large;
  large.body = api::JsonObject{{"a", std::string(1000, 'x')}};
  api.calls.send(small, [](const Outcome&, Time) {});
  const std::size_t first = api.calls.bytes_under_way();
  api.calls.send(large, [](const Outcome&, Time) {});
  EXPECT_EQ(api.calls.bytes_under_way(), 2 * first + 999);
  api.accept(0, Time{});
  EXPECT_EQ(api.calls.bytes_under_way(), first + 999);
  api.refuse(1, Reason::Conflict, Time{});
  EXPECT_EQ(api.calls.bytes_under_way(), 0U);
}

TEST(CallsTest, CountsForTheHostThatAnswers) {
  Metrics metrics;
  Calls calls([](const api::Request&, std::uint64_t) {}, &metrics, "10.0.0.1:6443");
  calls.send({}, [](const Outcome&, Time) {});
  calls.complete(1, api::Answer{}, Time{});
  EXPECT_THAT(metrics.text(), HasSubstr(R"(rest_client_requests_total{code="200",)"
                                        R"(host="10.0.0.1:6443",method="GET"} 1)"));
}

TEST(BytesOfTest, CountsNamesTextsAndElements) {
  const std::size_t one = bytes_of(nullptr);
  EXPECT_GT(one, 0U);
  EXPECT_EQ(bytes_of(7), one);
  EXPECT_EQ(bytes_of("12345"), one + 5);
  EXPECT_EQ(bytes_of(api::JsonArray{7, "12345"}), 3 * one + 5);
  const std::size_t empty_name = bytes_of(api::JsonObject{{"", 7}});
  EXPECT_GE(empty_name, 2 * one);
  EXPECT_EQ(bytes_of(api::JsonObject{{"abc", "12345"}}), empty_name + 8);
  EXPECT_EQ(bytes_of(api::JsonObject{{"a", 1}, {"b", 2}}), 2 * (empty_name + 1) - one);
}

TEST(RetryDelayTest, IsFiveTimesAsLongEachTimeUpToTenSeconds) {
  const Error busy = make_error(Reason::ServiceUnavailable, "busy");
  const Duration want[]{milliseconds{10},   milliseconds{50},   milliseconds{250},
                        milliseconds{1250}, milliseconds{6250}, seconds{10},
                        seconds{10},        seconds{10},        seconds{10}};
  for (int tries = 1; tries <= 9; ++tries) EXPECT_EQ(retry_delay(busy, tries, {}), want[tries - 1]);
}

TEST(RetryDelayTest, HowOftenDependsOnWhatIsWrong) {
  struct Case {
    Reason reason;
    int tries_max;
  };
  for (const Case& test : {Case{Reason::TooManyRequests, 10},
                           {Reason::ServiceUnavailable, 10},
                           {Reason::ServerTimeout, 10},
                           {Reason::InternalError, 4},
                           {Reason::Timeout, 4},
                           {Reason::Conflict, 1},
                           {Reason::NotFound, 1},
                           {Reason::Forbidden, 1},
                           {Reason::Invalid, 1}}) {
    int tries = 1;
    while (retry_delay(make_error(test.reason, "no"), tries, {})) ++tries;
    EXPECT_EQ(tries, test.tries_max) << reason_name(test.reason);
  }
}

// A server's word must not hold a node's room for long.
TEST(RetryDelayTest, WaitsAMinuteAtMostHoweverLongTheServerSays) {
  Error busy = make_error(Reason::ServiceUnavailable, "busy");
  busy.retry_after_s = 59;
  EXPECT_EQ(retry_delay(busy, 1, {}), seconds{59});
  busy.retry_after_s = 3600;
  EXPECT_EQ(retry_delay(busy, 1, {}), seconds{60});
  busy.retry_after_s = 3;
  EXPECT_EQ(retry_delay(busy, 6, {}), seconds{10}) << "the longer of the two";
}

}  // namespace
}  // namespace muster::client
