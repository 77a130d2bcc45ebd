#include "controllers/daemonset/daemon_pods.h"

#include <gtest/gtest.h>

#include "api/reading.h"
#include "controllers/daemonset/daemon_testing.h"

namespace muster::controllers {
namespace {

DaemonPods::Fit fit(std::string_view pod_spec, const api::ObjectPtr& node) {
  return DaemonPods(*make_set("", pod_spec), "h").fit(*node);
}

TEST(DaemonPods, EachIsPinnedToItsNodeAndToleratesWhatIsWrongWithIt) {
  const DaemonPods pods(
      *make_set(
          "",
          R"(,"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":5},{"key":"x"}])"),
      "h");
  const api::Json pod = pods.make("n7");
  EXPECT_EQ(api::find_string(*api::find_path(pod, "metadata.labels"), "controller-revision-hash"),
            "h");
  EXPECT_EQ(
      api::to_text(*api::find_path(pod, "spec.affinity")),
      R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
      R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}]}}})");
  EXPECT_EQ(
      api::to_text(*api::find_path(pod, "spec.tolerations")),
      R"([{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute"},{"key":"x"},)"
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"},)"
      R"({"key":"node.kubernetes.io/disk-pressure","operator":"Exists","effect":"NoSchedule"},)"
      R"({"key":"node.kubernetes.io/memory-pressure","operator":"Exists","effect":"NoSchedule"},)"
      R"({"key":"node.kubernetes.io/pid-pressure","operator":"Exists","effect":"NoSchedule"},)"
      R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists","effect":"NoSchedule"}])");
}

TEST(DaemonPods, ATolerationOfAnotherEffectStays) {
  const DaemonPods pods(
      *make_set(
          "", R"(,"tolerations":[{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"}])"),
      "h");
  const api::Json pod = pods.make("n7");
  const std::string text = api::to_text(*api::find_path(pod, "spec.tolerations"));
  EXPECT_TRUE(text.starts_with(
      R"([{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"},)"
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"},)"
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute"},)"))
      << text;
}

TEST(DaemonPods, TermsOfTheTemplateStayBesideTheNameOfTheNode) {
  const DaemonPods pods(
      *make_set(
          "",
          R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"gpu","operator":"Exists"}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["other"]}]}]}}})"),
      "h");
  const api::Json pod = pods.make("n7");
  EXPECT_EQ(
      api::to_text(
          *api::find_path(pod,
                          "spec.affinity.nodeAffinity."
                          "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")),
      R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"}],"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]},)"
      R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}])");
}

TEST(DaemonPods, FitWhereSelectorAndTaintsLetThem) {
  const std::string_view gpu = R"(,"nodeSelector":{"gpu":"yes"})";
  EXPECT_TRUE(fit(gpu, make_node("n", R"("gpu":"yes")")).should_run);
  EXPECT_FALSE(fit(gpu, make_node("n")).may_stay);
  EXPECT_TRUE(
      fit("",
          make_node("n", "", R"({"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"})"))
          .should_run);
  const auto reserved = fit("", make_node("n", "", R"({"key":"reserved","effect":"NoSchedule"})"));
  EXPECT_FALSE(reserved.should_run);
  EXPECT_TRUE(reserved.may_stay) << "it keeps others away and evicts nobody";
  EXPECT_FALSE(fit("", make_node("n", "", R"({"key":"broken","effect":"NoExecute"})")).may_stay);
  EXPECT_FALSE(fit(R"(,"nodeName":"other")", make_node("n")).should_run);
  const std::string_view offline =
      R"({"key":"node.kubernetes.io/network-unavailable","effect":"NoSchedule"})";
  EXPECT_FALSE(fit("", make_node("n", "", offline)).should_run);
  EXPECT_TRUE(fit(R"(,"hostNetwork":true)", make_node("n", "", offline)).should_run);
}

TEST(DaemonPods, BelongToTheNodeTheyAreBoundToOrMeantFor) {
  EXPECT_EQ(node_of(*make_pod({.name = "a", .node = "n3"})), "n3");
  EXPECT_EQ(node_of(*make_pod({.name = "a", .node = "n3", .bound = false})), "n3");
  EXPECT_EQ(node_of(*make_object(
                api::kinds::pod(),
                R"({"metadata":{"name":"a","namespace":"ns"},"spec":{"nodeName":"n3"}})")),
            "n3");
  const auto meant_for = [](std::string_view field) {
    return std::string(node_of(*make_object(
        api::kinds::pod(),
        fmt::format(
            R"({{"metadata":{{"name":"a","namespace":"ns"}},"spec":{{"affinity":{{"nodeAffinity":
        {{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{{"matchFields":
        [{{{}}}]}}]}}}}}}}}}})",
            field))));
  };
  EXPECT_EQ(meant_for(R"("key":"metadata.name","operator":"In","values":["n4"])"), "n4");
  EXPECT_EQ(meant_for(R"("key":"metadata.name","operator":"NotIn","values":["n4"])"), "");
  EXPECT_EQ(meant_for(R"("key":"metadata.name","operator":"In","values":["n4","n5"])"), "");
}

}  // namespace
}  // namespace muster::controllers
