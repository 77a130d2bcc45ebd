#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/json.h"
#include "sim/node_labels.h"
#include "sim/world.h"

// Groups from kubectl's point of view: the whole control plane runs, and only objects are looked
// at.
namespace muster::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Rack {
  int racks = 2;
  int nodes = 2;
  int blocks = 1;
  std::string cpu = "4";
};

World::Options cluster(const Rack& rack) {
  World::Options options;
  options.shape.pools.push_back(
      {.blocks_per_zone = rack.blocks,
       .racks_per_block = rack.racks,
       .nodes_per_rack = rack.nodes,
       .resources = parse_resources("cpu=" + rack.cpu + ",memory=64Gi").value()});
  return options;
}

struct Gang {
  int minimum = 1;  // 0: basic
  std::string parent = {};
  std::string_view key = {};
};

// A world and the words of these tests.
class Groups : public ::testing::Test {
 protected:
  void start(const Rack& rack) {
    world_.emplace(cluster(rack));
    world_->run_until_idle();
  }
  World& world() { return *world_; }

  Result<api::Answer> create(const api::Kind& kind, std::string_view json) {
    auto answer =
        world().ask(client::create_request(kind, "default", api::parse_json(json).value().value));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer;
  }
  static std::string spec_of(const Gang& gang, std::string_view minimum) {
    std::string spec =
        gang.minimum > 0
            ? fmt::format(R"("schedulingPolicy":{{"gang":{{"{}":{}}}}})", minimum, gang.minimum)
            : R"("schedulingPolicy":{"basic":{}})";
    if (!gang.parent.empty())
      spec += fmt::format(R"(,"parentCompositePodGroupName":"{}")", gang.parent);
    if (!gang.parent.empty() || minimum == "minGroupCount")
      spec += R"(,"workloadRef":{"workloadName":"w","templateName":"t"})";
    if (!gang.key.empty())
      spec += fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})", gang.key);
    return spec;
  }
  void pod_group(std::string_view name, const Gang& gang) {
    create(api::kinds::pod_group(), fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}}}})",
                                                name, spec_of(gang, "minCount")));
  }
  void composite(std::string_view name, const Gang& gang) {
    create(api::kinds::composite_pod_group(),
           fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}}}})", name,
                       spec_of(gang, "minGroupCount")));
  }
  void pod(std::string_view name, std::string_view group, std::string_view cpu,
           std::string_view more = {}) {
    const std::string member =
        group.empty() ? "" : fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", group);
    create(
        api::kinds::pod(),
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{{}{}"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
            name, member, more, cpu));
  }
  void pods(std::string_view group, int count, std::string_view cpu) {
    for (int i = 0; i < count; ++i) pod(fmt::format("{}-{}", group, i), group, cpu);
  }
  void patch(const api::Kind& kind, std::string_view name, std::string_view json) {
    const auto answer = world().ask(client::patch_request(
        kind, kind.namespaced ? "default" : "", name, "",
        kind.kind == "Node" || kind.kind == "Pod" ? api::PatchType::StrategicMerge
                                                  : api::PatchType::Merge,
        api::parse_json(json).value().value));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void cordon(std::string_view node, bool on) {
    patch(api::kinds::node(), node,
          on ? R"({"spec":{"unschedulable":true}})" : R"({"spec":{"unschedulable":null}})");
  }
  void remove(const api::Kind& kind, std::string_view name) {
    const api::ObjectPtr object = world().get(kind, kind.namespaced ? "default" : "", name);
    ASSERT_NE(object, nullptr) << name;
    ASSERT_TRUE(world().ask(client::delete_request(*object, 0)));
  }

  std::string at(const api::Kind& kind, std::string_view name, std::string_view path) {
    const api::ObjectPtr object = world().get(kind, "default", name);
    if (object == nullptr) return "(gone)";
    const api::Json document = object->document();
    const api::Json* value = api::find_path(document, path);
    if (value == nullptr) return "";
    return value->is_string() ? std::string(value->get_string()) : api::to_text(*value);
  }
  std::string node_of(std::string_view pod) { return at(api::kinds::pod(), pod, "spec.nodeName"); }
  // How many pods named GROUP-… have a node.
  int bound(std::string_view group) {
    int count = 0;
    for (const api::ObjectPtr& object : world().store().list("pods/default/").objects)
      if (object->meta().name.starts_with(std::string(group) + "-"))
        count += node_of(object->meta().name).empty() ? 0 : 1;
    return count;
  }
  // The domains of a label where pods named GROUP-… run.
  std::set<std::string> domains(std::string_view group, std::size_t parts) {
    std::set<std::string> out;
    for (const api::ObjectPtr& object : world().store().list("pods/default/").objects) {
      if (!object->meta().name.starts_with(std::string(group) + "-")) continue;
      std::string node = node_of(object->meta().name);  // z1-b1-r1-n1
      std::size_t end = 0;
      for (std::size_t i = 0; i < parts && end != std::string::npos; ++i)
        end = node.find('-', end + 1);
      out.insert(node.substr(0, end));
    }
    return out;
  }
  // "True Scheduled", "False Unschedulable", "".
  std::string condition(const api::Kind& kind, std::string_view name) {
    const api::ObjectPtr object = world().get(kind, "default", name);
    if (object == nullptr) return "(gone)";
    const api::Json document = object->document();
    const api::Json* all = api::find_path(document, "status.conditions");
    if (all == nullptr || all->as_array().empty()) return "";
    for (const api::Json& one : all->as_array())
      if (api::find_string(one, "type") != "scheduling.muster.dev/MinimumMet")
        return std::string(api::find_string(one, "status")) + " " +
               std::string(api::find_string(one, "reason"));
    return "";
  }
  std::string group_says(std::string_view name) { return condition(api::kinds::pod_group(), name); }
  // The notes of Warning events about an object of that name.
  std::vector<std::string> warnings_about(std::string_view kind, std::string_view name) {
    std::vector<std::string> out;
    for (const api::ObjectPtr& event : world().store().list("events/").objects) {
      const api::Json document = event->document();
      const api::Json* about = api::find(document, "involvedObject");
      if (about != nullptr && api::find_string(*about, "kind") == kind &&
          api::find_string(*about, "name") == name &&
          api::find_string(document, "type") == "Warning")
        out.emplace_back(api::find_string(document, "message"));
    }
    return out;
  }

 private:
  std::optional<World> world_;
};

