#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/world.h"

// Topology-aware scheduling switched on, off and on again.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::seconds;

constexpr std::string_view kHost = "kubernetes.io/hostname";

api::Gates without_topology() {
  return api::Gates()
      .without(api::Gate::CompositePodGroup)
      .without(api::Gate::TopologyAwareWorkloadScheduling);
}

class Upgrade : public ::testing::Test {
 protected:
  void start(const api::Gates& gates) {
    World::Options options;
    options.scheduler.gates = gates;
    options.shape.pools.push_back({.racks_per_block = 1,
                                   .nodes_per_rack = 2,
                                   .resources = parse_resources("cpu=32,memory=64Gi").value()});
    world_ = std::make_unique<World>(std::move(options));
    world_->run_until_idle();
    for (const api::ObjectPtr& node : list(api::kinds::node())) hosts_.push_back(node->meta().name);
  }
  void create(const api::Kind& kind, std::string_view document) {
    const auto made = world_->ask(
        client::create_request(kind, "default", api::parse_json(document).value().value));
    ASSERT_TRUE(made) << made.error().message;
  }
  // A gang of two on one host.
  void group(std::string_view name) {
    create(api::kinds::pod_group(), fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{
             "schedulingPolicy":{{"gang":{{"minCount":2}}}},
             "schedulingConstraints":{{"topology":[{{"key":"{}"}}]}}}}}})",
                                                name, kHost));
  }
  bool is_constrained(std::string_view name) {
    const Json document = world_->get(api::kinds::pod_group(), "default", name)->document();
    return api::find(api::part_of(document, "spec"), "schedulingConstraints") != nullptr;
  }
  // One of its pods, for the node with this number.
  void pod(std::string_view group, std::size_t host) {
    create(api::kinds::pod(), fmt::format(R"({{"metadata":{{"name":"test-pod-{1}"}},"spec":{{
             "schedulingGroup":{{"podGroupName":"{0}"}},"nodeSelector":{{"{2}":"{3}"}},
             "containers":[{{"name":"c","image":"i",
               "resources":{{"requests":{{"cpu":"1"}}}}}}]}}}})",
                                          group, ++pods_, kHost, hosts_.at(host)));
    world_->advance(seconds{10});
  }
  std::vector<api::ObjectPtr> list(const api::Kind& kind) { return world_->list(kind); }
  // How many pods of the group have a node.
  int placed(std::string_view group) {
    int placed = 0;
    for (const api::ObjectPtr& pod : list(api::kinds::pod())) {
      const auto& view = pod->view<api::PodView>();
      placed += view.scheduling_group == group && !view.node_name.empty() ? 1 : 0;
    }
    return placed;
  }
  // Whether the metric says that this many groups wait in the queue.
  bool groups_wait(std::string_view queue, int count) const {
    return world_->metrics().text().find(
               fmt::format("scheduler_pending_entities{{queue=\"{}\",type=\"podgroup\"}} {}\n",
                           queue, count)) != std::string::npos;
  }
  // Pods of one group on two hosts wait, pods of the other on one host are placed.
  void expect_constraints_hold(std::string_view apart, std::string_view together) {
    pod(apart, 0);
    EXPECT_TRUE(groups_wait("gated", 1)) << "one of two pods is there";
    pod(apart, 1);
    EXPECT_TRUE(groups_wait("unschedulable", 1));
    EXPECT_EQ(placed(apart), 0) << "no host holds both";
    pod(together, 1);
    pod(together, 1);
    EXPECT_EQ(placed(together), 2);
  }

  std::unique_ptr<World> world_;
  std::vector<std::string> hosts_;
  int pods_ = 0;
};

// Which version of the server the groups were created with is all that matters of it afterwards.
TEST_F(Upgrade, TheServerDropsConstraintsWhileTheFeatureIsOff) {
  start(without_topology());
  group("early");
  EXPECT_FALSE(is_constrained("early"));
}

TEST_F(Upgrade, ConstraintsHoldWhileTheFeatureIsOn) {
  start({});
  for (const char* name : {"a", "b", "c", "d", "e"}) group(name);
  EXPECT_TRUE(is_constrained("a"));
  expect_constraints_hold("a", "b");

  world_->restart_components_with(without_topology());
  pod("c", 0);
  pod("c", 1);
  EXPECT_EQ(placed("c"), 2) << "the constraint is ignored";
  EXPECT_EQ(placed("b"), 2) << "pods that run keep running";
  EXPECT_EQ(placed("a"), 2) << "nothing holds these two together any more";

  world_->restart_components_with({});
  EXPECT_EQ(placed("c"), 2);
  expect_constraints_hold("d", "e");
}

}  // namespace
}  // namespace muster::sim
