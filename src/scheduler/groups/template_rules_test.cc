#include "scheduler/groups/template_rules.h"

#include <gtest/gtest.h>

#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

WorkloadTemplates shape() {
  const auto document = api::parse_json(R"({
      "metadata": {"name": "w", "namespace": "ns"},
      "spec": {"compositePodGroupTemplates": [
        {"name": "root", "podGroupTemplates": [{"name": "side"}],
         "compositePodGroupTemplates": [
           {"name": "replica", "podGroupTemplates": [{"name": "prefill"}, {"name": "decode"}]}]}]}})");
  return WorkloadTemplates::read(*api::Object::make(api::kinds::workload(), document->value));
}

GroupSpec made_from(GroupKind kind, const std::string& name, const std::string& from) {
  GroupSpec group;
  group.key = {kind, "ns", name};
  group.workload = "w";
  group.template_name = from;
  return group;
}

TEST(TemplateRules, ComparesKindAndNesting) {
  const GroupSpec root = made_from(GroupKind::CompositePodGroup, "r", "root");
  const GroupSpec replica = made_from(GroupKind::CompositePodGroup, "r-0", "replica");
  const GroupSpec leaf = made_from(GroupKind::PodGroup, "p-0", "prefill");
  struct Case {
    GroupSpec group;
    const GroupSpec* parent;
    std::string want;
  };
  const Case cases[] = {
      {root, nullptr, ""},
      {replica, &root, ""},
      {leaf, &replica, ""},
      {made_from(GroupKind::PodGroup, "s", "side"), &root, ""},
      {made_from(GroupKind::PodGroup, "x", "nope"), &replica,
       R"(PodGroup "x" names template "nope", which Workload "w" does not have)"},
      {made_from(GroupKind::PodGroup, "x", "replica"), &root,
       "PodGroup \"x\" names template \"replica\" of Workload \"w\", which is for a "
       "CompositePodGroup"},
      {made_from(GroupKind::CompositePodGroup, "x", "prefill"), &replica,
       "CompositePodGroup \"x\" names template \"prefill\" of Workload \"w\", which is for a "
       "PodGroup"},
      {leaf, &root,
       "PodGroup \"p-0\" is below \"root\", but template \"prefill\" of Workload \"w\" is below "
       "\"replica\""},
      {leaf, nullptr,
       "PodGroup \"p-0\" is a root, but template \"prefill\" of Workload \"w\" is below "
       "\"replica\""},
      {root, &root,
       R"(CompositePodGroup "r" is below "root", but template "root" of Workload "w" is a root)"},
  };
  for (const Case& c : cases) EXPECT_EQ(template_fault(c.group, c.parent, shape()), c.want);
}

TEST(TemplateRules, ATemplateAtTheTopIsForARoot) {
  const auto document = api::parse_json(R"({
      "metadata": {"name": "w", "namespace": "ns"},
      "spec": {"podGroupTemplates": [{"name": "gang"}, {"name": "other"}]}})");
  const WorkloadTemplates flat =
      WorkloadTemplates::read(*api::Object::make(api::kinds::workload(), document->value));
  const GroupSpec root = made_from(GroupKind::CompositePodGroup, "r", "root");
  const GroupSpec gang = made_from(GroupKind::PodGroup, "g", "gang");
  EXPECT_EQ(template_fault(gang, nullptr, flat), "");
  EXPECT_EQ(template_fault(made_from(GroupKind::PodGroup, "g", "other"), nullptr, flat), "");
  EXPECT_EQ(template_fault(gang, &root, flat),
            R"(PodGroup "g" is below "root", but template "gang" of Workload "w" is a root)");
}

}  // namespace
}  // namespace muster::scheduler
