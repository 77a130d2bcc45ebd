#include "controllers/statefulset/stateful_set_controller.h"

#include <gtest/gtest.h>

#include "api/views/controller_revision_view.h"
#include "base/live_bytes_testing.h"
#include "controllers/common/revisions.h"
#include "controllers/statefulset/stateful_controller_testing.h"
#include "controllers/statefulset/stateful_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::milliseconds;

TEST_F(StatefulSetControllerTest, MakesTheRevisionThenThePodsInOrder) {
  start(set(R"("replicas":2)"));
  EXPECT_EQ(asked(), (Texts{"create pods", "patch statefulsets/web/status"}));
  EXPECT_EQ(api::sorted_text(body(1)),
            fmt::format(
                R"({{"metadata":{{"annotations":{{}},"finalizers":[],"labels":{{"app":"web",)"
                R"("apps.kubernetes.io/pod-index":"0","controller-revision-hash":"{0}",)"
                R"("statefulset.kubernetes.io/pod-name":"web-0"}},"name":"web-0","namespace":"ns",)"
                R"("ownerReferences":[{{"apiVersion":"apps/v1","blockOwnerDeletion":true,)"
                R"("controller":true,"kind":"StatefulSet","name":"web","uid":"us"}}]}},)"
                R"("spec":{{"containers":[{{"image":"i","name":"c","resources":{{}}}}],)"
                R"("hostname":"web-0","subdomain":"svc"}}}})",
                revision_name()));
  EXPECT_EQ(api::to_text(body(2)),
            fmt::format(R"({{"metadata":{{"uid":"us"}},"status":{{"observedGeneration":1,)"
                        R"("replicas":0,"readyReplicas":null,"currentReplicas":null,)"
                        R"("updatedReplicas":null,"currentRevision":"{0}","updateRevision":"{0}",)"
                        R"("collisionCount":0,"availableReplicas":0}}}})",
                        revision_name()));
  made(1, pod({.ready = false}));
  made(2, set(R"("replicas":2)"));
  // Not ready: the second has to wait.
  EXPECT_EQ(asked(), Texts{"patch statefulsets/web/status"});
  made(3, set(R"("replicas":2)"));
  show(pod({.ready = true}));
  now_ += milliseconds{100};
  EXPECT_EQ(asked(), (Texts{"create pods", "patch statefulsets/web/status"}));
  EXPECT_EQ(api::find_string(api::part_of(body(4), "metadata"), "name"), "web-1");
  EXPECT_EQ(events_.at(0), "SuccessfulCreate create Pod web-0 in StatefulSet web successful");
}

TEST_F(StatefulSetControllerTest, ClaimsComeBeforeTheirPod) {
  const std::string spec =
      R"("replicas":1,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}],
      "persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"})";
  start(set(spec));
  EXPECT_EQ(asked(), (Texts{"create persistentvolumeclaims", "patch statefulsets/web/status"}));
  EXPECT_EQ(
      api::to_text(body(1)),
      R"({"metadata":{"name":"data-web-0","namespace":"ns","labels":{"app":"web"},)"
      R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web",)"
      R"("uid":"us","controller":true,"blockOwnerDeletion":true}]},"spec":{"resources":{}}})");
  made(1, object(claim_kind(), R"({"metadata":{"name":"data-web-0","namespace":"ns","uid":"uc",
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"us",
      "controller":true}]}})"));
  made(2, set(spec));
  const Texts then = asked();
  ASSERT_FALSE(then.empty());
  EXPECT_EQ(then.front(), "create pods");
  EXPECT_EQ(api::to_text(api::part_of(api::part_of(body(3), "spec"), "volumes")),
            R"([{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}}])");
}

TEST_F(StatefulSetControllerTest, ClaimsOfAPodThatIsTooManyGoWithIt) {
  const std::string spec =
      R"("replicas":0,"podManagementPolicy":"Parallel","volumeClaimTemplates":[{"metadata":
      {"name":"data"},"spec":{}}],"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"})";
  const auto claim = [&](std::string_view owners) {
    return object(claim_kind(), fmt::format(R"({{"metadata":{{"name":"data-web-0","namespace":"ns",
        "uid":"uc","ownerReferences":[{}]}}}})",
                                            owners));
  };
  show(claim(""), Type::Added);
  show(object(api::kinds::pod(), pod_json({})), Type::Added);
  start(set(spec));
  EXPECT_EQ(asked(),
            (Texts{"patch persistentvolumeclaims/data-web-0", "patch statefulsets/web/status"}));
  made(1, claim(R"({"apiVersion":"v1","kind":"Pod","name":"web-0","uid":"u0","controller":true})"));
  made(2, set(spec));
  EXPECT_EQ(asked().front(), "delete pods/web-0");
}

