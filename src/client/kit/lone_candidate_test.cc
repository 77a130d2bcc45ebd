#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/kit/leader_election.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One election and the lease as the test has it, answered call by call.
class LoneCandidateTest : public testing::Test {
 protected:
  // "get", "create", "update" of what it asks next, or "".
  std::string asks() {
    sent_.reset();
    election_.run_once(now_, 1);
    return verb();
  }
  std::string verb() const {
    if (!sent_) return "";
    return sent_->verb == api::Verb::Get      ? "get"
           : sent_->verb == api::Verb::Create ? "create"
           : sent_->verb == api::Verb::Update ? "update"
                                              : "other";
  }
  // Answers, and says what it asks at once.
  std::string refuse(Reason reason) {
    sent_.reset();
    election_.apply(Called{ticket_, fail(reason, "no")}, now_);
    return verb();
  }
  std::string show(std::string_view holder, int revision, int transitions = 3) {
    const auto lease = api::Object::make(
        api::kinds::lease(),
        api::parse_json(
            fmt::format(R"({{"metadata":{{"name":"scheduler","namespace":"kube-system","uid":"u",)"
                        R"("labels":{{"team":"a"}}}},"spec":{{"holderIdentity":"{}",)"
                        R"("leaseDurationSeconds":20,"leaseTransitions":{}}}}})",
                        holder, transitions))
            ->value);
    lease->assign_revision({revision});
    sent_.reset();
    election_.apply(Called{ticket_, api::Answer{api::ObjectAnswer{lease, {revision}, false}, {}}},
                    now_);
    return verb();
  }
  std::string spec() const { return api::to_text(sent_->body.at("spec")); }
  void lead() {
    ASSERT_EQ(asks(), "get");
    ASSERT_EQ(show("", 5), "update");
    ASSERT_EQ(show("me", 6), "");
    ASSERT_TRUE(leadership_->leads(now_));
  }

  Time now_{seconds{1'000'000'000}};
  std::optional<api::Request> sent_;
  std::uint64_t ticket_ = 0;
  SeededEntropy entropy_{1};
  std::shared_ptr<Leadership> leadership_ = std::make_shared<Leadership>();
  int times_led_ = 0;
  LeaderElection election_{
      {.name = "scheduler", .identity = "me", .lease_duration = milliseconds{14'500}},
      {.send =
           [this](api::Request request, std::uint64_t ticket) {
             sent_ = std::move(request);
             ticket_ = ticket;
           }},
      entropy_,
      leadership_,
      [this] { ++times_led_; }};
};

TEST_F(LoneCandidateTest, MakesTheLeaseIfThereIsNone) {
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(sent_->kind, &api::kinds::lease());
  EXPECT_EQ(sent_->name_space + "/" + sent_->name, "kube-system/scheduler");
  EXPECT_EQ(asks(), "") << "it waits for the answer";
  EXPECT_EQ(refuse(Reason::NotFound), "create");
  EXPECT_EQ(api::to_text(sent_->body),
            R"({"metadata":{"name":"scheduler"},"spec":{"holderIdentity":"me",)"
            R"("leaseDurationSeconds":15,"acquireTime":"2001-09-09T01:46:40.000000Z",)"
            R"("renewTime":"2001-09-09T01:46:40.000000Z","leaseTransitions":0}})");
  EXPECT_EQ(sent_->name_space, "kube-system");
  EXPECT_FALSE(leadership_->leads(now_));
  show("me", 1);
  EXPECT_TRUE(leadership_->leads(now_));
  EXPECT_EQ(times_led_, 1);
}

TEST_F(LoneCandidateTest, TakesALeaseThatNobodyHoldsAndKeepsWhatOthersWroteOnIt) {
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("", 5), "update");
  EXPECT_EQ(api::to_text(sent_->body.at("metadata")),
            R"({"name":"scheduler","namespace":"kube-system","uid":"u","labels":{"team":"a"},)"
            R"("resourceVersion":"5"})");
  EXPECT_EQ(spec(), R"({"holderIdentity":"me","leaseDurationSeconds":15,"leaseTransitions":4,)"
                    R"("acquireTime":"2001-09-09T01:46:40.000000Z",)"
                    R"("renewTime":"2001-09-09T01:46:40.000000Z"})");
}

TEST_F(LoneCandidateTest, ItsOwnLeaseOfAnEarlierLifeIsNoTransition) {
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("me", 5), "update");
  EXPECT_EQ(sent_->body.at("spec").at("leaseTransitions").as_int64(), 3);
}

TEST_F(LoneCandidateTest, TakesALeaseThatHasNotChangedForItsDuration) {
  const Time start = now_;
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 5), "");
  now_ = start + seconds{12};
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 6), "") << "it was renewed";
  now_ = start + seconds{12 + 20} - milliseconds{1};
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 6), "");
  now_ += seconds{5};
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 6), "update");
  EXPECT_EQ(sent_->body.at("spec").at("leaseTransitions").as_int64(), 4);
}

