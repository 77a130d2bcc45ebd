#include "scheduler/bind/binder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::milliseconds;
using std::chrono::seconds;

class BinderTest : public ::testing::Test {
 protected:
  void commit(const std::string& pod, const std::string& node) {
    const Assignment assignment{make_pod(pod), node};
    binder.commit({&assignment, 1}, now);
  }

  Time now{seconds{100}};
  FakeApi api;
  std::vector<std::string> told;
  Binder binder{{.in_flight_max = 2},
                api.calls,
                [this](const Assignment& assignment, const std::optional<Error>& error, Time) {
                  told.push_back(assignment.pod->meta().name + "->" + assignment.node +
                                 (error ? ": " + error->message : ""));
                }};
};

TEST_F(BinderTest, PostsABindingWithTheUid) {
  commit("p", "n1");
  ASSERT_EQ(api.sent.size(), 1U);
  const api::Request& request = api.sent[0].request;
  EXPECT_EQ(request.verb, api::Verb::Create);
  EXPECT_EQ(request.subresource, "binding");
  EXPECT_EQ(request.name_space, "ns");
  EXPECT_EQ(request.name, "p");
  EXPECT_EQ(api::find_string(*api::find(request.body, "metadata"), "uid"), "uid-p");
  EXPECT_EQ(api::find_string(*api::find(request.body, "target"), "name"), "n1");
  api.accept(0, now);
  EXPECT_EQ(told, std::vector<std::string>{"p->n1"});
  EXPECT_EQ(binder.pending(), 0U);
}

TEST_F(BinderTest, KeepsABoundedNumberUnderWay) {
  for (const char* pod : {"a", "b", "c"}) commit(pod, "n");
  EXPECT_EQ(api.sent.size(), 2U);
  EXPECT_TRUE(binder.full());
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 3U);
}

TEST_F(BinderTest, ReportsAConflictAtOnce) {
  commit("p", "n1");
  api.refuse(0, Reason::Conflict, now);
  EXPECT_EQ(told, std::vector<std::string>{"p->n1: no: Conflict"});
  EXPECT_FALSE(binder.next_deadline());
}

TEST_F(BinderTest, AsksABusyServerAgain) {
  commit("p", "n1");
  api.refuse(0, Reason::ServiceUnavailable, now);
  EXPECT_EQ(binder.next_deadline(), now + milliseconds{10});
  binder.run(now);
  EXPECT_EQ(api.sent.size(), 1U);
  now += milliseconds{10};
  binder.run(now);
  ASSERT_EQ(api.sent.size(), 2U);
  api.refuse(1, Reason::TooManyRequests, now, 7);
  EXPECT_EQ(binder.next_deadline(), now + seconds{7}) << "Retry-After";
  now += seconds{7};
  binder.run(now);
  api.accept(2, now);
  EXPECT_EQ(told, std::vector<std::string>{"p->n1"});
}

TEST_F(BinderTest, GivesUpOnAServerThatKeepsFailing) {
  commit("p", "n1");
  for (std::size_t call = 0; call < 4; ++call) {
    api.refuse(call, Reason::InternalError, now);
    now += seconds{10};
    binder.run(now);
  }
  EXPECT_EQ(api.sent.size(), 4U);
  EXPECT_EQ(told, std::vector<std::string>{"p->n1: no: InternalError"});
}

TEST_F(BinderTest, IsSilentAboutCancelledPods) {
  commit("sent", "n");
  commit("retried", "n");
  commit("unsent", "n");
  api.refuse(1, Reason::ServiceUnavailable, now);
  for (const char* uid : {"uid-sent", "uid-retried", "uid-unsent"}) binder.cancel(uid);
  api.accept(0, now);
  now += seconds{1};
  binder.run(now);
  EXPECT_TRUE(told.empty());
  EXPECT_FALSE(binder.next_deadline());
  EXPECT_FALSE(binder.full());
}

TEST_F(BinderTest, FailsWhatWasNotSentWhenTheNodeVanishes) {
  commit("sent", "n");
  commit("other", "m");
  commit("unsent", "n");
  binder.node_vanished("n", now);
  EXPECT_EQ(told, std::vector<std::string>{
                      "unsent->n: node \"n\" was deleted before the pod was bound to it"});
  api.accept(0, now);
  EXPECT_EQ(api.sent.size(), 2U);
  EXPECT_EQ(told.back(), "sent->n");
}

// A binding whose answer was lost: the watch shows it, and the second try conflicts.
TEST_F(BinderTest, BelievesTheWatchMoreThanTheAnswer) {
  commit("p", "n1");
  binder.confirm("uid-p", "n1", now);
  EXPECT_TRUE(told.empty());
  api.refuse(0, Reason::Conflict, now);
  EXPECT_EQ(told, std::vector<std::string>{"p->n1"});

  commit("q", "n1");
  api.refuse(1, Reason::Timeout, now);
  binder.confirm("uid-q", "n1", now);
  EXPECT_EQ(told.back(), "q->n1");
  EXPECT_FALSE(binder.next_deadline());

  commit("r", "n1");
  binder.confirm("uid-r", "elsewhere", now);
  api.refuse(2, Reason::Conflict, now);
  EXPECT_EQ(told.size(), 2U) << "somebody else bound it; there is nothing to tell";
}

TEST(RetryDelay, GrowsFivefoldUpToTenSeconds) {
  const Error busy = make_error(Reason::TooManyRequests, "busy");
  std::vector<Duration> delays;
  for (int tries = 1; tries <= 10; ++tries)
    if (const auto delay = client::retry_delay(busy, tries, {})) delays.push_back(*delay);
  ASSERT_EQ(delays.size(), 9U);
  EXPECT_EQ(delays[0], milliseconds{10});
  EXPECT_EQ(delays[1], milliseconds{50});
  EXPECT_EQ(delays[8], seconds{10});
}

TEST(RetryDelay, IsNotShorterThanTheServerAsksFor) {
  Error busy = make_error(Reason::TooManyRequests, "busy");
  busy.retry_after_s = 3;
  EXPECT_EQ(client::retry_delay(busy, 1, {}), seconds{3});
}

}  // namespace
}  // namespace muster::scheduler
