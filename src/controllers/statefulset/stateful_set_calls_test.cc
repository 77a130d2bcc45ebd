#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "controllers/statefulset/stateful_controller_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::milliseconds;

TEST_F(StatefulSetControllerTest, PodsThatEndedAreMadeAgainWithAWordAboutWhy) {
  const std::string spec = R"("replicas":2,"podManagementPolicy":"Parallel")";
  show(object(api::kinds::pod(), pod_json({.ordinal = 0, .phase = "Failed"})), Type::Added);
  show(object(api::kinds::pod(), pod_json({.ordinal = 1, .phase = "Succeeded"})), Type::Added);
  start(set(spec));
  EXPECT_EQ(asked(),
            (Texts{"delete pods/web-0", "delete pods/web-1", "patch statefulsets/web/status"}));
  answer(1, object(api::kinds::pod(), pod_json({.ordinal = 0})));
  refuse(2, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_,
            (Texts{"RecreatingFailedPod StatefulSet ns/web is recreating failed Pod web-0",
                   "RecreatingTerminatedPod StatefulSet ns/web is recreating terminated Pod web-1",
                   "SuccessfulDelete delete Pod web-0 in StatefulSet web successful",
                   "FailedDelete delete Pod web-1 in StatefulSet web failed error: no"}));
}

TEST_F(StatefulSetControllerTest, NothingIsSaidOfWhatIsGoneAnyway) {
  show(object(api::kinds::pod(), pod_json({})), Type::Added);
  start(set(R"("replicas":0)"));
  EXPECT_EQ(asked().front(), "delete pods/web-0");
  refuse(1, Reason::NotFound);
  made(2, set(R"("replicas":0)"));
  asked();
  EXPECT_EQ(events_, Texts{});
}

TEST_F(StatefulSetControllerTest, NothingIsSaidOfAFailureInANamespaceThatEnds) {
  start(set(R"("replicas":1)"));
  EXPECT_EQ(asked().front(), "create pods");
  Error error = make_error(Reason::Forbidden, "no");
  error.causes.push_back({.type = "NamespaceTerminating", .field = "", .message = ""});
  controller_.apply(client::Called{sent_[calls_.at(1)].second, fail(error)}, now_);
  asked();
  EXPECT_EQ(events_, Texts{});
}

TEST_F(StatefulSetControllerTest, WhatIsMadeAndRefusedOfClaimsIsSaid) {
  start(set(R"("replicas":1,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}},
      {"metadata":{"name":"log"},"spec":{}}])"));
  EXPECT_EQ(asked().size(), 3U);
  answer(1, object(claim_kind(), R"({"metadata":{"name":"data-web-0","namespace":"ns"}})"));
  refuse(2, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_,
            (Texts{"SuccessfulCreate create Claim data-web-0 Pod web-0 in StatefulSet web success",
                   "FailedCreate create Claim log-web-0 Pod web-0 in StatefulSet web failed error: "
                   "no"}));
}

TEST_F(StatefulSetControllerTest, PodsBelowThePartitionAreMadeFromTheCurrentRevision) {
  show(object(controller_revision_kind(),
              R"({"metadata":{"name":"web-a","namespace":"ns","uid":"ua","ownerReferences":
              [{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"us",
              "controller":true}]},"data":{"spec":{"template":{"$patch":"replace","metadata":{
              "labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"before"}]}}}},
              "revision":1})"),
       Type::Added);
  start(set(R"("replicas":2,"podManagementPolicy":"Parallel","updateStrategy":{
      "type":"RollingUpdate","rollingUpdate":{"partition":1}})",
            R"("currentRevision":"web-a")"));
  EXPECT_EQ(asked().front(), "create pods");
  EXPECT_EQ(
      api::find_string(api::elements(*api::find_path(body(1), "spec"), "containers")[0], "image"),
      "before");
  EXPECT_EQ(
      api::find_string(*api::find_path(body(1), "metadata.labels"), "controller-revision-hash"),
      "web-a");
  answer(1, object(api::kinds::pod(), pod_json({.ordinal = 0})));
  EXPECT_EQ(asked(), Texts{"create pods"});
  EXPECT_EQ(
      api::find_string(api::elements(*api::find_path(body(3), "spec"), "containers")[0], "image"),
      "i");
  EXPECT_EQ(
      api::find_string(*api::find_path(body(3), "metadata.labels"), "controller-revision-hash"),
      revision_name());
}

TEST_F(StatefulSetControllerTest, ThePodsOfAnotherMakerGetTheirClaims) {
  const auto elsewhere =
      object(stateful_set_kind(),
             R"({"metadata":{"name":"web","namespace":"ns","uid":"us","generation":1,"annotations":{
        "muster.dev/pods-made-elsewhere":""}},"spec":{"replicas":2,"podManagementPolicy":"Parallel",
        "selector":{"matchLabels":{"app":"web"}},"volumeClaimTemplates":[{"metadata":{"name":"data"},
        "spec":{}}],"template":{"metadata":{"labels":{"app":"web"}},"spec":{}}}})");
  show(object(api::kinds::pod(), pod_json({.ordinal = 0, .phase = "Pending", .ready = false})),
       Type::Added);
  start(elsewhere);
  EXPECT_EQ(asked(), (Texts{"create persistentvolumeclaims", "create persistentvolumeclaims",
                            "patch statefulsets/web/status"}));
  EXPECT_EQ(api::find_string(*api::find_path(body(1), "metadata"), "name"), "data-web-1");
  EXPECT_EQ(api::find_string(*api::find_path(body(2), "metadata"), "name"), "data-web-0");
}