TEST_F(LoneCandidateTest, TakesItAtTheEndOfItsDuration) {
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 5), "");
  now_ += seconds{20};
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 5), "update");
}

TEST_F(LoneCandidateTest, LooksAgainAfterOneTo2Point2RetryPeriods) {
  std::vector<Duration> pauses;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(asks(), "get");
    EXPECT_EQ(election_.next_deadline(), std::nullopt) << "it waits for the answer";
    EXPECT_EQ(i % 2 == 0 ? refuse(Reason::ServiceUnavailable) : show("other", 100 + i), "");
    const Time next = *election_.next_deadline();
    pauses.push_back(next - now_);
    now_ = next - Duration{1};
    EXPECT_EQ(asks(), "") << "not before its time";
    now_ = next;
  }
  const auto [least, most] = std::ranges::minmax(pauses);
  EXPECT_GE(least, seconds{2});
  EXPECT_LT(least, milliseconds{2500});
  EXPECT_GT(most, milliseconds{3900});
  EXPECT_LT(most, milliseconds{4400});
}

TEST_F(LoneCandidateTest, WhoLostTheRaceLooksAgainLater) {
  for (const Reason reason : {Reason::Conflict, Reason::NotFound, Reason::AlreadyExists}) {
    EXPECT_EQ(asks(), "get");
    EXPECT_EQ(show("", 5), "update");
    EXPECT_EQ(refuse(reason), "");
    EXPECT_GE(*election_.next_deadline(), now_ + seconds{2});
    EXPECT_FALSE(leadership_->ended());
    now_ = *election_.next_deadline();
  }
}

TEST_F(LoneCandidateTest, ALeaderRenewsEveryRetryPeriod) {
  lead();
  EXPECT_EQ(election_.next_deadline(), now_ + seconds{2});
  now_ += seconds{2};
  EXPECT_EQ(asks(), "update");
  EXPECT_EQ(sent_->body.at("spec").at("renewTime").as_string(), "2001-09-09T01:46:42.000000Z");
  EXPECT_EQ(api::find_string(sent_->body.at("metadata"), "resourceVersion"), "6");
  EXPECT_EQ(election_.next_deadline(), now_ + seconds{8}) << "then it has to end";
  EXPECT_EQ(refuse(Reason::ServiceUnavailable), "");
  EXPECT_EQ(election_.next_deadline(), now_ + seconds{2});
  now_ += seconds{2};
  EXPECT_EQ(asks(), "update");
  show("me", 7);
  EXPECT_EQ(election_.next_deadline(), now_ + seconds{2});
  EXPECT_EQ(times_led_, 1);
}

TEST_F(LoneCandidateTest, ALeaderThatFindsAnotherNameOrNothingEnds) {
  lead();
  now_ += seconds{2};
  EXPECT_EQ(asks(), "update");
  EXPECT_EQ(refuse(Reason::Conflict), "get");
  EXPECT_EQ(show("me", 9), "update") << "somebody wrote something else on it";
  EXPECT_EQ(refuse(Reason::NotFound), "get");
  EXPECT_EQ(refuse(Reason::NotFound), "") << "it was deleted, so somebody else may have made one";
  EXPECT_TRUE(leadership_->ended());
  EXPECT_FALSE(leadership_->leads(now_));
  EXPECT_EQ(asks(), "");
}

