#include <fmt/format.h>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class AdmissionTest : public CoreTest {
 protected:
  Result<Answer> create_class(std::string_view name, std::string_view members) {
    return create(api::kinds::priority_class(), "",
                  std::string(R"({"metadata":{"name":")")
                      .append(name)
                      .append("\"},")
                      .append(members)
                      .append("}"));
  }
};

TEST_F(AdmissionTest, ObjectsNeedANamespaceThatExists) {
  const auto pod = create(pods(), "nowhere", pod_json("web"));
  EXPECT_EQ(reason(pod), Reason::NotFound);
  EXPECT_EQ(message(pod), R"(namespaces "nowhere" not found)");
  EXPECT_EQ(pod.error().kind, "namespaces");
}

TEST_F(AdmissionTest, ATerminatingNamespaceTakesNothingIn) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create(pods(), "team", pod_json("held", "", R"("finalizers":["example.com/hold"])")));
  ASSERT_TRUE(remove(namespaces(), "", "team"));
  const auto pod = create(pods(), "team", pod_json("web"));
  EXPECT_EQ(reason(pod), Reason::Forbidden);
  EXPECT_EQ(
      message(pod),
      R"(pods "web" is forbidden: unable to create new content in namespace team because it is being terminated)");
  ASSERT_EQ(pod.error().causes.size(), 1U);
  EXPECT_EQ(pod.error().causes[0].type, "NamespaceTerminating");
}

TEST_F(AdmissionTest, APodTakesItsPriorityFromItsClass) {
  ASSERT_TRUE(create_class("high", R"("value":1000,"preemptionPolicy":"Never")"));
  const auto pod = create_pod("web", R"("priorityClassName":"high")");
  EXPECT_EQ(at(pod, "spec.priority"), "1000") << message(pod);
  EXPECT_EQ(at(pod, "spec.preemptionPolicy"), "Never");
  EXPECT_EQ(message(create_pod("b", R"("priorityClassName":"none")")),
            R"(pods "b" is forbidden: no PriorityClass with name none was found)");
  EXPECT_EQ(
      message(create_pod("c", R"("priorityClassName":"high","priority":7)")),
      R"(pods "c" is forbidden: the integer value of priority (7) must not be provided in pod spec; )"
      R"(priority admission controller computed 1000 from the given PriorityClass name)");
  EXPECT_EQ(
      message(create_pod("d", R"("preemptionPolicy":"Never")")),
      R"(pods "d" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod )"
      R"(spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name)");
}

TEST_F(AdmissionTest, TheGlobalDefaultClassIsForThoseWhoNameNone) {
  ASSERT_TRUE(create_class("usual", R"("value":50,"globalDefault":true)"));
  const auto pod = create_pod("web");
  EXPECT_EQ(at(pod, "spec.priorityClassName"), "usual");
  EXPECT_EQ(at(pod, "spec.priority"), "50");
}

TEST_F(AdmissionTest, ThereIsOnlyOneGlobalDefault) {
  ASSERT_TRUE(create_class("usual", R"("value":50,"globalDefault":true)"));
  EXPECT_EQ(
      message(create_class("other", R"("value":60,"globalDefault":true)")),
      R"(priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as )"
      R"(default. Only one default can exist)");
  ASSERT_TRUE(create_class("third", R"("value":70)"));
  EXPECT_EQ(reason(merge(api::kinds::priority_class(), "", "third", R"({"globalDefault":true})")),
            Reason::Forbidden);
  EXPECT_TRUE(merge(api::kinds::priority_class(), "", "usual", R"({"description":"still"})"));
}

// T3d: what is decided and not yet committed counts.
TEST_F(AdmissionTest, OnlyOneOfTwoDefaultsInOneBatchIsAdmitted) {
  std::vector<Result<Answer>> answers;
  for (const std::string_view name : {"first", "second"}) {
    Request out = request(Verb::Create, api::kinds::priority_class(), "");
    ASSERT_TRUE(decode_into(out, std::string(R"({"metadata":{"name":")")
                                     .append(name)
                                     .append(R"("},"value":5,"globalDefault":true})")));
    registry_.submit(std::move(out), now_,
                     [&](Result<Answer> answer) { answers.push_back(std::move(answer)); });
  }
  registry_.flush();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_TRUE(answers[0]) << message(answers[0]);
  EXPECT_EQ(reason(answers[1]), Reason::Forbidden);
}

TEST_F(AdmissionTest, SystemThingsStay) {
  EXPECT_EQ(message(remove(namespaces(), "", "default")),
            R"(namespaces "default" is forbidden: this namespace may not be deleted)");
  EXPECT_EQ(message(remove(api::kinds::priority_class(), "", "system-node-critical")),
            R"(priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: )"
            R"(this is a system priority class and cannot be deleted)");
}

