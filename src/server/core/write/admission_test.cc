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

}  // namespace
}  // namespace muster::server
