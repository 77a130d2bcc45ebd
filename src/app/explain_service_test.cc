#include "app/explain_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include "api/kinds/kind.h"
#include "scheduler/framework/profile.h"
#include "scheduler/plugins/default_profile.h"
#include "server/core/testing/core_fixture.h"

namespace muster::app {
namespace {

class ManualClock final : public Clock {
 public:
  Time now() const override { return Time(std::chrono::hours{24}) + passed; }
  Duration passed{};
};

class ExplainServiceTest : public server::CoreTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        create(api::kinds::node(), "",
               R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":"9"}}})"));
    make_gang("default", "train", 8);
  }
  void make_gang(const std::string& name_space, const std::string& name, int cpus) {
    ASSERT_TRUE(create(api::kinds::pod_group(), name_space,
                       R"({"metadata":{"name":")" + name +
                           R"("},"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}})"));
    ASSERT_TRUE(create(
        api::kinds::pod(), name_space,
        R"({"metadata":{"name":")" + name + R"(-0"},"spec":{"schedulingGroup":{"podGroupName":")" +
            name +
            R"("},"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
            std::to_string(cpus) + R"("}}}]}})"));
  }
  static api::Request question(const std::string& name, const std::string& user = "ann",
                               const std::string& body = "{}") {
    api::Request request;
    request.body = api::parse_json(body)->value;
    request.verb = api::Verb::Create;
    request.kind = &api::kinds::pod_group();
    request.version = "v1beta1";
    request.name_space = "default";
    request.name = name;
    request.subresource = "explanation";
    request.user = {.name = user, .groups = {}};
    EXPECT_TRUE(ExplainService::handles(request));
    return request;
  }
  Result<api::Answer> ask(const std::string& name, const std::string& user = "ann",
                          const std::string& body = "{}") {
    api::Request request = question(name, user, body);
    std::promise<Result<api::Answer>> answer;
    server::Reply reply = [&](Result<api::Answer> got) { answer.set_value(std::move(got)); };
    service_.post(request, reply);
    return answer.get_future().get();
  }
  static std::string text_of(const Result<api::Answer>& answer) {
    EXPECT_TRUE(answer.has_value());
    const api::Json& document = std::get<api::DocumentAnswer>(answer->what).document;
    return std::string(api::find_string(*api::find(document, "status"), "text"));
  }

  ManualClock clock_;
  std::atomic<bool> stop_when_asked_{false};  // whether somebody may read something
  ExplainService service_{*store_,
                          clock_,
                          {.profiles = scheduler::default_profile()},
                          [this](const api::User& user, std::string_view name_space) {
                            if (stop_when_asked_) service_.close();
                            return user.name == "root" || name_space == "default";
                          }};
};

TEST_F(ExplainServiceTest, SaysWhyAGroupWaits) {
  EXPECT_TRUE(text_of(ask("train")).starts_with("PodGroup default/train is unschedulable: "));
}

TEST_F(ExplainServiceTest, ExplainsAllGroupsOfTheirOwnerToWhoMayHaveOneExplained) {
  const auto of_job = [](const std::string& name) {
    return R"({"metadata":{"name":")" + name +
           R"(","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u","controller":true}]},)"
           R"("spec":{"schedulingPolicy":{"gang":{"minCount":1}}}})";
  };
  ASSERT_TRUE(create(api::kinds::pod_group(), "default", of_job("one")));
  ASSERT_TRUE(create(api::kinds::pod_group(), "default", of_job("two")));
  const std::string owner = R"({"spec":{"owner":{"apiGroup":"batch","kind":"Job","name":"j"}}})";
  const std::string text = text_of(ask("one", "ann", owner));
  EXPECT_TRUE(text.starts_with("Job default/j: 0 of 2 groups are scheduled. ")) << text;
  EXPECT_NE(text.find("podgroup/two"), std::string::npos) << text;
  const auto others = ask("train", "ann", owner);
  ASSERT_FALSE(others.has_value());
  EXPECT_EQ(others.error().message, "PodGroup train is not one of the topmost groups of Job j");
}

TEST_F(ExplainServiceTest, WhatIsNotThereIsNotFound) {
  const auto answer = ask("nobody");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().reason, Reason::NotFound);
}

TEST_F(ExplainServiceTest, OthersAreNamedOnlyToThoseWhoMayReadThem) {
  ASSERT_TRUE(create(api::kinds::name_space(), "", R"({"metadata":{"name":"apart"}})"));
  make_gang("apart", "hidden", 4);
  make_gang("default", "small", 4);
  // Both fit alone; the names decide who comes first, shown or not.
  const std::string to_all = text_of(ask("small", "root"));
  const std::string to_ann = text_of(ask("small"));
  EXPECT_NE(to_all.find("podgroup apart/hidden comes first"), std::string::npos) << to_all;
  EXPECT_EQ(to_ann.find("hidden"), std::string::npos) << to_ann;
  EXPECT_NE(to_ann.find("a group in another namespace comes first"), std::string::npos) << to_ann;
}

// Sixteen questions of some seconds each are longer than anybody waits for a server to stop.
TEST_F(ExplainServiceTest, WhatWaitsWhenItStopsIsRefused) {
  std::promise<void> at_first;
  std::promise<void> go_on;
  api::Request first = question("train");
  server::Reply hold = [&](const Result<api::Answer>& answer) {
    EXPECT_TRUE(answer.has_value());
    at_first.set_value();
    go_on.get_future().wait();
  };
  service_.post(first, hold);
  at_first.get_future().wait();
  std::promise<Result<api::Answer>> answer;
  api::Request second = question("train");
  server::Reply reply = [&](Result<api::Answer> got) { answer.set_value(std::move(got)); };
  service_.post(second, reply);
  service_.close();
  go_on.set_value();
  const Result<api::Answer> refused = answer.get_future().get();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(ask("train").error().reason, Reason::TooManyRequests) << "nobody is there any more";
}

// The order to stop comes in the middle: when it asks whether the user may read of the other gang.
TEST_F(ExplainServiceTest, WhatItIsAtWhenItStopsIsRefused) {
  ASSERT_TRUE(create(api::kinds::name_space(), "", R"({"metadata":{"name":"apart"}})"));
  make_gang("apart", "hidden", 4);
  make_gang("default", "small", 4);
  stop_when_asked_ = true;
  const auto refused = ask("small");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(refused.error().message, "the server is stopping");
}

TEST_F(ExplainServiceTest, AUserHasABurstAndThenOneTurnASecond) {
  for (int i = 0; i < ExplainService::kBurst; ++i) EXPECT_TRUE(ask("train").has_value());
  const auto refused = ask("train");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::TooManyRequests);
  EXPECT_TRUE(ask("train", "bob").has_value()) << "others have their own turns";
  clock_.passed += ExplainService::kRefill;
  EXPECT_TRUE(ask("train").has_value());
}

}  // namespace
}  // namespace muster::app