TEST_F(StatefulSetControllerTest, APodMadeForAClaimOfAnEarlierPodWaits) {
  const std::string spec =
      R"("replicas":1,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}])";
  const auto claim = object(claim_kind(), R"({"metadata":{"name":"data-web-0","namespace":"ns",
      "uid":"uc","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web-0","uid":"old"}]}})");
  show(claim, Type::Added);
  start(set(spec));
  EXPECT_EQ(asked(), Texts{"patch statefulsets/web/status"});
  made(1, set(spec));
  show(claim, Type::Deleted);
  EXPECT_EQ(asked().front(), "create persistentvolumeclaims");
}

TEST_F(StatefulSetControllerTest, AdoptsByNameAndReleasesByLabel) {
  const auto free = [&](std::string_view name) {
    return object(api::kinds::pod(), fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns",
        "uid":"u-{0}","labels":{{"app":"web"}}}},"status":{{"phase":"Running"}}}})",
                                                 name));
  };
  show(set(R"("replicas":2)"), Type::Added);
  show(free("web-0"), Type::Added);
  show(free("stranger"), Type::Added);
  sync();
  EXPECT_EQ(asked(), Texts{"patch pods/web-0"});
}

TEST_F(StatefulSetControllerTest, AnEarlierTemplateBringsItsRevisionBackAndOldOnesGo) {
  start(set(R"("replicas":0,"revisionHistoryLimit":0)"));
  const std::string ours = revision_name();
  asked();
  made(1, set(R"("replicas":0,"revisionHistoryLimit":0)",
              fmt::format(R"("currentRevision":"{0}","updateRevision":"{0}")", ours)));
  show(object(controller_revision_kind(),
              R"({"metadata":{"name":"web-x","namespace":"ns","uid":"ux","ownerReferences":
              [{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"us",
              "controller":true}]},"data":{"spec":{}},"revision":2})"),
       Type::Added);
  EXPECT_EQ(asked(), Texts{"patch controllerrevisions/" + ours});
  EXPECT_EQ(api::to_text(body(2)), R"({"metadata":{"uid":"ur"},"revision":3})");
}

TEST_F(StatefulSetControllerTest, AFailureToCreateIsSaidAndTriedAgain) {
  start(set(R"("replicas":1)"));
  asked();
  refuse(1, Reason::Forbidden);
  made(2, set(R"("replicas":1)"));
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked().front(), "create pods");
  EXPECT_EQ(events_.at(0), "FailedCreate create Pod web-0 in StatefulSet web failed error: no");
}

// Nothing is asked about pods that are as they should be.
TEST_F(StatefulSetControllerTest, ALargeSetWithOneThingToDoMakesOneChange) {
  const std::string spec = R"("replicas":1000,"podManagementPolicy":"Parallel")";
  for (int i = 0; i < 1000; ++i)
    show(object(api::kinds::pod(), pod_json({.ordinal = i, .revision = "web-a"})), Type::Added);
  start(set(spec));
  asked();
  EXPECT_EQ(calls_.size(), 3U);  // revision, one update, status
}

TEST_F(StatefulSetControllerTest, HoldsNoCopiesOfATemplate) {
  start(object(stateful_set_kind(),
               fmt::format(R"({{"metadata":{{"name":"web","namespace":"ns","uid":"us",
        "generation":1}},"spec":{{"replicas":500,"podManagementPolicy":"Parallel",
        "selector":{{"matchLabels":{{"app":"web"}}}},
        "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"nodeName":"{}"}}}}}}}})",
                           std::string(64UL << 10U, 'x'))));
  const std::int64_t before = live_bytes();
  EXPECT_EQ(asked(), (Texts{"create pods", "patch statefulsets/web/status"}));
  EXPECT_LT(live_bytes() - before, 2 << 20);
}

TEST_F(StatefulSetControllerTest, AsksForNoMoreClaimsAtOnceThanThereIsRoomFor) {
  start(set(fmt::format(R"("replicas":100,"podManagementPolicy":"Parallel",
      "volumeClaimTemplates":[{{"metadata":{{"name":"data"}},"spec":{{"volumeName":"{}"}}}}])",
                        std::string(1UL << 20U, 'x'))));
  EXPECT_LT(asked().size(), 20U);
  const std::size_t asked_first = calls_.size();
  answer(1,
         object(claim_kind(), R"({"metadata":{"name":"data-web-0","namespace":"ns","uid":"uc"}})"));
  EXPECT_EQ(asked().size(), 1U);
  EXPECT_EQ(calls_.size(), asked_first + 1);
}

}  // namespace
}  // namespace muster::controllers
