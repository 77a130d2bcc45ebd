#include "controllers/replicaset/replica_set_status.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "controllers/common/owners.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;
const Time kNow{seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

api::ObjectPtr make(const api::Kind& kind, std::string_view text) {
  auto json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  auto object = api::Object::make(kind, json->value);
  object->assign_revision({7});
  return object;
}

api::ObjectPtr set(std::string_view status = "{}") {
  return make(apps_kind("ReplicaSet"),
              fmt::format(R"({{"metadata":{{"name":"s","namespace":"ns","uid":"us","generation":4}},
      "spec":{{"replicas":3,"minReadySeconds":30,"selector":{{"matchLabels":{{"a":"b"}}}},
      "template":{{"metadata":{{"labels":{{"a":"b","c":"d"}}}}}}}},"status":{}}})",
                          status));
}

api::ObjectPtr pod(std::string_view phase, std::string_view ready_since, std::string_view labels,
                   std::string_view more_meta = "") {
  return make(
      api::kinds::pod(),
      fmt::format(
          R"({{"metadata":{{"name":"p","labels":{{{}}}{}}},"status":{{"phase":"{}","conditions":[{}]}}}})",
          labels, more_meta, phase,
          ready_since.empty()
              ? ""
              : fmt::format(R"({{"type":"Ready","status":"True","lastTransitionTime":"{}"}})",
                            ready_since)));
}

TEST(ReplicaSetStatus, CountsActivePodsAndSaysWhenMoreBecomeAvailable) {
  const auto status =
      replica_set_status(*set(),
                         {pod("Running", "2025-12-31T23:59:30Z", R"("a":"b","c":"d","e":"f")"),
                          pod("Running", "2025-12-31T23:59:50Z", R"("a":"b")"),
                          pod("Pending", "", R"("a":"b","c":"d")"), pod("Failed", "", R"("a":"b")"),
                          pod("Running", "2025-12-31T23:00:00Z", R"("a":"b")",
                              R"(,"deletionTimestamp":"2026-01-01T00:00:30Z")")},
                         std::nullopt, kNow);
  EXPECT_EQ(status.counts, (api::ReplicaSetView::Status{.replicas = 3,
                                                        .fully_labeled = 2,
                                                        .ready = 2,
                                                        .available = 1,
                                                        .terminating = 1,
                                                        .observed_generation = 4}));
  EXPECT_EQ(status.again, kNow + seconds{20});
}

TEST(ReplicaSetStatus, NothingIsWrittenIfNothingChanges) {
  const auto said = set(R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":4})");
  const auto status = replica_set_status(*said, {}, std::nullopt, kNow);
  EXPECT_FALSE(replica_set_status_request(*said, status, kNow));
  EXPECT_TRUE(replica_set_status_request(*set(), status, kNow));
}

TEST(ReplicaSetStatus, AFailureKeepsItsTimeWhileItsReasonStays) {
  const std::optional<api::Condition> failure = {
      {"ReplicaFailure", "True", "FailedCreate", "new", 0}};
  const auto first = set(R"({"replicas":0})");
  const auto request =
      replica_set_status_request(*first, replica_set_status(*first, {}, failure, kNow), kNow);
  ASSERT_TRUE(request);
  EXPECT_EQ(
      api::to_text(request->body),
      R"([{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/status","value":)"
      R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":4,"conditions":[{"type":"ReplicaFailure",)"
      R"("status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"FailedCreate","message":"new"}]}}])");
  const auto said = set(
      R"({"replicas":1,"terminatingReplicas":0,"observedGeneration":4,"conditions":[{"type":"ReplicaFailure","status":"True",
          "lastTransitionTime":"2025-01-01T00:00:00Z","reason":"FailedCreate","message":"old"}]})");
  const auto second =
      replica_set_status_request(*said, replica_set_status(*said, {}, failure, kNow), kNow);
  ASSERT_TRUE(second);
  EXPECT_NE(api::to_text(second->body).find(R"("message":"old")"), std::string::npos);
  const auto healed =
      replica_set_status_request(*said, replica_set_status(*said, {}, std::nullopt, kNow), kNow);
  ASSERT_TRUE(healed);
  EXPECT_EQ(api::to_text(healed->body).find("conditions"), std::string::npos);
}

TEST(ReplicaSetStatus, LooksAgainWhenTheFirstPodBecomesAvailable) {
  const auto again = [](const std::vector<api::ObjectPtr>& pods) {
    return replica_set_status(*set(), pods, std::nullopt, kNow).again;
  };
  const auto ready_at = [](std::string_view time) {
    return pod("Running", time, R"("a":"b","c":"d")");
  };
  EXPECT_EQ(again({ready_at("2025-12-31T23:59:50Z"), ready_at("2025-12-31T23:59:40Z"),
                   ready_at("2025-12-31T23:59:45Z")}),
            kNow + seconds{10});
  EXPECT_EQ(again({ready_at("2025-12-31T23:59:30Z")}), std::nullopt) << "it is right now";
}

TEST(ReplicaSetStatus, ConditionsOfOthersStayAndAnotherReasonIsSaid) {
  const auto said = set(
      R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":4,"conditions":[
          {"type":"Theirs","status":"True"},
          {"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"old"}]})");
  const auto request = [&](std::string_view reason) {
    const std::optional<api::Condition> failure = {
        {"ReplicaFailure", "True", std::string(reason), "new", 0}};
    return replica_set_status_request(*said, replica_set_status(*said, {}, failure, kNow), kNow);
  };
  EXPECT_FALSE(request("FailedCreate")) << "it says so already";
  const auto changed = request("FailedDelete");
  ASSERT_TRUE(changed);
  const std::string text = api::to_text(changed->body);
  EXPECT_NE(text.find(R"("type":"Theirs","status":"True")"), std::string::npos);
  EXPECT_NE(text.find(R"("reason":"FailedDelete","message":"new")"), std::string::npos);
  EXPECT_EQ(text.find("FailedCreate"), std::string::npos);
  const auto healed =
      replica_set_status_request(*said, replica_set_status(*said, {}, std::nullopt, kNow), kNow);
  ASSERT_TRUE(healed);
  const std::string without = api::to_text(healed->body);
  EXPECT_NE(without.find(R"("type":"Theirs","status":"True")"), std::string::npos);
  EXPECT_EQ(without.find("ReplicaFailure"), std::string::npos);
}

}  // namespace
}  // namespace muster::controllers