TEST_F(StatefulSetControllerTest, AClaimThatIsLostIsMadeAgainForAPodThatWaitsForIt) {
  const auto claim = [&](int ordinal) {
    return object(claim_kind(), fmt::format(R"({{"metadata":{{"name":"data-web-{0}",
        "namespace":"ns","uid":"uc{0}"}}}})",
                                            ordinal));
  };
  show(claim(0), Type::Added);
  show(claim(1), Type::Added);
  show(object(api::kinds::pod(), pod_json({.ordinal = 0, .phase = "Pending", .ready = false})),
       Type::Added);
  show(object(api::kinds::pod(), pod_json({.ordinal = 1})), Type::Added);
  start(set(R"("replicas":2,"updateStrategy":{"type":"OnDelete"},"volumeClaimTemplates":[{
      "metadata":{"name":"data"},"spec":{}}])"));
  EXPECT_EQ(asked(), Texts{"patch statefulsets/web/status"});
  refuse(1, Reason::NotFound);
  show(claim(1), Type::Deleted);
  show(claim(0), Type::Deleted);
  EXPECT_EQ(asked().front(), "create persistentvolumeclaims");
  EXPECT_EQ(api::find_string(*api::find_path(body(2), "metadata"), "name"), "data-web-0");
  for (std::size_t call = 3; call < calls_.size(); ++call)
    EXPECT_NE(sent_[calls_[call]].first.kind, &claim_kind()) << "the other pod runs";
}

TEST_F(StatefulSetControllerTest, ClaimsOfPodsThatStayGoWithTheSetOnceItSaysSo) {
  const auto spec = [](std::string_view when_deleted) {
    return fmt::format(
        R"("replicas":1,"updateStrategy":{{"type":"OnDelete"}},"volumeClaimTemplates":[{{"metadata":{{
        "name":"data"}},"spec":{{}}}}],"persistentVolumeClaimRetentionPolicy":{{"whenDeleted":"{}"}})",
        when_deleted);
  };
  show(object(claim_kind(), R"({"metadata":{"name":"data-web-0","namespace":"ns","uid":"uc"}})"),
       Type::Added);
  show(object(api::kinds::pod(), pod_json({.ordinal = 0})), Type::Added);
  start(set(spec("Retain")));
  EXPECT_EQ(asked(), Texts{"patch statefulsets/web/status"});
  made(1, set(spec("Delete")));
  EXPECT_EQ(asked().front(), "patch persistentvolumeclaims/data-web-0");
  EXPECT_NE(api::to_text(body(2)).find(R"("uid":"us")"), std::string::npos);
}

TEST_F(StatefulSetControllerTest, APodWithoutItsNameIsGivenIt) {
  show(object(api::kinds::pod(),
              R"({"metadata":{"name":"web-0","namespace":"ns","uid":"u0","labels":{"app":"web",
              "controller-revision-hash":"x"},"ownerReferences":[{"apiVersion":"apps/v1",
              "kind":"StatefulSet","name":"web","uid":"us","controller":true}]}})"),
       Type::Added);
  start(set(R"("replicas":1,"updateStrategy":{"type":"OnDelete"})"));
  EXPECT_EQ(asked(), (Texts{"patch pods/web-0", "patch statefulsets/web/status"}));
}

TEST_F(StatefulSetControllerTest, APodIsAvailableOnceItWasReadyForLongEnough) {
  start(set(R"("replicas":2,"minReadySeconds":10)"));
  EXPECT_EQ(asked(), (Texts{"create pods", "patch statefulsets/web/status"}));
  made(1, pod({}));
  refuse(2, Reason::NotFound);
  EXPECT_EQ(asked(), Texts{"patch statefulsets/web/status"});
  refuse(3, Reason::NotFound);
  now_ = kNow + std::chrono::seconds{9};
  EXPECT_EQ(asked(), Texts{});
  now_ = kNow + std::chrono::seconds{10};
  EXPECT_EQ(asked(), (Texts{"create pods", "patch statefulsets/web/status"}));
}

TEST_F(StatefulSetControllerTest, APodThatNoLongerFitsIsLetGo) {
  start(set(R"("replicas":1,"updateStrategy":{"type":"OnDelete"})"));
  EXPECT_EQ(asked(), (Texts{"create pods", "patch statefulsets/web/status"}));
  made(1, pod({}));
  refuse(2, Reason::NotFound);
  EXPECT_EQ(asked(), Texts{"patch statefulsets/web/status"});
  refuse(3, Reason::NotFound);
  show(object(api::kinds::pod(),
              R"({"metadata":{"name":"web-0","namespace":"ns","uid":"u0","labels":{"app":"db"},
              "ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web",
              "uid":"us","controller":true}]},"status":{"phase":"Running"}})"));
  now_ += milliseconds{100};
  EXPECT_EQ(asked(), Texts{"patch pods/web-0"});
  EXPECT_EQ(api::to_text(body(4)),
            R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"us"}],"uid":"u0"}})");
}

TEST_F(StatefulSetControllerTest, WhoIsBeingDeletedDoesNothing) {
  show(object(stateful_set_kind(),
              R"({"metadata":{"name":"web","namespace":"ns","uid":"us","generation":1,
        "deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":2,"selector":{"matchLabels":{
        "app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{}}}})"));
  sync();
  EXPECT_EQ(asked(), Texts{});
}

}  // namespace
}  // namespace muster::controllers