TEST_F(AdmissionTest, PodsTolerateASilentNodeForFiveMinutes) {
  const auto pod = create_pod("web");
  EXPECT_EQ(
      at(pod, "spec.tolerations"),
      R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},)"
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}])");
  const auto all = create_pod("b", R"("tolerations":[{"operator":"Exists"}])");
  EXPECT_EQ(at(all, "spec.tolerations"), R"([{"operator":"Exists"}])") << message(all);
}

TEST_F(AdmissionTest, APodsOwnTolerationTakesThePlaceOfADefaultOne) {
  constexpr std::string_view kNotReady =
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
  constexpr std::string_view kUnreachable =
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
  constexpr std::string_view kForever =
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"})";
  constexpr std::string_view kToStart =
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoSchedule"})";
  const auto stays = create_pod("a", fmt::format(R"("tolerations":[{}])", kForever));
  EXPECT_EQ(at(stays, "spec.tolerations"), fmt::format("[{},{}]", kForever, kUnreachable))
      << message(stays);
  const auto starts = create_pod("b", fmt::format(R"("tolerations":[{}])", kToStart));
  EXPECT_EQ(at(starts, "spec.tolerations"),
            fmt::format("[{},{},{}]", kToStart, kNotReady, kUnreachable))
      << "this one does not let it stay: " << message(starts);
}

TEST_F(AdmissionTest, ANodeThatIsNotReadyYetTakesNoPods) {
  constexpr std::string_view kTaint =
      R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";
  const auto create_node = [&](std::string_view name, std::string_view members) {
    return create(nodes(), "", fmt::format(R"({{"metadata":{{"name":"{}"}}{}}})", name, members));
  };
  EXPECT_EQ(at(create_node("bare", ""), "spec.taints"), fmt::format("[{}]", kTaint));
  EXPECT_EQ(at(create_node("tainted", fmt::format(R"(,"spec":{{"taints":[{}]}})", kTaint)),
               "spec.taints"),
            fmt::format("[{}]", kTaint));
  EXPECT_EQ(
      at(create_node("failed", R"(,"status":{"conditions":[{"type":"Ready","status":"False"}]})"),
         "spec.taints"),
      fmt::format("[{}]", kTaint));
  EXPECT_EQ(
      at(create_node("ready", R"(,"status":{"conditions":[{"type":"Ready","status":"True"}]})"),
         "spec.taints"),
      "");
}

TEST_F(AdmissionTest, WhatIsCalledLikeASystemThingMayGo) {
  for (const char* name : {"kube-system", "kube-public"})
    EXPECT_EQ(
        message(remove(namespaces(), "", name)),
        fmt::format(R"(namespaces "{}" is forbidden: this namespace may not be deleted)", name));
  EXPECT_TRUE(remove(namespaces(), "", "kube-node-lease"));
  ASSERT_TRUE(create_pod("default"));
  EXPECT_TRUE(remove(pods(), "default", "default"));
  ASSERT_TRUE(create_pod("system-node-critical"));
  EXPECT_TRUE(remove(pods(), "default", "system-node-critical"));
  ASSERT_TRUE(create_class("ours", R"("value":1)"));
  EXPECT_TRUE(remove(api::kinds::priority_class(), "", "ours"));
}

TEST_F(AdmissionTest, ATerminatingNamespaceNamesItselfAsTheCause) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create(pods(), "team", pod_json("held", "", R"("finalizers":["example.com/hold"])")));
  ASSERT_TRUE(remove(namespaces(), "", "team"));
  const auto pod = create(pods(), "team", pod_json("web"));
  ASSERT_EQ(pod.error().causes.size(), 1U);
  EXPECT_EQ(pod.error().causes[0].field, "metadata.namespace");
  EXPECT_EQ(pod.error().causes[0].message, "namespace team is being terminated");
  EXPECT_TRUE(merge(pods(), "team", "held", R"({"metadata":{"labels":{"a":"b"}}})"))
      << "what is there may still change";
}

TEST_F(AdmissionTest, APodMaySayWhatItsClassSaysAnyway) {
  ASSERT_TRUE(create_class("high", R"("value":1000,"preemptionPolicy":"Never")"));
  const auto pod =
      create_pod("web", R"("priorityClassName":"high","priority":1000,"preemptionPolicy":"Never")");
  EXPECT_EQ(at(pod, "spec.priority"), "1000") << message(pod);
  const auto plain = create_pod("plain");
  EXPECT_EQ(at(plain, "spec.priority"), "0");
  EXPECT_EQ(at(plain, "spec.preemptionPolicy"), "PreemptLowerPriority");
  EXPECT_EQ(at(plain, "spec.priorityClassName"), "");
}

