#include "api/views/pod_view.h"

#include <gtest/gtest.h>

#include "api/json.h"

namespace muster::api {
namespace {

std::unique_ptr<PodView> view_of(std::string_view json) {
  const auto parsed = parse_json(json);
  EXPECT_TRUE(parsed.has_value()) << json;
  return PodView::of(parsed->value);
}

constexpr std::int64_t kMi = std::int64_t{1024} * 1024;

struct Case {
  const char* name;
  const char* pod;
  std::int64_t cpu_milli;
  std::int64_t memory;
};

// Sums of containers, init containers, sidecars, pod-level requests and overhead.
TEST(PodView, B1ToB6SumsRequestsAsUpstreamDoes) {
  const Case cases[] = {
      {"B1",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"2","memory":"1G"}}},
           {"name":"b","resources":{"requests":{"cpu":"1","memory":"1G"}}}],
           "initContainers":[{"name":"i","resources":{"requests":{"cpu":"2","memory":"1G"}}},
           {"name":"j","resources":{"requests":{"cpu":"2","memory":"3G"}}}]}})",
       3000, 3000000000},
      {"B2",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"256Mi"}}}],
           "initContainers":[
           {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}},
           {"name":"i","resources":{"requests":{"cpu":"800m","memory":"100Mi"}}},
           {"name":"t","restartPolicy":"Always","resources":{"requests":{"cpu":"200m","memory":"32Mi"}}}]}})",
       900, 352 * kMi},
      {"B3",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}],"initContainers":[
           {"name":"i","resources":{"requests":{"cpu":"1000m"}}},
           {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"300m"}}}]}})",
       1000, 0},
      {"B4",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}],"initContainers":[
           {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"300m"}}},
           {"name":"i","resources":{"requests":{"cpu":"1000m"}}}]}})",
       1300, 0},
      {"B5",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"250m","memory":"128Mi"}}}],
           "overhead":{"cpu":"50m","memory":"16Mi"}}})",
       300, 144 * kMi},
      {"B6",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"250m","memory":"128Mi"}}},
           {"name":"b","resources":{"requests":{"cpu":"250m"}}}],
           "resources":{"requests":{"cpu":"1"}},"overhead":{"cpu":"100m"}}})",
       1100, 128 * kMi},
  };
  for (const Case& c : cases) {
    const auto view = view_of(c.pod);
    EXPECT_EQ(view->needs.requests.cpu_milli, c.cpu_milli) << c.name;
    EXPECT_EQ(view->needs.requests.memory, c.memory) << c.name;
    EXPECT_EQ(view->needs.usage, view->needs.requests) << c.name;
  }
}

TEST(PodView, B7ToB9GivesContainersWithoutRequestsADefaultForScores) {
  const Case cases[] = {
      {"B7",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b","resources":{"requests":{"cpu":"50m"}}}]}})",
       150, 400 * kMi},
      {"B8",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"0","memory":"0"}}}]}})",
       0, 0},
      {"B9", R"({"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i"}]}})", 100,
       200 * kMi},
  };
  for (const Case& c : cases) {
    const auto view = view_of(c.pod);
    EXPECT_EQ(view->needs.score_cpu_milli, c.cpu_milli) << c.name;
    EXPECT_EQ(view->needs.score_memory, c.memory) << c.name;
    EXPECT_EQ(view->needs.nonzero_cpu_milli, c.cpu_milli) << c.name;
    EXPECT_EQ(view->needs.nonzero_memory, c.memory) << c.name;
  }
}

TEST(PodView, IgnoresPodLevelRequestsInScoresOnly) {
  const auto view = view_of(
      R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"250m"}}}],
          "resources":{"requests":{"cpu":"1"}}}})");
  EXPECT_EQ(view->needs.score_cpu_milli, 250);
  EXPECT_EQ(view->needs.nonzero_cpu_milli, 1000);
  EXPECT_EQ(view->needs.nonzero_memory, 200 * kMi);  // nobody names memory, so it is defaulted
}

// Huge pages are the only scalars that a pod may request as a whole. What containers request counts
// for scores; all the rest is as requested.
TEST(PodView, ScoresCountTheHugePagesOfContainers) {
  const auto view = view_of(
      R"({"spec":{"containers":[{"name":"a","resources":{"requests":{
            "hugepages-2Mi":"4Mi","example.com/gpu":"2"}}}],
          "resources":{"requests":{"hugepages-2Mi":"16Mi","hugepages-1Gi":"1Gi"}}}})");
  EXPECT_EQ(view->needs.requests.of("hugepages-2Mi"), 16 * kMi);
  EXPECT_EQ(view->needs.scored("hugepages-2Mi"), 4 * kMi);
  EXPECT_EQ(view->needs.scored("hugepages-1Gi"), 0) << "no container requests any";
  EXPECT_EQ(view->needs.scored("example.com/gpu"), 2);
  EXPECT_EQ(view->needs.scored("cpu"), 100);
  EXPECT_EQ(view->needs.scored("memory"), 200 * kMi);
}

