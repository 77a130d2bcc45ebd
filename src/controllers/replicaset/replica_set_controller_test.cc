#include "controllers/replicaset/replica_set_controller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/live_bytes_testing.h"
#include "controllers/common/controller_testing.h"
#include "controllers/common/owners.h"

namespace muster::controllers {
namespace {

class ReplicaSetControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }

  api::ObjectPtr set(int replicas, std::string_view more_meta = "",
                     std::string_view status = "{}") {
    return object(
        apps_kind("ReplicaSet"),
        fmt::format(R"({{"metadata":{{"name":"s","namespace":"ns","uid":"us","generation":1{}}},
        "spec":{{"replicas":{},"selector":{{"matchLabels":{{"app":"web"}}}},
        "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}},
        "status":{}}})",
                    more_meta, replicas, status));
  }
  api::ObjectPtr pod(std::string_view name, std::string_view owner = "us",
                     std::string_view label = "web", std::string_view phase = "Running",
                     std::string_view more_meta = "") {
    const std::string reference =
        owner.empty()
            ? ""
            : fmt::format(
                  R"({{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"{}","controller":true}})",
                  owner);
    return object(
        api::kinds::pod(),
        fmt::format(
            R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}","labels":{{"app":"{1}"}},
        "ownerReferences":[{2}]{3}}},"spec":{{"nodeName":"n"}},"status":{{"phase":"{4}"}}}})",
            name, label, reference, more_meta, phase));
  }
  ReplicaSetController controller_{context()};
};

TEST_F(ReplicaSetControllerTest, MakesThePodsThatAreMissing) {
  show(set(2));
  show(pod("a"));
  show(pod("ended", "us", "web", "Failed"));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/s/status", "create pods"}));
  EXPECT_EQ(api::find_string(*api::find_path(body(1), "metadata"), "generateName"), "s-");
  answer(1, pod("b"));
  asked();
  EXPECT_EQ(events_, Texts{"SuccessfulCreate Created pod: b"});
}

TEST_F(ReplicaSetControllerTest, DeletesThoseThatAreTooManyWorstFirst) {
  show(set(
      1, "",
      R"({"replicas":3,"fullyLabeledReplicas":3,"terminatingReplicas":0,"observedGeneration":1})"));
  show(pod("a"));
  show(pod("b", "us", "web", "Pending"));
  show(pod("c", "us", "web", "Running",
           R"(,"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"})"));
  sync();
  EXPECT_EQ(asked(), (Texts{"delete pods/b", "delete pods/c"}));
}

TEST_F(ReplicaSetControllerTest, AdoptsAndReleasesBeforeItCounts) {
  show(set(2));
  show(pod("mine"));
  show(pod("free", ""));
  show(pod("astray", "us", "db"));
  show(pod("foreign", "somebody"));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch pods/free", "patch pods/astray"}));
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"us",)"
      R"("controller":true,"blockOwnerDeletion":true}],"uid":"u-free"}})");
  const auto adopted = pod("free");
  const auto released = pod("astray", "", "db");
  answer(0, adopted);
  answer(1, released);
  show(adopted);
  show(released);
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
}

TEST_F(ReplicaSetControllerTest, APodThatFitsIsAdoptedWhenItComes) {
  show(set(1));
  show(pod("a"));
  sync();
  asked();
  answer(0, set(1, "", R"({"replicas":1})"));
  show(pod("late", ""), Type::Added);
  show(set(
      1, "",
      R"({"replicas":1,"fullyLabeledReplicas":1,"terminatingReplicas":0,"observedGeneration":1})"));
  EXPECT_EQ(asked(), Texts{"patch pods/late"});
}

TEST_F(ReplicaSetControllerTest, PodsThatHaveEndedAreNotAdopted) {
  show(set(0));
  show(pod("done", "", "web", "Succeeded"));
  show(pod("failed", "", "web", "Failed"));
  sync();
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
}

