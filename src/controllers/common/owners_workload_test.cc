#include "controllers/common/owners_workload.h"

#include <gtest/gtest.h>

#include "controllers/common/objects_testing.h"
#include "controllers/common/owners.h"
#include "controllers/common/testing_texts.h"

namespace muster::controllers {
namespace {

api::ObjectPtr workload(std::string_view name, std::string_view spec = "") {
  return make_object(
      api::kinds::workload(),
      fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"}},"spec":{{{}}}}})", name, spec));
}

TEST(OwnersWorkload, IsFoundByTheObjectThatItNames) {
  std::vector<std::string> terms;
  index_by_root(*workload("w", R"("controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"})"),
                terms);
  EXPECT_EQ(terms, Texts{"ns/batch/Job/j"});
  EXPECT_EQ(
      workload_term("ns", {.api_version = "batch/v1", .kind = "Job", .name = "j", .uid = "uj"}),
      terms[0]);
  EXPECT_EQ(workload_term("ns", "batch", "Job", "j"), terms[0]);
  terms.clear();
  index_by_root(*workload("w"), terms);
  EXPECT_EQ(terms, Texts{}) << "it names nobody";
}

TEST(OwnersWorkload, ThereMustBeExactlyOne) {
  const api::OwnerReference owner{
      .api_version = "batch/v1", .kind = "Job", .name = "j", .uid = "uj"};
  EXPECT_EQ(owners_workload(owner, {}).found, nullptr);
  EXPECT_EQ(owners_workload(owner, {}).why_not, "There is no Workload of Job j yet");
  const auto one = workload("a");
  EXPECT_EQ(owners_workload(owner, {one}).found, one);
  EXPECT_EQ(owners_workload(owner, {one}).why_not, "");
  const OwnersWorkload two = owners_workload(owner, {one, workload("b")});
  EXPECT_EQ(two.found, nullptr);
  EXPECT_EQ(two.why_not, "Several Workloads refer to Job j: a, b");
}

TEST(Owners, TheOneThatControlsCounts) {
  const auto pod =
      make_object(api::kinds::pod(),
                  R"({"metadata":{"name":"p","namespace":"ns","uid":"up","ownerReferences":[
          {"apiVersion":"v1","kind":"ConfigMap","name":"guest","uid":"ug"},
          {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"us","controller":true}]}})");
  ASSERT_NE(controller_of(*pod), nullptr);
  EXPECT_EQ(controller_of(*pod)->uid, "us");
  EXPECT_TRUE(is_controlled_by(*pod, "us"));
  EXPECT_FALSE(is_controlled_by(*pod, "ug"));
  EXPECT_EQ(group_of("batch/v1"), "batch");
  EXPECT_EQ(group_of("v1"), "");
}

}  // namespace
}  // namespace muster::controllers