TEST(PodView, B10ToB12CountsAPodUnderResizeByItsLargestForm) {
  const Case cases[] = {
      {"B10",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1000m"}}}]},
           "status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1500m"},
           "resources":{"requests":{"cpu":"1200m"}}}]}})",
       1500, 0},
      {"B11",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"4000m"}}}]},
           "status":{"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],
           "containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1500m"},
           "resources":{"requests":{"cpu":"1200m"}}}]}})",
       1500, 0},
      {"B12",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1000m"}}},
           {"name":"b","resources":{"requests":{"cpu":"200m"}}}]},
           "status":{"containerStatuses":[
           {"name":"a","allocatedResources":{"cpu":"400m"},"resources":{"requests":{"cpu":"400m"}}},
           {"name":"b","allocatedResources":{"cpu":"900m"},"resources":{"requests":{"cpu":"900m"}}}]}})",
       1300, 0},
  };
  for (const Case& c : cases)
    EXPECT_EQ(view_of(c.pod)->needs.usage.cpu_milli, c.cpu_milli) << c.name;
}

TEST(PodView, ReadsWhatTheSchedulerAsksFor) {
  const auto view = view_of(R"({
    "metadata":{"name":"p","namespace":"n"},
    "spec":{"schedulerName":"s","priority":7,"preemptionPolicy":"Never","nodeSelector":{"b":"2","a":"1"},
      "schedulingGates":[{"name":"g1"},{"name":"g2"}],"schedulingGroup":{"podGroupName":"gang"},
      "tolerations":[{"key":"k","operator":"Exists"},{"key":"a","value":"v","effect":"NoSchedule"}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"x","operator":"In","values":["1","2"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{"matchFields":[
        {"key":"metadata.name","operator":"In","values":["n1"]}]}}]}},
      "containers":[{"name":"c","image":"reg:5000/app","ports":[{"containerPort":80,"hostPort":8080}],
        "resources":{"requests":{"nvidia.com/gpu":"8","storage":"1","hugepages-2Mi":"4Mi"}}}]},
    "status":{"phase":"Pending","nominatedNodeName":"n9",
      "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m"}]}})");
  EXPECT_EQ(view->scheduler_name, "s");
  EXPECT_EQ(view->priority, 7);
  EXPECT_TRUE(view->never_preempts);
  EXPECT_EQ(view->scheduling_gates, (std::vector<std::string>{"g1", "g2"}));
  EXPECT_EQ(view->scheduling_group, "gang");
  EXPECT_EQ(view->nominated_node, "n9");
  EXPECT_EQ(view->needs.node_selector, (StringPairs{{"a", "1"}, {"b", "2"}}));
  ASSERT_EQ(view->needs.tolerations.size(), 2u);
  EXPECT_EQ(view->needs.tolerations[0].key, "a");
  ASSERT_EQ(view->needs.required.size(), 1u);
  EXPECT_EQ(view->needs.required[0].expressions[0].op, SelectorOperator::In);
  ASSERT_EQ(view->needs.preferred.size(), 1u);
  EXPECT_EQ(view->needs.preferred[0].weight, 5);
  EXPECT_EQ(view->images, (std::vector<std::string>{"reg:5000/app:latest"}));
  EXPECT_EQ(view->needs.host_ports, (std::vector<HostPort>{{"0.0.0.0", "TCP", 8080}}));
  EXPECT_EQ(view->needs.requests.of("nvidia.com/gpu"), 8);
  EXPECT_EQ(view->needs.requests.of("hugepages-2Mi"), 4 * kMi);
  EXPECT_EQ(view->needs.requests.of("storage"), 0);
  EXPECT_EQ(view->condition("PodScheduled")->reason, "Unschedulable");
  EXPECT_FALSE(view->is_terminal());
}

TEST(PodView, EqualNeedsHashEqually) {
  const char* const one =
      R"({"metadata":{"name":"a"},"spec":{"priority":1,"containers":[{"name":"x","image":"i",
      "resources":{"requests":{"cpu":"1000m"}}}]}})";
  const char* const same =
      R"({"metadata":{"name":"b"},"spec":{"priority":2,"containers":[{"name":"y","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}})";
  const char* const other =
      R"({"metadata":{"name":"c"},"spec":{"containers":[{"name":"y","image":"i",
      "resources":{"requests":{"cpu":"2"}}}]}})";
  EXPECT_EQ(view_of(one)->needs, view_of(same)->needs);
  EXPECT_EQ(view_of(one)->needs_hash, view_of(same)->needs_hash);
  EXPECT_NE(view_of(one)->needs_hash, view_of(other)->needs_hash);
}

}  // namespace
}  // namespace muster::api
