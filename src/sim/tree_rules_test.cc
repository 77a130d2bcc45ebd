#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/json.h"
#include "api/views/condition.h"
#include "api/views/pod_view.h"
#include "sim/world.h"

// What users see of trees that are wrong, from the API's side: conditions and events.
namespace muster::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class TreeRules : public ::testing::Test {
 protected:
  TreeRules() : world_(options()) { world_.run_until_idle(); }

  static World::Options options() {
    World::Options options;
    options.shape.pools.push_back({.racks_per_block = 2,
                                   .nodes_per_rack = 2,
                                   .resources = parse_resources("cpu=8,memory=8Gi").value()});
    return options;
  }

  void create(const api::Kind& kind, std::string_view json) {
    const auto parsed = api::parse_json(json);
    ASSERT_TRUE(parsed) << json;
    const std::string name_space = kind.namespaced ? "default" : "";
    const auto answer = world_.ask(client::create_request(kind, name_space, parsed->value));
    ASSERT_TRUE(answer) << answer.error().message;
    world_.run_until_idle();
  }
  void composite(const std::string& name, const std::string& parent = "",
                 const std::string& more = "", const std::string& from = "t") {
    create(api::kinds::composite_pod_group(),
           fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{}
             "workloadRef":{{"workloadName":"w","templateName":"{}"}},{}
             "schedulingPolicy":{{"basic":{{}}}}}}}})",
                       name, named("parentCompositePodGroupName", parent), from, more));
  }
  void leaf(const std::string& name, const std::string& parent = "", const std::string& more = "",
            const std::string& from = "t", const std::string& workload = "w") {
    create(api::kinds::pod_group(),
           fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{}
             "workloadRef":{{"workloadName":"{}","templateName":"{}"}},{}
             "schedulingPolicy":{{"gang":{{"minCount":1}}}}}}}})",
                       name, named("parentCompositePodGroupName", parent), workload, from, more));
  }
  void pod(const std::string& name, const std::string& group, const std::string& more = "") {
    create(api::kinds::pod(), fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},
             "spec":{{"schedulingGroup":{{"podGroupName":"{}"}},{}
             "containers":[{{"name":"main","image":"app:1","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}})",
                                          name, group, more));
  }
  void remove(const api::Kind& kind, const std::string& name) {
    const api::ObjectPtr object = world_.get(kind, "default", name);
    ASSERT_NE(object, nullptr) << name;
    ASSERT_TRUE(world_.ask(client::delete_request(*object, 0)));
    world_.run_until_idle();
  }

  // "False/Invalid: …", or "" without the condition.
  std::string condition(const api::Kind& kind, const std::string& name) const {
    const api::ObjectPtr object = world_.get(kind, "default", name);
    if (object == nullptr) return "(gone)";
    const std::string type = kind.kind + "InitiallyScheduled";
    for (const api::Condition& found : api::read_conditions(object->document()))
      if (found.type == type) return found.status + "/" + found.reason + ": " + found.message;
    return "";
  }
  std::string of_leaf(const std::string& name) const {
    return condition(api::kinds::pod_group(), name);
  }
  std::string of_composite(const std::string& name) const {
    return condition(api::kinds::composite_pod_group(), name);
  }
  // The messages of Warning events about an object, in the order of the store.
  std::vector<std::string> warnings(const std::string& kind, const std::string& name) const {
    std::vector<std::string> out;
    for (const api::ObjectPtr& event :
         world_.store().list(api::kinds::event().store_prefix + "/default/").objects) {
      const api::Json document = event->document();
      const api::Json* about = api::find(document, "involvedObject");
      if (about != nullptr && api::find_string(*about, "kind") == kind &&
          api::find_string(*about, "name") == name &&
          api::find_string(document, "type") == "Warning")
        out.emplace_back(api::find_string(document, "message"));
    }
    return out;
  }
  std::string node_of(const std::string& pod) const {
    const api::ObjectPtr object = world_.get(api::kinds::pod(), "default", pod);
    return object == nullptr ? "(gone)" : object->view<api::PodView>().node_name;
  }
  static std::string named(std::string_view member, const std::string& value) {
    return value.empty() ? "" : fmt::format(R"("{}":"{}",)", member, value);
  }

  World world_;
  using Texts = std::vector<std::string>;
};

TEST_F(TreeRules, ACircleIsInvalidUntilItIsBroken) {
  leaf("fine");
  composite("a", "b");
  leaf("p", "a");
  pod("p-0", "p");
  EXPECT_EQ(of_composite("a"), "") << "its parent is missing, no more";
  composite("b", "a");
  const std::string why = R"(cycle detected in composite pod group hierarchy: "a" -> "b" -> "a")";
  for (const std::string& name : {std::string("a"), std::string("b")})
    EXPECT_EQ(of_composite(name), "False/Invalid: " + why);
  EXPECT_EQ(of_leaf("p"), "False/Invalid: " + why);
  EXPECT_EQ(warnings("Pod", "p-0"), Texts{why});
  pod("p-1", "p");
  EXPECT_EQ(warnings("Pod", "p-1"), Texts{why}) << "who joins later gets one, too";

  pod("fine-0", "fine");
  EXPECT_NE(node_of("fine-0"), "") << "trees beside it go on";
  EXPECT_EQ(of_leaf("fine"), "True/Scheduled: ");

  // Groups in a circle do not protect each other.
  remove(api::kinds::composite_pod_group(), "b");
  EXPECT_EQ(of_composite("b"), "(gone)");
  EXPECT_EQ(of_composite("a"), "");
  EXPECT_EQ(of_leaf("p"), "");
  composite("b");
  EXPECT_NE(node_of("p-0"), "") << "the tree has a root again";
  EXPECT_EQ(of_composite("b"), "True/Scheduled: ");
}

TEST_F(TreeRules, TooManyLevelsAreInvalidWithoutAnyPod) {
  composite("l1");
  composite("l2", "l1");
  composite("l3", "l2");
  composite("l4", "l3");
  EXPECT_EQ(of_composite("l1"), "");
  leaf("l5", "l4");
  const std::string want =
      "False/Invalid: exceeded maximum hierarchy depth at pod group \"l5\": it is at level 5 below "
      "\"l1\", 4 are allowed";
  for (const std::string& name : {std::string("l1"), std::string("l4")})
    EXPECT_EQ(of_composite(name), want);
  EXPECT_EQ(of_leaf("l5"), want);
  remove(api::kinds::pod_group(), "l5");
  EXPECT_EQ(of_composite("l1"), "");
}

TEST_F(TreeRules, OnePriorityAndOneWorkloadPerTree) {
  create(api::kinds::priority_class(), R"({"metadata":{"name":"seven"},"value":7})");
  composite("r");
  leaf("a", "r");
  pod("a-0", "a", R"("nodeSelector":{"not":"there"},)");
  leaf("b", "r", R"("priorityClassName":"seven",)");
  const std::string priorities =
      "False/Invalid: all groups of a tree should have the same priority, pod group \"b\" has 7 "
      "and "
      "its root \"r\" has 0";
  EXPECT_EQ(of_composite("r"), priorities);
  EXPECT_EQ(of_leaf("a"), priorities);
  EXPECT_EQ(of_leaf("b"), priorities);
  remove(api::kinds::pod_group(), "b");
  leaf("c", "r", "", "t", "other");
  const std::string workloads =
      "False/Invalid: all groups of a tree should belong to the same Workload, pod group \"c\" "
      "belongs to \"other\" and its root \"r\" to \"w\"";
  EXPECT_EQ(of_composite("r"), workloads);
  EXPECT_EQ(of_leaf("a"), workloads);
  EXPECT_EQ(of_leaf("c"), workloads);
}

TEST_F(TreeRules, AfterTrueAViolationIsAnEventAndNewPodsWait) {
  composite("r");
  leaf("a", "r");
  pod("a-0", "a");
  ASSERT_EQ(of_leaf("a"), "True/Scheduled: ");
  leaf("b", "r", "", "t", "other");
  pod("a-1", "a");
  const std::string why =
      "all groups of a tree should belong to the same Workload, pod group \"b\" belongs to "
      "\"other\" and its root \"r\" to \"w\"";
  EXPECT_EQ(of_leaf("a"), "True/Scheduled: ");
  EXPECT_EQ(of_composite("r"), "True/Scheduled: ");
  EXPECT_EQ(of_leaf("b"), "False/Invalid: " + why);
  EXPECT_EQ(warnings("PodGroup", "a"), Texts{why});
  EXPECT_EQ(warnings("CompositePodGroup", "r"), Texts{why});
  EXPECT_EQ(warnings("Pod", "a-1"), Texts{why});
  EXPECT_EQ(node_of("a-1"), "");
  remove(api::kinds::pod_group(), "b");
  EXPECT_NE(node_of("a-1"), "") << "repaired, it goes on at once";
}

TEST_F(TreeRules, PodsThatDisagreeWithTheirGroupAreAnError) {
  create(api::kinds::priority_class(), R"({"metadata":{"name":"seven"},"value":7})");
  create(api::kinds::priority_class(),
         R"({"metadata":{"name":"polite"},"value":0,"preemptionPolicy":"Never"})");
  struct Case {
    std::string name, pod, want;
  };
  const Case cases[] = {
      {"priority", R"("priorityClassName":"seven",)",
       "all pods in a single pod group should have the same priority as the pod group's priority, "
       "got 7 and 0"},
      {"policy", R"("priorityClassName":"polite",)",
       "all pods in a single pod group should have the same preemption policy as the pod group's "
       "preemption policy, got Never and PreemptLowerPriority"},
      {"scheduler", R"("schedulerName":"other",)",
       "all pods in a single pod group should have the same .spec.schedulerName set, got: "
       "\"default-scheduler\" and \"other\""}};
  for (const Case& c : cases) {
    pod(c.name + "-0", c.name, c.pod);
    pod(c.name + "-1", c.name);
    leaf(c.name);
    EXPECT_EQ(of_leaf(c.name), "False/SchedulerError: " + c.want);
    EXPECT_EQ(node_of(c.name + "-1"), "");
    EXPECT_EQ(warnings("Pod", c.name + "-1").back(), c.want);
    remove(api::kinds::pod(), c.name + "-0");
    world_.advance(seconds{30});
    EXPECT_NE(node_of(c.name + "-1"), "") << c.name;
    EXPECT_EQ(of_leaf(c.name), "True/Scheduled: ");
    // Once scheduled, a member that disagrees shows in events alone.
    pod(c.name + "-2", c.name, c.pod);
    pod(c.name + "-3", c.name);
    EXPECT_EQ(of_leaf(c.name), "True/Scheduled: ");
    EXPECT_EQ(warnings("PodGroup", c.name).back(), c.want);
    EXPECT_EQ(node_of(c.name + "-3"), "");
  }
}

TEST_F(TreeRules, AMissingParentIsSaidInAnEventWithinSeconds) {
  leaf("p", "lost");
  pod("p-0", "p");
  pod("stray-0", "nowhere");
  world_.advance(seconds{5});
  EXPECT_EQ(warnings("PodGroup", "p"),
            Texts{"pods of pod group \"p\" wait: composite pod group \"lost\" does not exist"});
  EXPECT_EQ(warnings("Pod", "stray-0"),
            Texts{"pods of pod group \"nowhere\" wait: pod group \"nowhere\" does not exist"});
  EXPECT_EQ(of_leaf("p"), "");
  world_.advance(minutes{3});
  EXPECT_EQ(of_leaf("p"), "");
  composite("lost");
  EXPECT_NE(node_of("p-0"), "");
}

TEST_F(TreeRules, ATreeThatWaitsForLongIsComparedWithItsWorkload) {
  create(api::kinds::workload(), R"({"metadata":{"name":"w","namespace":"default"},
      "spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"gang":{"minCount":1}}}]}})");
  leaf("quick", "", "", "nope");
  pod("quick-0", "quick");
  EXPECT_EQ(of_leaf("quick"), "True/Scheduled: ") << "the Workload decides nothing about pods";

  leaf("slow", "", "", "nope");
  pod("slow-0", "slow", R"("nodeSelector":{"not":"there"},)");
  EXPECT_TRUE(of_leaf("slow").starts_with("False/Unschedulable")) << of_leaf("slow");
  world_.advance(minutes{2});
  const std::string why =
      R"(PodGroup "slow" names template "nope", which Workload "w" does not have)";
  EXPECT_EQ(of_leaf("slow"), "False/Invalid: " + why);
  EXPECT_EQ(warnings("Pod", "slow-0").back(), why);
  remove(api::kinds::workload(), "w");
  world_.advance(seconds{30});
  EXPECT_TRUE(of_leaf("slow").starts_with("False/Unschedulable")) << of_leaf("slow");
}

TEST_F(TreeRules, AModeThatHasNoEffectIsSaid) {
  leaf("a", "r");
  leaf("b", "r", R"("disruptionMode":{"all":{}},)");
  pod("a-0", "a");
  pod("b-0", "b");
  composite("r", "", R"("disruptionMode":{"all":{}},)");
  EXPECT_NE(node_of("a-0"), "") << "no reason not to schedule it";
  EXPECT_EQ(warnings("PodGroup", "a"),
            Texts{"disruptionMode single has no effect: composite pod group \"r\" above is "
                  "disrupted as a whole"});
  EXPECT_EQ(warnings("PodGroup", "b"), Texts{});
  EXPECT_EQ(warnings("CompositePodGroup", "r"), Texts{});
}

TEST_F(TreeRules, AGroupThatIsUsedIsNotGone) {
  composite("r");
  leaf("a", "r");
  pod("a-0", "a");
  ASSERT_NE(node_of("a-0"), "");
  for (const api::Kind* kind : {&api::kinds::composite_pod_group(), &api::kinds::pod_group()})
    remove(*kind, kind->kind == "PodGroup" ? "a" : "r");
  world_.advance(minutes{1});
  EXPECT_NE(of_leaf("a"), "(gone)") << "its pod runs";
  EXPECT_NE(of_composite("r"), "(gone)") << "it has a child";
  remove(api::kinds::pod(), "a-0");
  world_.advance(minutes{1});
  EXPECT_EQ(of_leaf("a"), "(gone)");
  EXPECT_EQ(of_composite("r"), "(gone)");
}

}  // namespace
}  // namespace muster::sim