TEST_F(AdmissionTest, APodKeepsItsPriorityThroughAnUpdateThatLeavesItOut) {
  ASSERT_TRUE(create_class("high", R"("value":1000,"preemptionPolicy":"Never")"));
  const auto pod = create_pod("web", R"("priorityClassName":"high")");
  const auto without = [](std::string json, std::string_view part) {
    const std::size_t found = json.find(part);
    EXPECT_NE(found, std::string::npos) << part << " in " << json;
    return found == std::string::npos ? json : json.erase(found, part.size());
  };
  const auto same =
      update(pods(), "default", "web",
             without(without(seen(pod), R"("priority":1000,)"), R"(,"preemptionPolicy":"Never")"));
  EXPECT_EQ(at(same, "spec.priority"), "1000") << message(same);
  EXPECT_EQ(at(same, "spec.preemptionPolicy"), "Never");
  EXPECT_EQ(at(same, "metadata.generation"), "1");
}

TEST_F(AdmissionTest, OtherPodsTolerationsDoNotStandInForTheDefaultOnes) {
  constexpr std::string_view kDefaults =
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},)"
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
  for (const std::string_view own :
       {R"({"key":"example.com/a","operator":"Exists","effect":"NoExecute"})",
        R"({"operator":"Exists","effect":"NoSchedule"})"}) {
    const auto pod = create_pod("p", fmt::format(R"("tolerations":[{}])", own));
    EXPECT_EQ(at(pod, "spec.tolerations"), fmt::format("[{},{}]", own, kDefaults)) << message(pod);
    ASSERT_TRUE(remove(pods(), "default", "p"));
  }
  constexpr std::string_view kAnyEffect =
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists"})";
  const auto pod = create_pod("p", fmt::format(R"("tolerations":[{}])", kAnyEffect));
  EXPECT_EQ(at(pod, "spec.tolerations"),
            fmt::format("[{},{}]", kAnyEffect, kDefaults.substr(0, kDefaults.find("},") + 1)));
}

TEST_F(AdmissionTest, OnlyTheConditionReadyMakesANodeReady) {
  const auto taints = [&](std::string_view members) {
    const auto node =
        create(nodes(), "", fmt::format(R"({{"metadata":{{"name":"n"}}{}}})", members));
    EXPECT_TRUE(remove(nodes(), "", "n")) << message(node);
    return at(node, "spec.taints");
  };
  constexpr std::string_view kTaint =
      R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";
  EXPECT_EQ(taints(R"(,"status":{"conditions":[{"type":"DiskPressure","status":"True"}]})"),
            fmt::format("[{}]", kTaint));
  for (const std::string_view other :
       {R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute"})",
        R"({"key":"example.com/mine","effect":"NoSchedule"})"})
    EXPECT_EQ(taints(fmt::format(R"(,"spec":{{"taints":[{}]}})", other)),
              fmt::format("[{},{}]", other, kTaint));
}

TEST_F(AdmissionTest, AGroupGetsItsPriorityAndAFinalizer) {
  ASSERT_TRUE(create_class("high", R"("value":1000,"preemptionPolicy":"Never")"));
  ASSERT_TRUE(create_class("usual", R"("value":50,"globalDefault":true)"));
  const auto create_group = [&](const api::Kind& kind, std::string_view name,
                                std::string_view members) {
    return create(
        kind, "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"schedulingPolicy":{{"basic":{{}}}}{}}}}})",
            name, members));
  };
  const auto named = create_group(api::kinds::pod_group(), "a", R"(,"priorityClassName":"high")");
  EXPECT_EQ(at(named, "spec.priority"), "1000") << message(named);
  EXPECT_EQ(at(named, "metadata.finalizers"), R"(["scheduling.k8s.io/podgroup-protection"])");
  const auto unnamed = create_group(api::kinds::pod_group(), "b", "");
  EXPECT_EQ(at(unnamed, "spec.priority"), "50") << message(unnamed);
  EXPECT_EQ(at(unnamed, "spec.priorityClassName"), "usual");
  const auto composite = create_group(
      api::kinds::composite_pod_group(), "c",
      R"(,"workloadRef":{"workloadName":"w","templateName":"t"},"priorityClassName":"high")");
  EXPECT_EQ(at(composite, "spec.priority"), "1000") << message(composite);
  EXPECT_EQ(at(composite, "metadata.finalizers"),
            R"(["scheduling.muster.dev/compositepodgroup-protection"])");
  const auto refused = create_group(api::kinds::pod_group(), "d", R"(,"priorityClassName":"none")");
  EXPECT_EQ(reason(refused), Reason::Forbidden) << message(refused);
}

}  // namespace
}  // namespace muster::server
