#include "explain/edits.h"

#include <gtest/gtest.h>

#include <string>

#include "explain/explain_testing.h"

// Objects after a change that a user can make.
namespace muster::explain {
namespace {

std::string spec_of(const api::ObjectPtr& object) {
  return api::to_text(*api::find(object->document(), "spec"));
}
api::ObjectPtr node_of(const std::string& spec) {
  const auto document = api::parse_json(
      R"({"metadata":{"name":"n1","uid":"u1","labels":{"kubernetes.io/hostname":"n1","rack":"r1"}},"spec":)" +
      spec + R"(,"status":{"allocatable":{"cpu":"8"}}})");
  return api::Object::make(api::kinds::node(), document->value);
}

TEST(Edits, AMinimumIsOfPodsOrOfGroups) {
  EXPECT_EQ(spec_of(with_minimum(*GroupSample{.name = "g", .minimum = 4}.make(), 2)),
            R"({"schedulingPolicy":{"gang":{"minCount":2}},"priority":0})");
  EXPECT_EQ(
      spec_of(with_minimum(*GroupSample{.name = "g", .minimum = 4, .composite = true}.make(), 2)),
      R"({"schedulingPolicy":{"gang":{"minGroupCount":2}},"priority":0})");
}

TEST(Edits, ATopologyKeyIsReplacedOrRemoved) {
  const auto group = GroupSample{.name = "g", .minimum = 4, .key = "rack"}.make();
  EXPECT_EQ(
      spec_of(with_topology(*group, "zone")),
      R"({"schedulingPolicy":{"gang":{"minCount":4}},"schedulingConstraints":{"topology":[{"key":"zone"}]},"priority":0})");
  EXPECT_EQ(
      spec_of(with_topology(*group, "")),
      R"({"schedulingPolicy":{"gang":{"minCount":4}},"schedulingConstraints":{},"priority":0})");
}

TEST(Edits, AnAnnotationIsAddedBesideOthers) {
  const auto group =
      GroupSample{.name = "g", .minimum = 4, .annotations = R"("a":"1","b":"2")"}.make();
  const auto after = with_annotation(*group, "b", "3");
  EXPECT_EQ(*api::lookup(after->meta().annotations, "a"), "1");
  EXPECT_EQ(*api::lookup(after->meta().annotations, "b"), "3");
  EXPECT_EQ(spec_of(after), spec_of(group));
}

TEST(Edits, LabelsAreAddedAndReplaced) {
  const auto after = with_labels(*node_of("{}"), {{"rack", "r2"}, {"pool", "x"}});
  EXPECT_EQ(*api::lookup(after->meta().labels, "rack"), "r2");
  EXPECT_EQ(*api::lookup(after->meta().labels, "pool"), "x");
  EXPECT_EQ(*api::lookup(after->meta().labels, "kubernetes.io/hostname"), "n1");
}

constexpr const char* kTaints =
    R"({"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},)"
    R"({"key":"k","value":"v","effect":"NoSchedule"},{"key":"k","value":"v","effect":"NoExecute"},)"
    R"({"key":"k","value":"w","effect":"NoSchedule"},{"key":"l","value":"v","effect":"NoSchedule"}]})";

TEST(Edits, ANodeThatIsUncordonedKeepsItsOtherTaints) {
  EXPECT_EQ(
      spec_of(uncordoned(*node_of(kTaints))),
      R"({"taints":[{"key":"k","value":"v","effect":"NoSchedule"},{"key":"k","value":"v","effect":"NoExecute"},)"
      R"({"key":"k","value":"w","effect":"NoSchedule"},{"key":"l","value":"v","effect":"NoSchedule"}]})");
  EXPECT_EQ(spec_of(uncordoned(*node_of(R"({"unschedulable":true})"))), "{}")
      << "there was no taint";
}

TEST(Edits, OneTaintGoes) {
  EXPECT_EQ(
      spec_of(untainted(*node_of(kTaints), {"k", "v", api::TaintEffect::NoSchedule})),
      R"({"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},)"
      R"({"key":"k","value":"v","effect":"NoExecute"},{"key":"k","value":"w","effect":"NoSchedule"},{"key":"l","value":"v","effect":"NoSchedule"}]})");
}

TEST(Edits, AnotherNodeIsLikeItButOpenAndOfAnotherName) {
  const auto other = node_like(*node_of(kTaints), "n1-more-1");
  EXPECT_EQ(other->meta().name, "n1-more-1");
  EXPECT_NE(other->meta().uid, "u1");
  EXPECT_EQ(*api::lookup(other->meta().labels, "kubernetes.io/hostname"), "n1-more-1");
  EXPECT_EQ(*api::lookup(other->meta().labels, "rack"), "r1");
  EXPECT_EQ(spec_of(other), spec_of(uncordoned(*node_of(kTaints))));
  EXPECT_EQ(api::to_text(*api::find(other->document(), "status")),
            api::to_text(*api::find(node_of(kTaints)->document(), "status")));
  const auto document = api::parse_json(R"({"metadata":{"name":"bare"}})");
  const auto bare = node_like(*api::Object::make(api::kinds::node(), document->value), "x");
  EXPECT_EQ(api::lookup(bare->meta().labels, "kubernetes.io/hostname"), nullptr) << "it had none";
}

}  // namespace
}  // namespace muster::explain
