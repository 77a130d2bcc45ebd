#include "api/views/node_view.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(NodeView, ReadsWhatTheSchedulerAsksFor) {
  const auto parsed = parse_json(R"({"spec":{"unschedulable":true,"taints":[
      {"key":"k","value":"v","effect":"NoExecute"},{"key":"soft","effect":"PreferNoSchedule"}]},
    "status":{"capacity":{"cpu":"64"},"allocatable":{"cpu":"3920m","memory":"8Gi","pods":"110","nvidia.com/gpu":"8"},
      "images":[{"names":["a:1","a@sha256:0"],"sizeBytes":1000}],
      "conditions":[{"type":"Ready","status":"True"}]}})");
  const auto view = NodeView::of(parsed->value);
  EXPECT_TRUE(view->unschedulable);
  EXPECT_EQ(view->taints, (std::vector<Taint>{{"k", "v", TaintEffect::NoExecute},
                                              {"soft", "", TaintEffect::PreferNoSchedule}}));
  EXPECT_EQ(view->allocatable.cpu_milli, 3920);
  EXPECT_EQ(view->allocatable.memory, std::int64_t{8} << 30);
  EXPECT_EQ(view->allocatable_pods, 110);
  EXPECT_EQ(view->allocatable.of("nvidia.com/gpu"), 8);
  ASSERT_EQ(view->images.size(), 1u);
  EXPECT_EQ(view->images[0].names.size(), 2u);
  EXPECT_EQ(view->images[0].size_bytes, 1000);
  EXPECT_EQ(lookup(view->conditions, "Ready")->status, "True");
}

TEST(NodeView, ANodeWithoutAllocatableTakesNothing) {
  const auto parsed = parse_json(R"({"metadata":{"name":"n"}})");
  const auto view = NodeView::of(parsed->value);
  EXPECT_EQ(view->allocatable, Amounts{});
  EXPECT_EQ(view->allocatable_pods, 0);
}

}  // namespace
}  // namespace muster::api
