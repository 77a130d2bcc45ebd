#include "explain/roots.h"

#include <gtest/gtest.h>

#include "explain/explain_testing.h"

namespace muster::explain {
namespace {

api::ObjectPtr workload(std::string_view name, std::string_view kind, std::string_view owner) {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{"controllerRef":{{"apiGroup":"jobset.x-k8s.io","kind":"{}","name":"{}"}}}}}})",
      name, kind, owner));
  return api::Object::make(api::kinds::workload(), document->value);
}

std::string found(const Objects& objects, std::string_view name) {
  const auto roots =
      root_groups(objects, {"jobset.x-k8s.io", "JobSet", "default", std::string(name)});
  if (!roots) return roots.error().message;
  std::string out;
  for (const GroupKey& root : *roots) out += root.name + " ";
  return out;
}

TEST(Roots, AreTheTopmostGroupsOfTheWorkload) {
  Objects objects;
  objects.workloads = {workload("w", "JobSet", "js"), workload("x", "JobSet", "other"),
                       workload("y", "Job", "js")};
  EXPECT_EQ(found(objects, "js"), "JobSet js has a Workload (w) and no groups yet");
  for (const GroupSample& group :
       {GroupSample{.name = "root", .minimum = 2, .workload = "w", .composite = true},
        GroupSample{.name = "leaf", .parent = "root", .workload = "w"},
        GroupSample{.name = "another", .workload = "x"},
        GroupSample{.name = "flat", .workload = "w"},
        GroupSample{.name = "of-a-job", .workload = "y"}})
    objects.groups.push_back(group.make());
  EXPECT_EQ(found(objects, "js"), "flat root ");
  EXPECT_EQ(found(objects, "other"), "another ");
  EXPECT_TRUE(found(objects, "nobody").starts_with("JobSet nobody in namespace default has no"));
}

TEST(Roots, OfAnOwnersWorkloadAreThoseThatItsOwnControllerMade) {
  Objects objects;
  objects.workloads = {workload("w", "Ensemble", "e")};
  for (const GroupSample& group :
       {GroupSample{.name = "root", .minimum = 2, .workload = "w", .composite = true},
        GroupSample{.name = "ours-10", .parent = "root", .workload = "w", .maker = "JobSet"},
        GroupSample{.name = "ours-9", .parent = "root", .workload = "w", .maker = "JobSet"},
        GroupSample{.name = "others", .parent = "root", .workload = "w", .maker = "Job"}})
    objects.groups.push_back(group.make());
  EXPECT_EQ(found(objects, "maker"), "ours-9 ours-10 ");
}

}  // namespace
}  // namespace muster::explain