TEST_F(LoneCandidateTest, ALeaderThatWasReplacedEnds) {
  lead();
  now_ += seconds{2};
  EXPECT_EQ(asks(), "update");
  EXPECT_EQ(refuse(Reason::Conflict), "get");
  EXPECT_EQ(show("other", 9), "");
  EXPECT_TRUE(leadership_->ended());
  EXPECT_FALSE(leadership_->leads(now_));
}

TEST_F(LoneCandidateTest, EndsAtTheRenewDeadlineAndNotBefore) {
  lead();
  const Time start = now_;
  now_ += seconds{2};
  EXPECT_EQ(asks(), "update");
  now_ = start + seconds{10} - Duration{1};
  EXPECT_EQ(asks(), "");
  EXPECT_TRUE(leadership_->leads(now_));
  EXPECT_FALSE(leadership_->ended());
  now_ += Duration{1};
  EXPECT_EQ(asks(), "");
  EXPECT_TRUE(leadership_->ended());
  EXPECT_EQ(show("me", 7), "");
  EXPECT_FALSE(leadership_->leads(now_)) << "the answer came too late";
}

TEST_F(LoneCandidateTest, AHandOverLeavesAnEmptyNameForASecond) {
  lead();
  leadership_->give_up();
  EXPECT_EQ(asks(), "update");
  EXPECT_FALSE(leadership_->leads(now_)) << "from now on";
  EXPECT_EQ(sent_->body.at("spec").at("holderIdentity").as_string(), "");
  EXPECT_EQ(sent_->body.at("spec").at("leaseDurationSeconds").as_int64(), 1);
  EXPECT_FALSE(leadership_->ended());
  EXPECT_EQ(refuse(Reason::Conflict), "get");
  EXPECT_EQ(show("me", 8), "update") << "again";
  EXPECT_EQ(sent_->body.at("spec").at("holderIdentity").as_string(), "");
  EXPECT_EQ(refuse(Reason::Forbidden), "");
  EXPECT_TRUE(leadership_->ended()) << "the others wait for the end of the lease";
}

TEST_F(LoneCandidateTest, ALeaseThatSaysNothingIsFilledIn) {
  EXPECT_EQ(asks(), "get");
  const auto lease =
      api::Object::make(api::kinds::lease(),
                        api::parse_json(R"({"metadata":{"name":"scheduler","uid":"u"}})")->value);
  lease->assign_revision({5});
  sent_.reset();
  election_.apply(Called{ticket_, api::Answer{api::ObjectAnswer{lease, {5}, false}, {}}}, now_);
  ASSERT_EQ(verb(), "update");
  EXPECT_EQ(sent_->body.at("spec").at("holderIdentity").as_string(), "me");
  EXPECT_EQ(sent_->body.at("spec").at("leaseTransitions").as_int64(), 1);
}

TEST_F(LoneCandidateTest, AnotherLeaseOfTheSameNameAndRevisionIsANewOne) {
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("other", 5), "");
  now_ += seconds{20};
  EXPECT_EQ(asks(), "get");
  const auto lease = api::Object::make(
      api::kinds::lease(),
      api::parse_json(R"({"metadata":{"name":"scheduler","uid":"v"},)"
                      R"("spec":{"holderIdentity":"other","leaseDurationSeconds":20}})")
          ->value);
  lease->assign_revision({5});
  sent_.reset();
  election_.apply(Called{ticket_, api::Answer{api::ObjectAnswer{lease, {5}, false}, {}}}, now_);
  EXPECT_EQ(verb(), "") << "it was made just now";
}

TEST_F(LoneCandidateTest, WhoIsTakingALeaseAsksNothingElseMeanwhile) {
  EXPECT_EQ(asks(), "get");
  EXPECT_EQ(show("", 5), "update");
  now_ += seconds{60};
  EXPECT_EQ(asks(), "");
  EXPECT_EQ(election_.next_deadline(), std::nullopt);
}

}  // namespace
}  // namespace muster::client
