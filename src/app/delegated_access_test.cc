#include "app/delegated_access.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::app {
namespace {

using Access = DelegatedAccess::Access;

struct ManualClock final : Clock {
  Time now() const override { return time; }
  Time time;
};

// An API server whose answers the test gives.
class FakeServer final : public client::Client {
 public:
  void send(api::Request request, client::Done done) override {
    sent.emplace_back(std::move(request), std::move(done));
  }
  std::unique_ptr<client::Feed> watch(const api::Kind&, std::function<void()>) override {
    return nullptr;
  }
  void answer(const std::string& status) {
    api::Json document = api::JsonObject{{"status", api::parse_json(status).value().value}};
    const client::Done done = std::move(sent.front().second);
    sent.erase(sent.begin());
    done(api::Answer{.what = api::DocumentAnswer{std::move(document), 201}, .warnings = {}});
  }
  std::string asked() const {
    if (sent.empty()) return "nothing";
    const api::Request& request = sent.front().first;
    return request.kind->kind + " " + api::to_text(*api::find(request.body, "spec"));
  }

  std::vector<std::pair<api::Request, client::Done>> sent;
};

class DelegatedAccessTest : public ::testing::Test {
 protected:
  void ask(const std::string& bearer) {
    said_.reset();
    access_.check(bearer, "/metrics", [this](const DelegatedAccess::Answer& answer) {
      said_ = answer.access;
      text_ = answer.text;
    });
  }

  ManualClock clock_;
  FakeServer server_;
  DelegatedAccess access_{server_, clock_};
  std::optional<Access> said_;
  std::string text_;
};

constexpr const char* kPrometheus =
    R"({"authenticated":true,"user":{"username":"prometheus","uid":"7","groups":["a","b"]}})";

TEST_F(DelegatedAccessTest, AsksWhoItIsAndThenWhatTheyMay) {
  ask("secret");
  EXPECT_EQ(server_.asked(), R"(TokenReview {"token":"secret"})");
  server_.answer(kPrometheus);
  EXPECT_EQ(server_.asked(),
            R"(SubjectAccessReview {"user":"prometheus","groups":["a","b"],)"
            R"("nonResourceAttributes":{"path":"/metrics","verb":"get"},"uid":"7"})");
  server_.answer(R"({"allowed":true})");
  EXPECT_EQ(said_, Access::Allowed);
}

TEST_F(DelegatedAccessTest, WhatWasSaidHoldsForAMoment) {
  ask("secret");
  server_.answer(kPrometheus);
  server_.answer(R"({"allowed":true})");
  ask("secret");
  EXPECT_EQ(said_, Access::Allowed);
  EXPECT_EQ(server_.asked(), "nothing");
  clock_.time += DelegatedAccess::kCachedFor;
  ask("secret");
  EXPECT_EQ(server_.asked(), R"(TokenReview {"token":"secret"})");
  server_.answer(R"({"authenticated":false})");
  EXPECT_EQ(said_, Access::Unauthorized);
  ask("secret");
  EXPECT_EQ(said_, Access::Unauthorized);
  EXPECT_EQ(server_.asked(), "nothing");
}

TEST_F(DelegatedAccessTest, WithoutATokenSomebodyAnonymousAsks) {
  ask("");
  EXPECT_EQ(server_.asked(),
            R"(SubjectAccessReview {"user":"system:anonymous","groups":["system:unauthenticated"],)"
            R"("nonResourceAttributes":{"path":"/metrics","verb":"get"}})");
  server_.answer(R"({"allowed":false})");
  EXPECT_EQ(said_, Access::Forbidden);
  EXPECT_EQ(text_, "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"\n");
}

TEST_F(DelegatedAccessTest, AnAnswerThatDidNotComeIsNotKept) {
  ask("secret");
  server_.sent.front().second(fail(Reason::ServiceUnavailable, "away"));
  server_.sent.clear();
  EXPECT_EQ(said_, Access::Unknown);
  EXPECT_EQ(text_, "the API server does not say who may read this: away\n");
  ask("secret");
  EXPECT_EQ(server_.asked(), R"(TokenReview {"token":"secret"})");
}

}  // namespace
}  // namespace muster::app
