#include "client/kit/leader_election.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A server that holds one Lease and knows updates with a revision.
class LeaseServer {
 public:
  Outcome handle(const api::Request& request) {
    if (away) return fail(Reason::ServiceUnavailable, "away");
    if (request.verb == api::Verb::Get)
      return lease_ ? Outcome(answer()) : fail(Reason::NotFound, "no lease");
    if (request.verb == api::Verb::Create) {
      if (lease_) return fail(Reason::AlreadyExists, "there is one");
      store(request.body.as_object());
      return answer();
    }
    if (request.verb != api::Verb::Update) return fail(Reason::Forbidden, "not allowed");
    if (!lease_) return fail(Reason::NotFound, "no lease");
    const api::Json& metadata = request.body.at("metadata");
    if (api::find_string(metadata, "resourceVersion") != std::to_string(revision_))
      return fail(Reason::Conflict, "changed");
    store(request.body.as_object());
    return answer();
  }
  // Somebody puts a label on it.
  void touch() {
    api::JsonObject next = lease_->document().as_object();
    next["metadata"].as_object()["labels"] = api::JsonObject{{"team", "a"}};
    store(next);
  }
  std::string holder() const {
    return std::string(api::find_string(lease_->document().at("spec"), "holderIdentity"));
  }
  std::int64_t transitions() const {
    return lease_->document().at("spec").at("leaseTransitions").as_int64();
  }
  std::size_t labels() const { return lease_->meta().labels.size(); }

  bool away = false;

 private:
  void store(const api::JsonObject& document) {
    api::JsonObject next = document;
    next["metadata"].as_object()["uid"] = "u1";
    const auto object = api::Object::make(api::kinds::lease(), next);
    object->assign_revision({++revision_});
    lease_ = object;
  }
  api::Answer answer() const {
    return {.what = api::ObjectAnswer{lease_, {revision_}, false}, .warnings = {}};
  }

  api::ObjectPtr lease_;
  std::int64_t revision_ = 0;
};

// One process that wants to lead.
struct Candidate {
  Candidate(std::string name, LeaseServer& server_given, std::uint64_t seed)
      : server(server_given),
        entropy(seed),
        election({.name = "scheduler", .identity = std::move(name)},
                 {.send =
                      [this](api::Request request, std::uint64_t ticket) {
                        calls.push_back({std::move(request), ticket});
                      }},
                 entropy, leadership, [this] { ++times_led; }) {}

  void step(Time now) {
    if (frozen) return;
    while (!calls.empty()) {
      const auto [request, ticket] = std::move(calls.front());
      calls.pop_front();
      election.apply(Called{ticket, server.handle(request)}, now);
    }
    election.run_once(now, 1);
  }
  bool leads(Time now) const { return leadership->leads(now); }

  struct Sent {
    api::Request request;
    std::uint64_t ticket;
  };
  LeaseServer& server;
  SeededEntropy entropy;
  std::shared_ptr<Leadership> leadership = std::make_shared<Leadership>();
  std::deque<Sent> calls;
  int times_led = 0;
  bool frozen = false;  // stopped by a debugger, a page fault, a full machine
  LeaderElection election;
};

class LeaderElectionTest : public testing::Test {
 protected:
  // Steps both in small turns. At no time may two lead.
  void pass(Duration time) {
    for (const Time end = now_ + time; now_ < end; now_ += milliseconds{100}) {
      a_.step(now_);
      b_.step(now_);
      ASSERT_FALSE(a_.leads(now_) && b_.leads(now_));
    }
  }

  Time now_ = Time{} + std::chrono::hours{1};
  LeaseServer server_;
  Candidate a_{"a", server_, 1};
  Candidate b_{"b", server_, 2};
};

TEST_F(LeaderElectionTest, OneLeadsAndStaysSo) {
  pass(std::chrono::minutes{10});
  EXPECT_NE(a_.leads(now_), b_.leads(now_));
  EXPECT_EQ(a_.times_led + b_.times_led, 1);
  EXPECT_EQ(server_.transitions(), 0);
}

