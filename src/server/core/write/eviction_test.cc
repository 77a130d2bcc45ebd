#include "server/core/write/eviction.h"

#include <tuple>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class EvictionTest : public CoreTest {
 protected:
  static const api::Kind& budgets() { return *api::find_kind("policy", "PodDisruptionBudget"); }

  void make_pod(std::string_view name, std::string_view ready = "True") {
    ASSERT_TRUE(create_pod(name, R"("nodeName":"n1")", R"("labels":{"app":"web"})"));
    ASSERT_TRUE(merge(pods(), "default", name,
                      fmt::format(R"({{"status":{{"phase":"Running","conditions":[)"
                                  R"({{"type":"Ready","status":"{}"}}]}}}})",
                                  ready),
                      "status"));
  }
  // A budget whose controller has said `status`.
  void make_budget(std::string_view name, std::string_view status,
                   std::string_view spec_members = "") {
    ASSERT_TRUE(create(budgets(), "default",
                       fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"minAvailable":2,)"
                                   R"("selector":{{"matchLabels":{{"app":"web"}}}}{}}}}})",
                                   name, spec_members)));
    ASSERT_TRUE(
        merge(budgets(), "default", name, fmt::format(R"({{"status":{}}})", status), "status"));
  }
  Result<Answer> evict(std::string_view name) {
    Request out = request(Verb::Create, pods(), "default", name);
    out.subresource = "eviction";
    return send_body(std::move(out), fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  }
  bool is_leaving(std::string_view name) {
    const auto pod = store_->get(store::make_key(pods(), "default", name));
    return !pod || pod->meta().deletion_time.has_value();
  }
};

TEST_F(EvictionTest, TheOldVersionOfTheBodyIsTaken) {
  make_pod("a");
  Request old = request(Verb::Create, pods(), "default", "a");
  old.subresource = "eviction";
  const auto evicted = send_body(
      old, R"({"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"a"}})");
  EXPECT_TRUE(evicted) << message(evicted);
  EXPECT_EQ(
      reason(send_body(
          old, R"({"apiVersion":"policy/v1beta2","kind":"Eviction","metadata":{"name":"a"}})")),
      Reason::BadRequest);
}

TEST_F(EvictionTest, ABudgetIsSpentWithTheDeletion) {
  make_pod("a");
  make_pod("b");
  make_budget(
      "pdb",
      R"({"observedGeneration":1,"disruptionsAllowed":1,"desiredHealthy":2,"currentHealthy":3})");
  const auto before = store_->revision();
  ASSERT_TRUE(evict("a")) << message(evict("a"));
  EXPECT_EQ(store_->revision().value, before.value + 2) << "one transaction, two objects";
  EXPECT_TRUE(is_leaving("a"));
  const auto budget = get(budgets(), "default", "pdb");
  EXPECT_EQ(at(budget, "status.disruptionsAllowed"), "0");
  EXPECT_EQ(at(budget, "status.disruptedPods"), R"({"a":"2026-05-01T10:00:00Z"})");

  const auto refused = evict("b");
  EXPECT_EQ(reason(refused), Reason::TooManyRequests);
  EXPECT_EQ(message(refused), "Cannot evict pod as it would violate the pod's disruption budget.");
  ASSERT_EQ(refused.error().causes.size(), 1U);
  EXPECT_EQ(refused.error().causes[0].type, "DisruptionBudget");
  EXPECT_EQ(refused.error().causes[0].message,
            "The disruption budget pdb needs 2 healthy pods and has 3 currently");
  EXPECT_FALSE(is_leaving("b"));
}

TEST_F(EvictionTest, ABudgetNobodyHasLookedAtSaysLater) {
  make_pod("a");
  make_budget("pdb", R"({"disruptionsAllowed":5})");
  const auto refused = evict("a");
  EXPECT_EQ(refused.error().causes.at(0).message,
            "The disruption budget pdb is still being processed by the server.");
  EXPECT_EQ(refused.error().retry_after_s, 10);
}

TEST_F(EvictionTest, PodsBeyondTheBudgetGoAnyway) {
  make_budget("pdb", R"({"observedGeneration":1,"desiredHealthy":2,"currentHealthy":1})");
  ASSERT_TRUE(create_pod("pending", "", R"("labels":{"app":"web"})"));
  EXPECT_TRUE(evict("pending"));
  make_pod("sick", "False");
  EXPECT_EQ(reason(evict("sick")), Reason::TooManyRequests);
  ASSERT_TRUE(merge(budgets(), "default", "pdb",
                    R"({"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}})"));
  EXPECT_TRUE(evict("sick"));
  ASSERT_TRUE(create_pod("other", R"("nodeName":"n1")", R"("labels":{"app":"db"})"));
  EXPECT_TRUE(evict("other"));
}

