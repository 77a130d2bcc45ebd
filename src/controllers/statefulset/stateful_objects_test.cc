#include "controllers/statefulset/stateful_objects.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "api/reading.h"
#include "controllers/common/objects_testing.h"
#include "controllers/statefulset/stateful_testing.h"

namespace muster::controllers {
namespace {

api::ObjectPtr a_set(std::string_view spec = "") {
  return make_object(
      stateful_set_kind(),
      fmt::format(R"({{"metadata":{{"name":"web","namespace":"ns","uid":"us"}},"spec":{{
          "serviceName":"svc","selector":{{"matchLabels":{{"app":"web"}}}}{}}}}})",
                  spec));
}

api::ObjectPtr a_claim(std::string_view owners) {
  return make_object(claim_kind(),
                     fmt::format(R"({{"metadata":{{"name":"data-web-1",
      "namespace":"ns","uid":"uc","ownerReferences":[{}]}}}})",
                                 owners),
                     7);
}

constexpr std::string_view kSetReference =
    R"({"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"us","controller":true})";
constexpr std::string_view kPodReference =
    R"({"apiVersion":"v1","kind":"Pod","name":"web-1","uid":"u1","controller":true})";
constexpr std::string_view kGuest =
    R"({"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"ux","controller":false})";

TEST(ClaimOwner, FollowsFromWhatHappensToClaims) {
  api::StatefulSetView set;
  EXPECT_EQ(claim_owner(set, false), ClaimOwner::Nobody);
  EXPECT_EQ(claim_owner(set, true), ClaimOwner::Nobody);
  set.claims_go_with_set = true;
  EXPECT_EQ(claim_owner(set, false), ClaimOwner::Set);
  EXPECT_EQ(claim_owner(set, true), ClaimOwner::Set);
  set.claims_go_with_pod = true;
  EXPECT_EQ(claim_owner(set, false), ClaimOwner::Set);
  EXPECT_EQ(claim_owner(set, true), ClaimOwner::Pod);
  set.claims_go_with_set = false;
  EXPECT_EQ(claim_owner(set, false), ClaimOwner::Nobody);
  EXPECT_EQ(claim_owner(set, true), ClaimOwner::Pod);
}

// The references that a claim should have; "as it is" if nothing is asked.
std::string owners_for(std::string_view owners, ClaimOwner owner, bool has_pod = true) {
  const auto set = a_set();
  const auto pod = pod_object({.ordinal = 1});
  const auto request =
      claim_owner_request(*a_claim(owners), *set, has_pod ? pod.get() : nullptr, owner);
  if (!request) return "as it is";
  EXPECT_EQ(api::find_string(*api::find_path(request->body, "metadata"), "resourceVersion"), "7");
  EXPECT_EQ(api::find_string(*api::find_path(request->body, "metadata"), "uid"), "uc");
  std::string out;
  for (const api::Json& each :
       api::elements(*api::find_path(request->body, "metadata"), "ownerReferences"))
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", api::find_string(each, "kind"),
                       api::find_string(each, "uid"));
  return out.empty() ? "none" : out;
}

std::string both(std::string_view a, std::string_view b) { return fmt::format("{},{}", a, b); }

TEST(ClaimOwnerRequest, ReplacesTheOwnersThatAreOursAndKeepsOthers) {
  EXPECT_EQ(owners_for("", ClaimOwner::Nobody), "as it is");
  EXPECT_EQ(owners_for("", ClaimOwner::Set), "StatefulSet us");
  EXPECT_EQ(owners_for("", ClaimOwner::Pod), "Pod u1");
  EXPECT_EQ(owners_for(kSetReference, ClaimOwner::Set), "as it is");
  EXPECT_EQ(owners_for(kSetReference, ClaimOwner::Pod), "Pod u1");
  EXPECT_EQ(owners_for(kSetReference, ClaimOwner::Nobody), "none");
  EXPECT_EQ(owners_for(kPodReference, ClaimOwner::Pod), "as it is");
  EXPECT_EQ(owners_for(kPodReference, ClaimOwner::Set), "StatefulSet us");
  EXPECT_EQ(owners_for(both(kGuest, kSetReference), ClaimOwner::Nobody), "ConfigMap ux");
  EXPECT_EQ(owners_for(kGuest, ClaimOwner::Set), "ConfigMap ux, StatefulSet us");
}