TEST_F(Groups, AGangIsBoundInOneBlockOfRevisions) {
  start({});
  world().hold_controller_feeds(true);  // one of them counts the members of gangs
  pod_group("train", {.minimum = 4, .key = kRackLabel});
  pods("train", 3, "2");
  EXPECT_EQ(bound("train"), 0);
  EXPECT_EQ(condition(api::kinds::pod(), "train-0"), "") << "it merely waits for a sibling";
  pod("train-3", "train", "2");
  EXPECT_EQ(bound("train"), 4);
  EXPECT_EQ(domains("train", 3).size(), 1U);
  EXPECT_EQ(group_says("train"), "True Scheduled");
  // The condition was written with the bindings: no other write of the group came after its
  // creation but the protection finalizer's, and its revision is next to the pods'.
  std::int64_t last = 0;
  std::set<std::int64_t> group_revision{
      world().get(api::kinds::pod_group(), "default", "train")->revision().value};
  for (const api::ObjectPtr& object : world().store().list("pods/default/").objects)
    last = std::max(last, object->revision().value);
  EXPECT_LT(*group_revision.begin(), last) << "pods went on to Running, the group did not change";
}

TEST_F(Groups, AnyOrderOfArrivalGivesTheSameTree) {
  const std::vector<std::vector<std::string>> orders = {{"root", "a", "b", "pods a", "pods b"},
                                                        {"pods b", "pods a", "b", "a", "root"},
                                                        {"a", "pods a", "root", "pods b", "b"},
                                                        {"pods a", "root", "pods b", "a", "b"},
                                                        {"b", "a", "pods a", "pods b", "root"}};
  for (const auto& order : orders) {
    start({.racks = 2, .nodes = 2, .blocks = 2});
    for (const std::string& step : order) {
      if (step == "root")
        composite("root", {.minimum = 2, .key = kBlockLabel});
      else if (step.starts_with("pods "))
        pods(step.substr(5), 4, "2");
      else
        pod_group(step, {.minimum = 4, .parent = "root", .key = kRackLabel});
      const int all = bound("a") + bound("b");
      EXPECT_TRUE(all == 0 || all == 8) << "after " << step;
    }
    EXPECT_EQ(bound("a") + bound("b"), 8) << order.front();
    EXPECT_EQ(domains("a", 3).size(), 1U);
    EXPECT_EQ(domains("b", 3).size(), 1U);
    EXPECT_EQ(domains("a", 2), domains("b", 2)) << "one block";
    EXPECT_EQ(group_says("a"), "True Scheduled");
    EXPECT_EQ(condition(api::kinds::composite_pod_group(), "root"), "True Scheduled");
  }
}