TEST_F(EvictionTest, UnhealthyPodsMayGoWhileEnoughOthersServe) {
  make_budget("pdb", R"({"observedGeneration":1,"desiredHealthy":2,"currentHealthy":2})");
  make_pod("sick", "False");
  EXPECT_TRUE(evict("sick"));
  make_pod("well");
  EXPECT_EQ(reason(evict("well")), Reason::TooManyRequests);
}

// What `kubectl drain` does when it is run again.
TEST_F(EvictionTest, APodThatIsLeavingAlreadySpendsNothing) {
  make_pod("a");
  make_budget(
      "pdb",
      R"({"observedGeneration":1,"disruptionsAllowed":1,"desiredHealthy":2,"currentHealthy":3})");
  ASSERT_TRUE(evict("a"));
  const auto again = evict("a");
  EXPECT_TRUE(again) << message(again);
  EXPECT_EQ(at(get(budgets(), "default", "pdb"), "status.disruptionsAllowed"), "0");
}

TEST_F(EvictionTest, ADryRunOnlyAsks) {
  make_pod("a");
  make_budget("pdb", R"({"observedGeneration":1,"disruptionsAllowed":1})");
  Request out = request(Verb::Create, pods(), "default", "a");
  out.subresource = "eviction";
  EXPECT_TRUE(
      send_body(std::move(out), R"({"metadata":{"name":"a"},"deleteOptions":{"dryRun":["All"]}})"));
  EXPECT_FALSE(is_leaving("a"));
  EXPECT_EQ(at(get(budgets(), "default", "pdb"), "status.disruptionsAllowed"), "1");
}

TEST_F(EvictionTest, ADryRunThatTheUrlAsksForOnlyAsksToo) {
  make_pod("a");
  Request out = request(Verb::Create, pods(), "default", "a");
  out.subresource = "eviction";
  out.dry_run = true;
  EXPECT_TRUE(send_body(std::move(out), R"({"metadata":{"name":"a"}})"));
  EXPECT_FALSE(is_leaving("a"));
}

TEST_F(EvictionTest, PodsThatHaveEndedGoWhateverTheirBudgetSays) {
  make_budget("pdb", R"({"observedGeneration":1,"desiredHealthy":2,"currentHealthy":1})");
  struct Case {
    std::string_view name;
    std::string_view phase;
  };
  for (const Case& c : {Case{"done", "Succeeded"}, Case{"broken", "Failed"}}) {
    ASSERT_TRUE(create_pod(c.name, R"("nodeName":"n1")", R"("labels":{"app":"web"})"));
    ASSERT_TRUE(merge(pods(), "default", c.name,
                      fmt::format(R"({{"status":{{"phase":"{}"}}}})", c.phase), "status"));
    const auto evicted = evict(c.name);
    EXPECT_TRUE(evicted) << c.phase << ": " << message(evicted);
    EXPECT_TRUE(is_leaving(c.name)) << c.phase;
  }
}

TEST_F(EvictionTest, APreconditionThatFailsEvictsNobody) {
  make_pod("a");
  make_budget(
      "pdb",
      R"({"observedGeneration":1,"disruptionsAllowed":1,"desiredHealthy":2,"currentHealthy":3})");
  const auto evict_if = [&](std::string_view preconditions) {
    Request out = request(Verb::Create, pods(), "default", "a");
    out.subresource = "eviction";
    return send_body(std::move(out), fmt::format(R"({{"metadata":{{"name":"a"}},)"
                                                 R"("deleteOptions":{{"preconditions":{{{}}}}}}})",
                                                 preconditions));
  };
  EXPECT_EQ(reason(evict_if(R"("uid":"another")")), Reason::Conflict);
  EXPECT_EQ(reason(evict_if(R"("resourceVersion":"1")")), Reason::Conflict);
  EXPECT_FALSE(is_leaving("a"));
  EXPECT_EQ(at(get(budgets(), "default", "pdb"), "status.disruptionsAllowed"), "1");
  const auto pod = get(pods(), "default", "a");
  EXPECT_TRUE(evict_if(
      fmt::format(R"("uid":"{}","resourceVersion":"{}")", at(pod, "metadata.uid"), version(pod))));
  EXPECT_TRUE(is_leaving("a"));
}

