#include "controllers/job/pod_maker.h"

#include <gtest/gtest.h>

#include "api/reading.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

TEST(PodMaker, APodKnowsHowOftenItsIndexHasFailed) {
  const api::ObjectPtr job = api::Object::make(
      *api::find_kind("batch", "Job"),
      parsed(R"({"metadata":{"name":"j","namespace":"ns","uid":"uj"},"spec":{"completions":3,
          "completionMode":"Indexed","backoffLimitPerIndex":5,
          "template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  const api::Json pod =
      PodMaker(*job, "").make({.index = 1, .index_failures = 2, .ignored_index_failures = 3});
  const api::Json& annotations = api::part_of(api::part_of(pod, "metadata"), "annotations");
  EXPECT_EQ(api::find_string(annotations, kCompletionIndex), "1");
  EXPECT_EQ(api::find_string(annotations, kIndexFailures), "2");
  EXPECT_EQ(api::find_string(annotations, kIndexIgnoredFailures), "3");
}

}  // namespace
}  // namespace muster::controllers