TEST_F(Groups, AFailedGangSaysWhatComesClosest) {
  start({.racks = 2, .nodes = 2});
  pod("web", "", "3");
  const std::string web_rack = node_of("web").substr(0, 8);
  pod_group("train", {.minimum = 5, .key = kRackLabel});
  pods("train", 5, "2");
  EXPECT_EQ(bound("train"), 0);
  EXPECT_EQ(group_says("train"), "False Unschedulable");
  EXPECT_EQ(condition(api::kinds::pod(), "train-0"), "False Unschedulable");
  const std::vector<std::string> said = warnings_about("PodGroup", "train");
  ASSERT_EQ(said.size(), 1U);
  const std::string other = web_rack == "z1-b1-r1" ? "z1-b1-r2" : "z1-b1-r1";
  EXPECT_EQ(said[0],
            "pod group is unschedulable, 0/2 placements are available, rack " + other +
                " comes closest: 4 of 5 pods fit; short of 1 × cpu 2, pod group preemption: No "
                "preemption victims found for incoming preemptor");
  EXPECT_EQ(
      at(api::kinds::pod_group(), "train", "status.conditions").find(said[0]) != std::string::npos,
      true);
}

// Nested block and rack on partly cordoned racks, woken by an uncordon within moments.
TEST_F(Groups, ATreeOnCordonedRacksIsPlacedWhenTheyAreFreed) {
  start({.racks = 2, .nodes = 2, .blocks = 2});
  cordon("z1-b1-r1-n1", true);
  cordon("z1-b2-r2-n2", true);
  composite("root", {.minimum = 2, .key = kBlockLabel});
  for (const char* group : {"a", "b"}) {
    pod_group(group, {.minimum = 4, .parent = "root", .key = kRackLabel});
    pods(group, 4, "2");
  }
  EXPECT_EQ(bound("a") + bound("b"), 0);
  EXPECT_EQ(condition(api::kinds::composite_pod_group(), "root"), "False Unschedulable");
  EXPECT_EQ(
      warnings_about("CompositePodGroup", "root"),
      std::vector<std::string>{
          "pod group is unschedulable, 0/2 placements are available, block z1-b1 comes "
          "closest: each of 2 groups fits alone, together they do not fit: 6 of 8 pods do; on the "
          "rest of its nodes: 1 node(s) were unschedulable, pod group preemption: No preemption "
          "victims found for incoming preemptor"});
  world().advance(seconds{90});
  EXPECT_EQ(bound("a") + bound("b"), 0);
  EXPECT_EQ(world().scheduler().numbers().attempts, 1U) << "nothing happened that could help";
  cordon("z1-b2-r2-n2", false);
  world().advance(milliseconds{1'100});
  EXPECT_EQ(bound("a"), 4);
  EXPECT_EQ(bound("b"), 4);
  EXPECT_EQ(domains("a", 2), std::set<std::string>{"z1-b2"});
}

class Wakes : public Groups {
 protected:
  // A gang of four that lacks room for one, and has failed long ago.
  void fail_gang(std::string_view key = {}) {
    start({.racks = 1, .nodes = 4, .cpu = "4"});
    pod("web", "", "3");
    pod_group("train", {.minimum = 4, .key = key});
    pods("train", 4, "4");
    EXPECT_EQ(group_says("train"), "False Unschedulable");
    world().advance(seconds{200});
    EXPECT_EQ(bound("train"), 0);
  }
  void expect_woken() {
    world().advance(milliseconds{1'100});
    EXPECT_EQ(bound("train"), 4);
  }
};

TEST_F(Wakes, ByADeletedPod) {
  fail_gang();
  remove(api::kinds::pod(), "web");
  expect_woken();
}

TEST_F(Wakes, ByANewNode) {
  fail_gang(kRackLabel);
  create(api::kinds::node(),
         R"({"metadata":{"name":"extra","annotations":{"muster.dev/node":"pretend"},"labels":{
      "topology.kubernetes.io/rack":"z1-b1-r1","kubernetes.io/hostname":"extra"}},
      "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}})");
  expect_woken();
}

TEST_F(Wakes, ByANodeThatIsUncordoned) {
  start({.racks = 1, .nodes = 4, .cpu = "4"});
  cordon("z1-b1-r1-n3", true);
  pod_group("train", {.minimum = 4, .key = kRackLabel});
  pods("train", 4, "4");
  EXPECT_EQ(group_says("train"), "False Unschedulable");
  world().advance(seconds{200});
  cordon("z1-b1-r1-n3", false);
  expect_woken();
}

TEST_F(Wakes, ByALowerMinimum) {
  fail_gang();
  patch(api::kinds::pod_group(), "train",
        R"({"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})");
  world().advance(milliseconds{1'100});
  EXPECT_EQ(bound("train"), 3);
  EXPECT_EQ(group_says("train"), "True Scheduled");
}

TEST_F(Wakes, ByARemovedGate) {
  start({.racks = 1, .nodes = 4, .cpu = "4"});
  pod_group("train", {.minimum = 4});
  pods("train", 3, "4");
  pod("train-3", "train", "4", R"("schedulingGates":[{"name":"example.com/wait"}],)");
  world().advance(seconds{200});
  EXPECT_EQ(bound("train"), 0);
  EXPECT_EQ(condition(api::kinds::pod(), "train-0"), "") << "it merely waits for the gate";
  EXPECT_EQ(condition(api::kinds::pod(), "train-3"), "False SchedulingGated");
  patch(api::kinds::pod(), "train-3", R"({"spec":{"schedulingGates":null}})");
  EXPECT_EQ(bound("train"), 4) << "at once, it never failed";
}

TEST_F(Wakes, ByADeletedGateHolder) {
  start({.racks = 1, .nodes = 4, .cpu = "4"});
  pod_group("train", {.minimum = 3, .key = kRackLabel});
  pods("train", 3, "4");
  // Arrives after three of four would do, but a topology-constrained leaf waits for its gates.
  EXPECT_EQ(bound("train"), 3);
  pod_group("held", {.minimum = 1, .key = kRackLabel});
  pod("held-0", "held", "1", R"("schedulingGates":[{"name":"example.com/wait"}],)");
  pod("held-1", "held", "1");
  EXPECT_EQ(bound("held"), 0);
  remove(api::kinds::pod(), "held-0");
  EXPECT_EQ(bound("held"), 1);
}

TEST_F(Groups, AMissingParentIsSaidWithinSecondsAndOnlyOnTheGroup) {
  start({});
  pod_group("orphan", {.minimum = 1, .parent = "nobody"});
  pods("orphan", 1, "1");
  world().advance(seconds{5});
  EXPECT_EQ(bound("orphan"), 0);
  EXPECT_EQ(group_says("orphan"), "") << "no condition";
  EXPECT_EQ(condition(api::kinds::pod(), "orphan-0"), "");
  EXPECT_EQ(
      warnings_about("PodGroup", "orphan"),
      std::vector<std::string>{
          "pods of pod group \"orphan\" wait: composite pod group \"nobody\" does not exist"});
  composite("nobody", {.minimum = 1});
  EXPECT_EQ(bound("orphan"), 1);
}

TEST_F(Groups, MinimumsOfSiblingsComeBeforeExtras) {
  start({.racks = 1, .nodes = 2, .cpu = "4"});
  composite("root", {.minimum = 2});
  pod_group("greedy", {.minimum = 2, .parent = "root"});
  pods("greedy", 6, "1");
  pod_group("modest", {.minimum = 4, .parent = "root"});
  pods("modest", 4, "1");
  EXPECT_EQ(bound("greedy"), 4);
  EXPECT_EQ(bound("modest"), 4);
}

TEST_F(Groups, AnInvalidTreeDoesNotHurtAHealthyOne) {
  start({.racks = 1, .nodes = 2, .cpu = "4"});
  // A cycle of composites, with a leaf that hangs on it.
  composite("c1", {.minimum = 1, .parent = "c2"});
  composite("c2", {.minimum = 1, .parent = "c1"});
  pod_group("lost", {.minimum = 1, .parent = "c1"});
  pods("lost", 1, "1");
  pod_group("train", {.minimum = 4});
  pods("train", 4, "2");
  EXPECT_EQ(bound("train"), 4);
  EXPECT_EQ(bound("lost"), 0);
  world().advance(seconds{30});
  EXPECT_EQ(bound("lost"), 0);
}

}  // namespace
}  // namespace muster::sim
