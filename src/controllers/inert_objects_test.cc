#include "controllers/inert_objects.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class InertObjectsTest : public testing::Test {
 protected:
  static constexpr std::string_view kProbed =
      R"("spec":{"containers":[{"name":"c"},{"name":"d","readinessProbe":{"periodSeconds":5}}]})";

  void start(api::Absent absent = {}) {
    controller_ = std::make_unique<InertObjects>(std::move(absent), sent_.context());
  }
  api::ObjectPtr made(const api::Kind& kind, std::string_view name_space, std::string_view name,
                      std::string_view rest, std::string_view owners = "[]") const {
    return object(kind,
                  fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"{}-{}",
        "creationTimestamp":"{}","ownerReferences":{}}},{}}})",
                              name, name_space, name_space, name, format_time(now_), owners, rest));
  }
  static const api::Kind& kind(std::string_view group, std::string_view name) {
    return *api::find_kind(group, name);
  }
  void see(const api::ObjectPtr& object, Type type = Type::Added) {
    controller_->apply(client::Event{type, object}, now_);
  }
  // "object: message" of each event since the last call.
  Texts events() {
    controller_->apply(client::Synced{}, now_);
    controller_->run_once(now_, 100);
    Texts out;
    for (; shown_ < sent_.requests.size(); ++shown_) {
      const auto& [request, ticket] = sent_.requests[shown_];
      EXPECT_EQ(api::find_string(request.body, "type"), "Warning");
      EXPECT_EQ(api::find_string(request.body, "reason"), InertObjects::kReason);
      out.push_back(fmt::format("{}: {}",
                                api::find_string(request.body.at("involvedObject"), "name"),
                                api::find_string(request.body, "message")));
      answered_.push_back(ticket);
    }
    for (const std::uint64_t ticket : std::exchange(answered_, {}))
      controller_->apply(client::Called{ticket, api::Answer{}}, now_);
    return out;
  }

  Sent sent_;
  std::unique_ptr<InertObjects> controller_;
  std::vector<std::uint64_t> answered_;
  std::size_t shown_ = 0;
  Time now_ = Time{} + std::chrono::hours{1000};
};

TEST_F(InertObjectsTest, AnObjectHasOneEventHoweverOftenItChanges) {
  start();
  const api::ObjectPtr service = made(kind("", "Service"), "a", "web", R"("spec":{})");
  see(service);
  see(service, Type::Modified);
  EXPECT_EQ(events(), Texts{"web: Service is stored, but nothing in this control plane acts on it: "
                            "no traffic is routed by it"});
  now_ += seconds{5};
  see(service, Type::Modified);
  EXPECT_EQ(events(), Texts{});
}

TEST_F(InertObjectsTest, AFieldIsNamedWithItsPlace) {
  start();
  see(made(api::kinds::pod(), "a", "p", kProbed));
  EXPECT_EQ(events(),
            Texts{"p: spec.containers[1].readinessProbe is stored, but nothing in this control "
                  "plane acts on it: pretend nodes run no probes, and a pod is ready as soon as it "
                  "runs"});
  see(made(api::kinds::pod(), "a", "plain", R"("spec":{"containers":[{"name":"c"}]})"));
  EXPECT_EQ(events(), Texts{});
}

TEST_F(InertObjectsTest, WhatAControllerMadeIsItsOwnersMatter) {
  start();
  see(made(api::kinds::pod(), "a", "p", kProbed,
           R"([{"kind":"ReplicaSet","name":"r","uid":"u","controller":true}])"));
  EXPECT_EQ(events(), Texts{});
}

TEST_F(InertObjectsTest, OldObjectsAreOldNews) {
  start();
  const api::ObjectPtr old = made(kind("", "Service"), "a", "web", R"("spec":{})");
  now_ += minutes{2};
  see(old);
  EXPECT_EQ(events(), Texts{});
}

TEST_F(InertObjectsTest, OldObjectsAreNewsIfTheirControllerIsSwitchedOff) {
  start({"job"});
  const api::ObjectPtr job = made(kind("batch", "Job"), "a", "train", R"("spec":{})");
  const api::ObjectPtr service = made(kind("", "Service"), "a", "web", R"("spec":{})");
  now_ += minutes{2};
  see(job);
  see(service);
  EXPECT_EQ(events(), Texts{"train: Job is stored, but job is switched off, and nothing else acts "
                            "on it: no pods are created for it"});
}

TEST_F(InertObjectsTest, ManyObjectsMakeFewEvents) {
  start();
  for (int i = 0; i < 100'000; ++i)
    see(made(kind("", "Service"), "flood", fmt::format("s{}", i), R"("spec":{})"));
  EXPECT_EQ(events().size(), static_cast<std::size_t>(InertObjects::kRatePerKind.burst));
  see(made(kind("", "Service"), "calm", "web", R"("spec":{})"));
  EXPECT_EQ(events().size(), 1U) << "others still hear";
  now_ += InertObjects::kRatePerKind.refill;
  for (int i = 0; i < 10; ++i)
    see(made(kind("", "Service"), "flood", fmt::format("t{}", i), R"("spec":{})"));
  EXPECT_EQ(events().size(), 1U);
}

TEST_F(InertObjectsTest, ManyNamespacesMakeFewEvents) {
  start();
  std::size_t count = 0;
  for (int i = 0; i < 10'000; ++i) {
    see(made(kind("", "Service"), fmt::format("n{}", i), "web", R"("spec":{})"));
    if (i % 100 == 0) count += events().size();
  }
  count += events().size();
  EXPECT_EQ(count, static_cast<std::size_t>(InertObjects::kRate.burst));
}

}  // namespace
}  // namespace muster::controllers
