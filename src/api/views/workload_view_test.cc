#include "api/views/workload_view.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(WorkloadView, ReadsOwnerAndTemplatesAtAnyDepth) {
  const auto document = parse_json(R"({"metadata":{"name":"w"},"spec":{
    "controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"},
    "compositePodGroupTemplates":[{"name":"root","schedulingPolicy":{"gang":{"minGroupCount":2}},
      "podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":4}}},
                           {"name":"b","schedulingPolicy":{"basic":{}}}]}]}})");
  const auto workload = Object::make(kinds::workload(), document->value);
  const auto& view = workload->view<WorkloadView>();
  EXPECT_EQ(view.owner_group + "/" + view.owner_kind + "/" + view.owner_name, "batch/Job/j");
  ASSERT_EQ(view.templates.size(), 3U);
  EXPECT_TRUE(view.templates[0].composite && view.templates[0].gang);
  EXPECT_EQ(view.templates[0].minimum, 2);
  EXPECT_EQ(view.find("a")->minimum, 4);
  EXPECT_EQ(view.find("a")->depth, 1U);
  EXPECT_FALSE(view.find("b")->gang);
  EXPECT_EQ(view.find("c"), nullptr);
  EXPECT_EQ(view.first_leaf()->name, "a");
}

}  // namespace
}  // namespace muster::api