TEST_F(EvictionTest, ABudgetCountsInItsNamespaceOnly) {
  make_pod("a");
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"default-2"}})"));
  ASSERT_TRUE(create(budgets(), "default-2",
                     R"({"metadata":{"name":"pdb"},"spec":{"minAvailable":2,)"
                     R"("selector":{"matchLabels":{"app":"web"}}}})"));
  const auto evicted = evict("a");
  EXPECT_TRUE(evicted) << message(evicted);
}

TEST_F(EvictionTest, TwoBudgetsAreOneTooMany) {
  make_pod("a");
  make_budget("one", "{}");
  make_budget("two", "{}");
  EXPECT_EQ(message(evict("a")),
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
}

TEST_F(EvictionTest, TheBodyNamesThePodOrNone) {
  make_pod("a");
  const auto evict_with = [&](std::string_view pod, std::string_view body) {
    Request out = request(Verb::Create, pods(), "default", pod);
    out.subresource = "eviction";
    return send_body(std::move(out), body);
  };
  EXPECT_EQ(message(evict_with("a", R"({"metadata":{"name":"b"}})")),
            "name in URL does not match name in Eviction object");
  EXPECT_EQ(message(evict_with("none", R"({"metadata":{"name":"none"}})")),
            R"(pods "none" not found)");
  EXPECT_FALSE(is_leaving("a"));
  const auto evicted = evict_with("a", R"({"deleteOptions":{"gracePeriodSeconds":9}})");
  ASSERT_TRUE(evicted) << message(evicted);
  EXPECT_EQ(std::get<api::StatusAnswer>(evicted->what).code, 201);
  const auto pod = get(pods(), "default", "a");
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "9");
  EXPECT_NE(at(pod, "status.conditions")
                .find(R"({"type":"DisruptionTarget","status":"True","lastProbeTime":null,)"
                      R"("lastTransitionTime":"2026-05-01T10:00:00Z",)"
                      R"("reason":"EvictionByEvictionAPI","message":"Eviction API: evicting"})"),
            std::string::npos)
      << at(pod, "status.conditions");
}

TEST_F(EvictionTest, ABudgetThatIsOutOfOrderForbidsEvictions) {
  make_pod("a");
  make_budget("pdb", R"({"observedGeneration":1,"disruptionsAllowed":1})");
  std::string disrupted;
  for (int i = 0; i < 2'001; ++i)
    disrupted += fmt::format(R"({}"p{}":"2026-05-01T10:00:00Z")", i == 0 ? "" : ",", i);
  ASSERT_TRUE(merge(budgets(), "default", "pdb",
                    fmt::format(R"({{"status":{{"disruptedPods":{{{}}}}}}})", disrupted),
                    "status"));
  EXPECT_EQ(message(evict("a")),
            R"(poddisruptionbudgets.policy "pdb" is forbidden: DisruptedPods map too big - too )"
            "many evictions not confirmed by PDB controller");
  ASSERT_TRUE(
      merge(budgets(), "default", "pdb", R"({"status":{"disruptedPods":{"p0":null}}})", "status"));
  EXPECT_TRUE(evict("a")) << "two thousand are not too many";
}

TEST_F(EvictionTest, OnlyTheConditionReadySaysThatAPodServes) {
  make_budget("pdb", R"({"observedGeneration":1,"desiredHealthy":2,"currentHealthy":2})");
  for (const auto& [name, conditions, goes] :
       {std::tuple("none", "", true),
        std::tuple("other", R"({"type":"PodScheduled","status":"True"})", true),
        std::tuple("ready",
                   R"({"type":"PodScheduled","status":"False"},)"
                   R"({"type":"Ready","status":"True"})",
                   false)}) {
    ASSERT_TRUE(create_pod(name, R"("nodeName":"n1")", R"("labels":{"app":"web"})"));
    ASSERT_TRUE(
        merge(pods(), "default", name,
              fmt::format(R"({{"status":{{"phase":"Running","conditions":[{}]}}}})", conditions),
              "status"));
    EXPECT_EQ(evict(name).has_value(), goes) << name;
  }
  ASSERT_TRUE(merge(budgets(), "default", "pdb", R"({"status":{"currentHealthy":1}})", "status"));
  make_pod("sick", "False");
  EXPECT_FALSE(evict("sick")) << "too few others serve";
  ASSERT_TRUE(merge(budgets(), "default", "pdb",
                    R"({"status":{"desiredHealthy":0,"currentHealthy":0}})", "status"));
  EXPECT_FALSE(evict("sick")) << "nobody knows how many are wanted";
}

}  // namespace
}  // namespace muster::server
