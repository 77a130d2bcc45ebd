#include "app/leftovers.h"

#include <gtest/gtest.h>

#include "api/json.h"

namespace muster::app {
namespace {

api::ObjectPtr object_of(const api::Kind& kind, std::string_view json) {
  return api::Object::make(kind, api::parse_json(json).value().value);
}

// What is found, as "subresource body", in order.
std::vector<std::string> found_on(const api::Kind& kind, std::string_view json) {
  const std::vector<std::string> names{"muster", "batch"};
  const api::ObjectPtr object = object_of(kind, json);
  std::vector<std::string> out;
  for (const Leftover& leftover : leftovers_on(*object, names)) {
    EXPECT_EQ(leftover.request.name, object->meta().name);
    EXPECT_EQ(leftover.request.name_space, object->meta().name_space);
    out.push_back(leftover.request.subresource + " " + api::to_text(leftover.request.body));
  }
  return out;
}

TEST(LeftoversTest, NothingOnObjectsThatOnlyOthersWrote) {
  EXPECT_TRUE(found_on(api::kinds::pod(), R"({"metadata": {"name": "a", "namespace": "x",
    "annotations": {"example.com/muster.dev": "1", "notmuster.dev/x": "1", "muster.dev": "1"},
    "finalizers": ["batch.kubernetes.io/job-tracking"]},
    "status": {"conditions": [{"type": "PodScheduled", "status": "True"}]}})")
                  .empty());
}

TEST(LeftoversTest, OnlyOurItemsGoTheLastOneFirst) {
  const std::vector<std::string> found =
      found_on(api::kinds::composite_pod_group(), R"({"metadata": {"name": "a", "namespace": "x",
    "finalizers": ["scheduling.muster.dev/compositepodgroup-protection", "other/x", "muster.dev/y"]}})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], R"( [{"op":"test","path":"/metadata/finalizers/2","value":"muster.dev/y"},)"
                      R"({"op":"remove","path":"/metadata/finalizers/2"},)"
                      R"({"op":"test","path":"/metadata/finalizers/0",)"
                      R"("value":"scheduling.muster.dev/compositepodgroup-protection"},)"
                      R"({"op":"remove","path":"/metadata/finalizers/0"}])");
}

TEST(LeftoversTest, StatusFirstAndFinalizersLast) {
  const std::vector<std::string> found =
      found_on(api::kinds::pod_group(), R"({"metadata": {"name": "a", "namespace": "x",
    "annotations": {"scheduling.muster.dev/expected-pods": "4", "mine": "1"},
    "finalizers": ["scheduling.muster.dev/z"]},
    "status": {"conditions": [{"type": "PodGroupInitiallyScheduled", "status": "True"},
                              {"type": "scheduling.muster.dev/MinimumMet", "status": "True"}]}})");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], R"(status [{"op":"test","path":"/status/conditions/1/type",)"
                      R"("value":"scheduling.muster.dev/MinimumMet"},)"
                      R"({"op":"remove","path":"/status/conditions/1"}])");
  EXPECT_EQ(found[1],
            R"( {"metadata":{"annotations":{"scheduling.muster.dev/expected-pods":null}}})");
  EXPECT_NE(found[2].find("/metadata/finalizers/0"), std::string::npos);
}

TEST(LeftoversTest, WhatPodsSayToAutoscalers) {
  EXPECT_EQ(found_on(api::kinds::pod(), R"({"metadata": {"name": "a", "namespace": "x"},
    "status": {"conditions": [{"type": "PodScheduled", "status": "False"},
                              {"type": "scheduling.muster.dev/WaitsFor", "status": "True"}]}})"),
            std::vector<std::string>{R"(status [{"op":"test","path":"/status/conditions/1/type",)"
                                     R"("value":"scheduling.muster.dev/WaitsFor"},)"
                                     R"({"op":"remove","path":"/status/conditions/1"}])"});
}

TEST(LeftoversTest, NominationsOfPodsWithoutANodeThatWeServed) {
  const std::string gone = R"(status {"status":{"nominatedNodeName":null}})";
  EXPECT_EQ(found_on(api::kinds::pod(), R"({"metadata": {"name": "a", "namespace": "x"},
    "spec": {"schedulerName": "batch"}, "status": {"nominatedNodeName": "n"}})"),
            std::vector{gone});
  EXPECT_TRUE(found_on(api::kinds::pod(), R"({"metadata": {"name": "a", "namespace": "x"},
    "spec": {"schedulerName": "default-scheduler"}, "status": {"nominatedNodeName": "n"}})")
                  .empty());
  EXPECT_TRUE(found_on(api::kinds::pod(), R"({"metadata": {"name": "a", "namespace": "x"},
    "spec": {"schedulerName": "muster", "nodeName": "m"}, "status": {"nominatedNodeName": "n"}})")
                  .empty());
}

}  // namespace
}  // namespace muster::app