// During a rollout, the pods of both sets make a node crowded.
TEST_F(ReplicaSetControllerTest, ACrowdCountsThePodsOfAllSetsOfADeployment) {
  const std::string owner = R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment",
      "name":"d","uid":"ud","controller":true}])";
  show(set(
      1, "," + owner,
      R"({"replicas":2,"fullyLabeledReplicas":2,"terminatingReplicas":0,"observedGeneration":1})"));
  show(object(apps_kind("ReplicaSet"), fmt::format(R"({{"metadata":{{"name":"other",
      "namespace":"ns","uid":"uo",{}}},"spec":{{"replicas":1,
      "selector":{{"matchLabels":{{"app":"web"}}}}}}}})",
                                                   owner)));
  const auto put = [&](std::string_view name, std::string_view of, std::string_view uid,
                       std::string_view node, std::string_view phase = "Running") {
    show(object(api::kinds::pod(), fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns",
        "uid":"u-{0}","labels":{{"app":"web"}},"ownerReferences":[{{"apiVersion":"apps/v1",
        "kind":"ReplicaSet","name":"{1}","uid":"{2}","controller":true}}]}},
        "spec":{{"nodeName":"{3}"}},"status":{{"phase":"{4}"}}}})",
                                               name, of, uid, node, phase)));
  };
  put("a", "s", "us", "n1");
  put("b", "s", "us", "n2");
  put("ended-1", "other", "uo", "n1", "Failed");
  put("ended-2", "other", "uo", "n1", "Failed");
  put("theirs", "other", "uo", "n2");
  sync();
  Texts deleted = asked();
  std::erase_if(deleted, [](const std::string& text) { return !text.starts_with("delete"); });
  EXPECT_EQ(deleted, Texts{"delete pods/b"}) << "n2 has two that run, n1 has one";
}