TEST_F(LeaderElectionTest, AHandOverTakesOneRetryNotALease) {
  pass(seconds{5});
  ASSERT_TRUE(a_.leads(now_));
  a_.leadership->give_up();
  pass(seconds{5});
  EXPECT_TRUE(a_.leadership->ended());
  EXPECT_TRUE(b_.leads(now_));
  EXPECT_EQ(server_.holder(), "b");
  EXPECT_EQ(server_.transitions(), 1);
}

TEST_F(LeaderElectionTest, OneThatDiesIsFollowedAfterItsLease) {
  pass(seconds{5});
  a_.frozen = true;
  pass(seconds{12});
  EXPECT_FALSE(a_.leads(now_)) << "a frozen process knows by its clock alone";
  EXPECT_FALSE(b_.leads(now_));
  pass(seconds{10});
  EXPECT_TRUE(b_.leads(now_));
  a_.frozen = false;
  pass(seconds{5});
  EXPECT_TRUE(a_.leadership->ended());
  EXPECT_TRUE(b_.leads(now_));
}

TEST_F(LeaderElectionTest, AServerThatIsAwayForSecondsChangesNothing) {
  pass(seconds{5});
  server_.away = true;
  pass(seconds{7});
  EXPECT_TRUE(a_.leads(now_));
  server_.away = false;
  pass(seconds{5});
  EXPECT_TRUE(a_.leads(now_));
}

TEST_F(LeaderElectionTest, AServerThatIsAwayForLongEndsIt) {
  pass(seconds{5});
  server_.away = true;
  pass(seconds{11});
  EXPECT_FALSE(a_.leads(now_));
  EXPECT_TRUE(a_.leadership->ended());
  server_.away = false;
  pass(seconds{20});
  EXPECT_TRUE(b_.leads(now_));
}

// The lease began when the server had the renewal, not when we heard of it.
TEST_F(LeaderElectionTest, ARenewalCountsFromWhenItWasSent) {
  pass(seconds{5});
  ASSERT_TRUE(a_.leads(now_));
  while (!a_.calls.empty()) a_.step(now_);
  while (a_.calls.empty()) a_.step(now_ += milliseconds{100});
  const Time end = now_ + seconds{10};
  now_ += seconds{7};
  a_.step(now_);
  EXPECT_TRUE(a_.leads(end - milliseconds{1}));
  EXPECT_FALSE(a_.leads(end));
}

TEST_F(LeaderElectionTest, WhatOthersWroteOnTheLeaseStays) {
  pass(seconds{5});
  server_.touch();
  pass(seconds{30});
  EXPECT_TRUE(a_.leads(now_));
  EXPECT_EQ(server_.labels(), 1U);
}

TEST_F(LeaderElectionTest, AHandOverSurvivesThatSomebodyWroteTheLease) {
  pass(seconds{5});
  server_.touch();
  a_.leadership->give_up();
  pass(seconds{5});
  EXPECT_TRUE(a_.leadership->ended());
  EXPECT_TRUE(b_.leads(now_));
  EXPECT_EQ(server_.labels(), 1U);
}

TEST_F(LeaderElectionTest, OneThatNeverLedEndsAtOnceWhenAsked) {
  pass(seconds{5});
  b_.leadership->give_up();
  pass(seconds{5});
  EXPECT_TRUE(b_.leadership->ended());
  EXPECT_TRUE(a_.leads(now_));
}

TEST_F(LeaderElectionTest, OneThatIsTooLateForARenewalIsNotHeardAnyMore) {
  pass(seconds{5});
  ASSERT_TRUE(a_.leads(now_));
  EXPECT_FALSE(a_.leadership->is_overdue(now_ + seconds{9}, seconds{5}));
  EXPECT_TRUE(a_.leadership->is_overdue(now_ + seconds{15}, seconds{5}));
  EXPECT_FALSE(b_.leadership->is_overdue(now_ + seconds{60}, seconds{5})) << "it never led";
  now_ += seconds{15};
  a_.step(now_);
  EXPECT_TRUE(a_.leadership->ended());
  EXPECT_FALSE(a_.leadership->is_overdue(now_, seconds{5})) << "it has ended, as it should";
  EXPECT_EQ(a_.election.next_deadline(), std::nullopt);
}

}  // namespace
}  // namespace muster::client
