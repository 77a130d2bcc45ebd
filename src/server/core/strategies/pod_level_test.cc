#include "server/core/strategies/pod_level.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/core/strategies/qos.h"

namespace muster::server {
namespace {

using api::Json;

Json pod(std::string_view spec_members) {
  return api::parse_json(fmt::format(R"({{"spec":{{{}}}}})", spec_members)).value().value;
}

// A list of containers, each with these resources.
std::string list(std::string_view name, const std::vector<std::string>& resources) {
  std::string out;
  for (const std::string& each : resources)
    out += fmt::format(R"({}{{"resources":{{{}}}}})", out.empty() ? "" : ",", each);
  return fmt::format(R"("{}":[{}])", name, out);
}

// The resources of the whole pod once its defaults are filled in.
std::string filled_in(const std::string& whole, const std::string& containers) {
  Json document = pod(fmt::format(R"({},"resources":{{{}}})", containers, whole));
  default_pod_level(document);
  return api::to_text(*api::find_path(document, "spec.resources"));
}

const std::string kOneCpu = R"("requests":{"cpu":"1"},"limits":{"cpu":"2"})";

TEST(PodLevel, RequestsAreTheSumOfThoseOfTheContainersElseTheLimits) {
  const std::string two = list("containers", {kOneCpu, R"("requests":{"cpu":"1","memory":"1Gi"})"});
  EXPECT_EQ(filled_in(R"("requests":{"memory":"4Gi"})", two),
            R"({"requests":{"memory":"4Gi","cpu":"2"}})");
  EXPECT_EQ(filled_in(R"("limits":{"cpu":"8","memory":"4Gi"})", list("containers", {""})),
            R"({"limits":{"cpu":"8","memory":"4Gi"},"requests":{"cpu":"8","memory":"4Gi"}})");
  EXPECT_EQ(filled_in(R"("limits":{"cpu":"8"})", list("containers", {kOneCpu})),
            R"({"limits":{"cpu":"8"},"requests":{"cpu":"1"}})")
      << "what is asked for comes before what is allowed";
}

TEST(PodLevel, LimitsAreSummedIfEveryContainerHasOne) {
  EXPECT_EQ(filled_in(R"("requests":{"memory":"1Gi"})", list("containers", {kOneCpu, kOneCpu})),
            R"({"requests":{"memory":"1Gi","cpu":"2"},"limits":{"cpu":"4"}})");
  EXPECT_EQ(filled_in(R"("requests":{"memory":"1Gi"})", list("containers", {kOneCpu, ""})),
            R"({"requests":{"memory":"1Gi","cpu":"1"}})");
  EXPECT_EQ(filled_in(R"("requests":{"memory":"1Gi"})",
                      list("containers", {kOneCpu}) + "," + list("initContainers", {""})),
            R"({"requests":{"memory":"1Gi","cpu":"1"}})")
      << "one that comes first counts, too";
  EXPECT_EQ(filled_in(R"("requests":{"cpu":"5"})", list("containers", {kOneCpu})),
            R"({"requests":{"cpu":"5"},"limits":{"cpu":"5"}})")
      << "never below what the pod asks for";
  EXPECT_EQ(filled_in(R"("limits":{"cpu":"9"})", list("containers", {kOneCpu})),
            R"({"limits":{"cpu":"9"},"requests":{"cpu":"1"}})");
}

TEST(PodLevel, HugePagesNeedNoLimitInEveryContainer) {
  const std::string huge = R"("requests":{"hugepages-2Mi":"4Mi"},"limits":{"hugepages-2Mi":"4Mi"})";
  EXPECT_EQ(filled_in(R"("requests":{"memory":"1Gi"})", list("containers", {huge, ""})),
            R"({"requests":{"memory":"1Gi","hugepages-2Mi":"4Mi"},)"
            R"("limits":{"hugepages-2Mi":"4Mi"}})");
}

TEST(PodLevel, OtherResourcesStayWithTheirContainers) {
  const std::string other = R"("requests":{"example.com/a":"1"},"limits":{"example.com/a":"1"})";
  EXPECT_EQ(filled_in(R"("requests":{"cpu":"1"})", list("containers", {other})),
            R"({"requests":{"cpu":"1"}})");
}

TEST(PodLevel, WhoSaysNothingOfTheWholePodGetsNothing) {
  const std::string containers = list("containers", {kOneCpu});
  EXPECT_EQ(filled_in("", containers), "{}");
  EXPECT_EQ(filled_in(R"("requests":{})", containers), R"({"requests":{}})");
  EXPECT_FALSE(has_pod_level(*api::find_path(pod(containers), "spec")));
}

TEST(PodLevel, IsThereIfSomethingIsSaidOfTheWholePod) {
  const auto has = [](std::string_view resources) {
    return has_pod_level(
        *api::find_path(pod(fmt::format(R"("resources":{{{}}})", resources)), "spec"));
  };
  EXPECT_TRUE(has(R"("requests":{"cpu":"1"})"));
  EXPECT_TRUE(has(R"("limits":{"memory":"1"})"));
  EXPECT_TRUE(has(R"("limits":{"hugepages-2Mi":"1"})"));
  EXPECT_FALSE(has(R"("limits":{"example.com/a":"1"})"));
  EXPECT_FALSE(has(R"("limits":{})"));
}

TEST(QosClass, FollowsWhatIsSaidOfCpuAndMemory) {
  const std::string none;
  const std::string all =
      R"("requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1000m","memory":"1Gi"})";
  const std::string wide =
      R"("requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"})";
  const std::string half = R"("requests":{"cpu":"1"},"limits":{"cpu":"1"})";
  const std::string asks = R"("requests":{"memory":"1Gi"})";
  const std::string zero =
      R"("requests":{"cpu":"0","memory":"0"},"limits":{"cpu":"0","memory":"0"})";
  const std::string other = R"("requests":{"example.com/a":"1"},"limits":{"example.com/a":"1"})";
  struct Case {
    std::string spec;
    std::string_view want;
  };
  for (const Case& one : std::vector<Case>{
           {list("containers", {none, none}), "BestEffort"},
           {list("containers", {zero}), "BestEffort"},
           {list("containers", {other}), "BestEffort"},
           {list("containers", {all, all}), "Guaranteed"},
           {list("containers", {all, none}), "Burstable"},
           {list("containers", {none, all}), "Burstable"},
           {list("containers", {wide}), "Burstable"},
           {list("containers", {half}), "Burstable"},
           {list("containers", {asks}), "Burstable"},
           {list("containers", {R"("limits":{"memory":"1Gi"})"}), "Burstable"},
           {list("containers", {all}) + "," + list("initContainers", {all}), "Guaranteed"},
           {list("containers", {all}) + "," + list("initContainers", {none}), "Burstable"},
           {list("containers", {none}) + "," + list("initContainers", {asks}), "Burstable"},
           {list("containers", {none}) + R"(,"resources":{)" + all + "}", "Guaranteed"},
           {list("containers", {all}) + R"(,"resources":{)" + wide + "}", "Burstable"}})
    EXPECT_EQ(pod_qos_class(pod(one.spec)), one.want) << one.spec;
}

}  // namespace
}  // namespace muster::server
