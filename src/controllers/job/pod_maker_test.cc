#include "controllers/job/pod_maker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

// From the members of its spec and of the template of its pods.
api::ObjectPtr a_job(std::string_view spec,
                     std::string_view pods = R"("spec":{"containers":[{"name":"c","image":"i"}]})",
                     std::string_view name = "j") {
  return api::Object::make(
      *api::find_kind("batch", "Job"),
      parsed(fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"uj"}},)"
                         R"("spec":{{"completions":3,{},"template":{{{}}}}}}})",
                         name, spec, pods)));
}

constexpr std::string_view kIndexed = R"("completionMode":"Indexed")";

// "list/container: NAME=where from" of the environment, one after the other.
std::string environment(const api::Json& pod) {
  std::string out;
  for (const std::string_view list : {"initContainers", "containers"})
    for (const api::Json& container : api::elements(api::part_of(pod, "spec"), list))
      for (const api::Json& variable : api::elements(container, "env"))
        out += fmt::format(
            "{}/{}: {}={}{}; ", list, api::find_string(container, "name"),
            api::find_string(variable, "name"), api::find_string(variable, "value"),
            api::find_string(api::part_of(api::part_of(variable, "valueFrom"), "fieldRef"),
                             "fieldPath"));
  return out;
}

TEST(PodMaker, APodKnowsHowOftenItsIndexHasFailed) {
  const api::ObjectPtr job = a_job(R"("completionMode":"Indexed","backoffLimitPerIndex":5)");
  const api::Json pod =
      PodMaker(*job, "").make({.index = 1, .index_failures = 2, .ignored_index_failures = 3});
  const api::Json& annotations = api::part_of(api::part_of(pod, "metadata"), "annotations");
  EXPECT_EQ(api::find_string(annotations, kCompletionIndex), "1");
  EXPECT_EQ(api::find_string(annotations, kIndexFailures), "2");
  EXPECT_EQ(api::find_string(annotations, kIndexIgnoredFailures), "3");
}

TEST(PodMaker, FailuresOfAnIndexAreNotedOnlyWhereTheyCount) {
  const auto annotations = [](std::string_view spec) {
    const api::Json pod = PodMaker(*a_job(spec), "").make({.index = 1, .index_failures = 2});
    return api::to_text(api::part_of(api::part_of(pod, "metadata"), "annotations"));
  };
  EXPECT_EQ(annotations(kIndexed), fmt::format(R"({{"{}":"1"}})", kCompletionIndex));
  EXPECT_EQ(annotations(R"("completionMode":"Indexed","backoffLimitPerIndex":5)"),
            fmt::format(R"({{"{}":"1","{}":"2"}})", kCompletionIndex, kIndexFailures))
      << "none was ignored";
}

// A name is cut so that the five letters of the server still fit.
TEST(PodMaker, TheNameOfTheJobGivesWayToTheIndex) {
  const auto prefix = [](std::size_t length, std::int32_t index) {
    const api::ObjectPtr job = a_job(kIndexed, R"("spec":{})", std::string(length, 'j'));
    const api::Json pod = PodMaker(*job, "").make({.index = index});
    return std::string(api::find_string(api::part_of(pod, "metadata"), "generateName"));
  };
  EXPECT_EQ(prefix(1, 7), "j-7-");
  EXPECT_EQ(prefix(55, 7), std::string(55, 'j') + "-7-");
  EXPECT_EQ(prefix(56, 7), std::string(55, 'j') + "-7-");
  EXPECT_EQ(prefix(63, 12'345), std::string(51, 'j') + "-12345-");
}

TEST(PodMaker, APodOfAnIndexSaysWhichInItsLabelsItsHostnameAndItsEnvironment) {
  const api::ObjectPtr job = a_job(kIndexed, R"("spec":{
      "initContainers":[{"name":"i","env":[{"name":"A","value":"b"}]}],
      "containers":[{"name":"c"},
                    {"name":"own","env":[{"name":"JOB_COMPLETION_INDEX","value":"mine"}]}]})");
  const api::Json pod = PodMaker(*job, "").make({.index = 2});
  EXPECT_EQ(
      api::find_string(api::part_of(api::part_of(pod, "metadata"), "labels"), kCompletionIndex),
      "2");
  EXPECT_EQ(api::find_string(api::part_of(pod, "spec"), "hostname"), "j-2");
  const std::string from = fmt::format("metadata.labels['{}']", kCompletionIndex);
  EXPECT_EQ(environment(pod), "initContainers/i: A=b; initContainers/i: JOB_COMPLETION_INDEX=" +
                                  from + "; containers/c: JOB_COMPLETION_INDEX=" + from +
                                  "; containers/own: JOB_COMPLETION_INDEX=mine; ");
}

TEST(PodMaker, APodWithoutAnIndexSaysNothingOfIt) {
  const api::Json pod = PodMaker(*a_job(R"("completionMode":"NonIndexed")"), "").make({});
  EXPECT_EQ(api::find_string(api::part_of(pod, "metadata"), "generateName"), "j-");
  EXPECT_EQ(environment(pod), "");
  EXPECT_EQ(api::find_string(api::part_of(pod, "spec"), "hostname"), "");
  EXPECT_EQ(api::find_set(api::part_of(pod, "spec"), "schedulingGroup"), nullptr);
  EXPECT_EQ(api::to_text(api::part_of(api::part_of(pod, "metadata"), "labels")), "{}");
}

TEST(PodMaker, APodIsTrackedOnceAndNamesItsGroup) {
  for (const std::string_view finalizers :
       {R"(["a/b"])", R"(["a/b","batch.kubernetes.io/job-tracking"])"}) {
    const api::ObjectPtr job =
        a_job(kIndexed, fmt::format(R"("metadata":{{"finalizers":{}}},"spec":{{}})", finalizers));
    const api::Json pod = PodMaker(*job, "g").make({.index = 0});
    EXPECT_EQ(api::to_text(*api::find_path(pod, "metadata.finalizers")),
              R"(["a/b","batch.kubernetes.io/job-tracking"])");
    EXPECT_EQ(api::to_text(*api::find_path(pod, "spec.schedulingGroup")),
              R"({"podGroupName":"g"})");
  }
  const api::ObjectPtr chosen =
      a_job(kIndexed, R"("spec":{"schedulingGroup":{"podGroupName":"mine"}})");
  EXPECT_EQ(api::to_text(*api::find_path(PodMaker(*chosen, "").make({}), "spec.schedulingGroup")),
            R"({"podGroupName":"mine"})");
}

}  // namespace
}  // namespace muster::controllers