TEST(ClaimOwnerRequest, OwnersOfTheSameNamesThatWereMadeAgainAreReplaced) {
  EXPECT_EQ(owners_for(R"({"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"before",
      "controller":true})",
                       ClaimOwner::Set),
            "StatefulSet us");
  EXPECT_EQ(owners_for(R"({"apiVersion":"v1","kind":"Pod","name":"web-1","uid":"before",
      "controller":true})",
                       ClaimOwner::Pod),
            "Pod u1");
  EXPECT_EQ(owners_for(R"({"apiVersion":"v1","kind":"Pod","name":"web-2","uid":"u2"})",
                       ClaimOwner::Nobody),
            "as it is")
      << "another pod's";
  EXPECT_EQ(owners_for(kPodReference, ClaimOwner::Nobody, false), "as it is")
      << "of no pod we know";
}

TEST(ClaimOwnerRequest, AClaimThatSomebodyElseControlsIsLeftAlone) {
  const std::string_view other =
      R"({"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"ux","controller":true})";
  EXPECT_EQ(owners_for(other, ClaimOwner::Set), "as it is");
  EXPECT_EQ(owners_for(both(kSetReference, other), ClaimOwner::Pod), "as it is");
}

TEST(StaleClaim, GoesWithAPodThatIsNotThere) {
  const auto set = a_set();
  const auto pod = pod_object({.ordinal = 1});
  const auto stale = [&](std::string_view owners, const api::Object* of) {
    return is_stale_claim(*a_claim(owners), *set, of);
  };
  EXPECT_FALSE(stale(kPodReference, pod.get()));
  EXPECT_TRUE(stale(kPodReference, nullptr));
  EXPECT_TRUE(stale(both(kGuest, R"({"kind":"Pod","name":"web-1","uid":"before"})"), pod.get()));
  EXPECT_FALSE(stale(R"({"kind":"Pod","name":"other-1","uid":"before"})", pod.get()));
  EXPECT_FALSE(stale(kSetReference, nullptr));
}

TEST(CreateClaim, IsMadeFromItsTemplateWithTheLabelsOfTheSelector) {
  const auto set = a_set(R"(,"volumeClaimTemplates":[{"metadata":{"name":"log"},"spec":{"x":1}},
      {"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data",
      "labels":{"tier":"hot"}},"spec":{"volumeName":"v"},"status":{"phase":"Pending"}}])");
  const api::Request request = create_claim_request(*set, "data", 3);
  EXPECT_EQ(request.name_space, "ns");
  EXPECT_EQ(api::to_text(request.body),
            R"({"metadata":{"name":"data-web-3","labels":{"tier":"hot","app":"web"},)"
            R"("namespace":"ns"},"spec":{"resources":{},"volumeName":"v"}})");
}

TEST(StatefulPods, AClaimTakesThePlaceOfAVolumeOfItsName) {
  const auto set = a_set(R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}},
      {"metadata":{"name":"log"},"spec":{}}])");
  const api::Json pod_template = parsed(
      R"({"metadata":{"labels":{"app":"web"}},"spec":{"volumes":[{"name":"tmp","emptyDir":{}},
      {"name":"data","emptyDir":{}}]}})");
  const StatefulPodMaker maker(*set, pod_template, "web-a");
  const api::Json pod = maker.make(4);
  EXPECT_EQ(api::to_text(*api::find_path(pod, "spec.volumes")),
            R"([{"name":"tmp","emptyDir":{}},)"
            R"({"name":"data","persistentVolumeClaim":{"claimName":"data-web-4"}},)"
            R"({"name":"log","persistentVolumeClaim":{"claimName":"log-web-4"}}])");
  EXPECT_EQ(api::find_string(*api::find_path(pod, "spec"), "hostname"), "web-4");
  EXPECT_EQ(api::find_string(*api::find_path(pod, "spec"), "subdomain"), "svc");
}

TEST(StatefulStatusRequest, LeavesOutWhatIsZeroButForWhatIsAlwaysThere) {
  const api::StatefulSetView::Status status{.observed_generation = 4,
                                            .replicas = 5,
                                            .ready = 3,
                                            .available = 2,
                                            .current = 1,
                                            .updated = 0,
                                            .current_revision = "web-a",
                                            .update_revision = "web-b",
                                            .collisions = 6};
  EXPECT_EQ(api::to_text(stateful_status_request(*a_set(), status).body),
            R"({"metadata":{"uid":"us"},"status":{"observedGeneration":4,"replicas":5,)"
            R"("readyReplicas":3,"currentReplicas":1,"updatedReplicas":null,)"
            R"("currentRevision":"web-a","updateRevision":"web-b","collisionCount":6,)"
            R"("availableReplicas":2}})");
}

TEST(NamePod, SaysWhoItIs) {
  EXPECT_EQ(api::to_text(name_pod_request(*pod_object({.ordinal = 7}), 7).body),
            R"({"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":"web-7",)"
            R"("apps.kubernetes.io/pod-index":"7"},"uid":"u7"}})");
}

}  // namespace
}  // namespace muster::controllers