TEST_F(ReplicaSetControllerTest, WhoIsBeingDeletedChangesNoPods) {
  show(set(5, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"));
  show(pod("free", ""));
  sync();
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
}

TEST_F(ReplicaSetControllerTest, AFailureIsSaidInTheStatusAtOnce) {
  show(set(2, "", R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":1})"));
  sync();
  EXPECT_EQ(asked(), Texts{"create pods"});
  refuse(0, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
  const auto* said = api::find_path(body(1).as_array()[1], "value");
  EXPECT_EQ(api::find_string(api::elements(*said, "conditions")[0], "reason"), "FailedCreate");
  EXPECT_EQ(api::find_string(api::elements(*said, "conditions")[0], "message"), "no");
  EXPECT_EQ(events_, Texts{"FailedCreate Error creating: no"});
  const auto failing = set(2, "", R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":1,
      "conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"no"}]})");
  answer(1, failing);
  show(failing);
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked(), Texts{"create pods"}) << "still failing for all we know";
  const auto a = pod("a");
  answer(2, a);
  EXPECT_EQ(asked(), Texts{"create pods"});
  const auto b = pod("b");
  answer(3, b);
  show(a);
  show(b);
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
  EXPECT_EQ(api::to_text(body(4)).find("ReplicaFailure"), std::string::npos);
}

TEST_F(ReplicaSetControllerTest, PodsOfOthersAreNotKept) {
  show(set(1));
  sync();
  asked();
  show(pod("a", ""), Type::Added);
  const auto taken =
      object(api::kinds::pod(),
             R"({"metadata":{"name":"a","namespace":"ns","uid":"u-a","labels":{"app":"web"},
      "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"uj","controller":true}]}})");
  show(taken);
  answer(0, set(1));
  const auto b = pod("b");
  answer(1, b);
  show(b);
  show(set(1));
  for (const std::string& text : asked()) EXPECT_NE(text, "patch pods/a") << "it belongs to a Job";
}

TEST_F(ReplicaSetControllerTest, HoldsNoCopiesOfATemplate) {
  show(object(apps_kind("ReplicaSet"),
              fmt::format(R"({{"metadata":{{"name":"s","namespace":"ns","uid":"us","generation":1}},
        "spec":{{"replicas":1000,"selector":{{"matchLabels":{{"app":"web"}}}},
        "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"hostname":"{}"}}}}}}}})",
                          std::string(64UL << 10U, 'x'))));
  sync();
  const std::int64_t before = live_bytes();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/s/status", "create pods"}));
  EXPECT_LT(live_bytes() - before, 1 << 20);
}

TEST_F(ReplicaSetControllerTest, AdoptsManyPodsInSeveralLooks) {
  show(set(0));
  for (int i = 0; i < 700; ++i) show(pod(fmt::format("p{}", i), ""));
  sync();
  EXPECT_EQ(asked().size(), 500U);
  for (std::size_t i = 0; i < 500; ++i) {
    const api::ObjectPtr adopted = pod(sent_[calls_[i]].first.name);
    answer(i, adopted);
    show(adopted);
  }
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked().size(), 200U);
}

// A feed that shows a pod costs no look at those who might want it.
TEST_F(ReplicaSetControllerTest, WhoMightWantAPodIsLookedForInItsTurn) {
  const auto written =
      R"({"replicas":0,"fullyLabeledReplicas":0,"terminatingReplicas":0,"observedGeneration":1})";
  show(set(0, "", written));
  sync();
  EXPECT_EQ(asked(), Texts{});
  show(pod("free", ""), Type::Added);
  EXPECT_EQ(controller_.run_once(now_, 1), 1U) << "who wants it?";
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(controller_.run_once(now_, 1), 1U) << "the set does";
  EXPECT_EQ(asked(), Texts{"patch pods/free"});
}

TEST_F(ReplicaSetControllerTest, PodsThatAreGoingAreReplacedAtOnce) {
  show(set(1));
  show(pod("going", "us", "web", "Running", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"));
  sync();
  EXPECT_EQ(asked(), (Texts{"patch replicasets/s/status", "create pods"}));
}

TEST_F(ReplicaSetControllerTest, OneLookDeletesAFewHundredPods) {
  show(set(0));
  for (int i = 0; i < 600; ++i) show(pod(fmt::format("p{}", i)));
  sync();
  const Texts calls = asked();
  EXPECT_EQ(std::ranges::count_if(
                calls, [](const std::string& call) { return call.starts_with("delete"); }),
            500);
}

TEST_F(ReplicaSetControllerTest, APodThatCannotBeDeletedIsSaidAndOneThatIsGoneIsNot) {
  const std::string_view written =
      R"({"replicas":2,"fullyLabeledReplicas":2,"terminatingReplicas":0,"observedGeneration":1})";
  show(set(0, "", written));
  show(pod("a"));
  show(pod("b"));
  sync();
  EXPECT_EQ(asked(), (Texts{"delete pods/a", "delete pods/b"}));
  refuse(0, Reason::NotFound);
  EXPECT_EQ(asked(), Texts{});
  refuse(1, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
  const auto* said = api::find_path(body(2).as_array()[1], "value");
  EXPECT_EQ(api::find_string(api::elements(*said, "conditions")[0], "reason"), "FailedDelete");
  EXPECT_EQ(events_, Texts{"FailedDelete Error deleting: no"});
}

TEST_F(ReplicaSetControllerTest, NothingIsSaidOfAFailureInANamespaceThatEnds) {
  show(set(1, "", R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":1})"));
  sync();
  EXPECT_EQ(asked(), Texts{"create pods"});
  Error error = make_error(Reason::Forbidden, "no");
  error.causes.push_back({.type = "NamespaceTerminating", .field = "", .message = ""});
  controller_.apply(client::Called{sent_[calls_.at(0)].second, fail(error)}, now_);
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(events_, Texts{});
}

TEST_F(ReplicaSetControllerTest, OneThatWasMadeAgainKnowsNothingOfFailures) {
  const auto first = set(1, "", R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":1})");
  show(first);
  sync();
  EXPECT_EQ(asked(), Texts{"create pods"});
  refuse(0, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
  refuse(1, Reason::NotFound);
  show(first, Type::Deleted);
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked(), Texts{});
  show(set(1, "", R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":1})"), Type::Added);
  EXPECT_EQ(asked(), Texts{"create pods"}) << "its status says no failure, and there is none";
}

TEST_F(ReplicaSetControllerTest, AFailureOfBeforeTheStartHoldsUntilItIsKnownBetter) {
  const std::string_view failing =
      R"({"replicas":0,"terminatingReplicas":0,"observedGeneration":1,"conditions":[
          {"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"no"}]})";
  show(set(1, "", failing));
  sync();
  EXPECT_EQ(asked(), Texts{"create pods"}) << "and the status stays as it is";
  show(set(0, "", failing));
  refuse(0, Reason::NotFound);
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"}) << "it has what it wants";
  EXPECT_EQ(api::to_text(body(1)).find("ReplicaFailure"), std::string::npos);
}

TEST_F(ReplicaSetControllerTest, APodIsAvailableOnceItWasReadyForLongEnough) {
  show(object(apps_kind("ReplicaSet"),
              R"({"metadata":{"name":"s","namespace":"ns","uid":"us","generation":1},
        "spec":{"replicas":1,"minReadySeconds":10,"selector":{"matchLabels":{"app":"web"}},
        "template":{"metadata":{"labels":{"app":"web"}},"spec":{}}},"status":{"replicas":1,
        "fullyLabeledReplicas":1,"readyReplicas":1,"terminatingReplicas":0,
        "observedGeneration":1}})"));
  show(object(api::kinds::pod(),
              R"({"metadata":{"name":"a","namespace":"ns","uid":"ua","labels":{"app":"web"},
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"us",
        "controller":true}]},"status":{"phase":"Running","conditions":[{"type":"Ready",
        "status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"));
  sync();
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{9};
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked(), Texts{"patch replicasets/s/status"});
}

}  // namespace
}  // namespace muster::controllers
