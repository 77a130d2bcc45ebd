#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/faults_testing.h"

// Rollouts come to the same end whatever happens to their controllers and their calls on the way.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

const api::Kind& deployments() { return *api::find_kind("apps", "Deployment"); }
const api::Kind& replica_sets() { return *api::find_kind("apps", "ReplicaSet"); }

World::Options two_nodes() {
  World::Options options;
  options.shape.pools.push_back({.racks_per_block = 1,
                                 .nodes_per_rack = 2,
                                 .resources = parse_resources("cpu=16,memory=16Gi").value()});
  return options;
}

std::string deployment(std::string_view name, std::string_view spec) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"default"}},"spec":{{{1},"selector":{{"matchLabels":{{"app":"{0}"}}}},
         "template":{{"metadata":{{"labels":{{"app":"{0}"}}}},
         "spec":{{"containers":[{{"name":"main","image":"app:1","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}}})",
      name, spec);
}

std::string image(std::string_view image) {
  return fmt::format(
      R"({{"spec":{{"template":{{"spec":{{"containers":[{{"name":"main","image":"{}","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}}})",
      image);
}

std::string numbers(const Json& status, std::initializer_list<std::string_view> members) {
  std::string out;
  for (const std::string_view member : members)
    if (const auto value = api::find_integer(status, member))
      out += fmt::format(" {}={}", member, *value);
  return out;
}

// What there is, without what differs from run to run: names of pods, uids, times.
std::vector<std::string> end_of(FaultyWorld& world) {
  std::vector<std::string> out;
  for (const api::ObjectPtr& object : world.all(deployments())) {
    const Json document = object->document();
    const Json& status = api::part_of(document, "status");
    std::string text =
        fmt::format("{} revision {}", object->meta().name,
                    *api::lookup(object->meta().annotations, "deployment.kubernetes.io/revision"));
    text += numbers(status, {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                             "unavailableReplicas", "terminatingReplicas", "collisionCount"});
    std::set<std::string> conditions;
    for (const Json& condition : api::elements(status, "conditions"))
      conditions.insert(fmt::format(" {}={}/{}/{}", api::find_string(condition, "type"),
                                    api::find_string(condition, "status"),
                                    api::find_string(condition, "reason"),
                                    api::find_string(condition, "message")));
    for (const std::string& condition : conditions) text += condition;
    out.push_back(std::move(text));
  }
  for (const api::ObjectPtr& object : world.all(replica_sets())) {
    const Json document = object->document();
    std::string text = fmt::format("set {} wants {}", object->meta().name,
                                   *api::find_integer(api::part_of(document, "spec"), "replicas"));
    for (const auto& [key, value] : object->meta().annotations)
      text += fmt::format(" {}={}", key, value);
    text += numbers(api::part_of(document, "status"),
                    {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"});
    out.push_back(std::move(text));
  }
  std::multiset<std::string> pods;
  for (const api::ObjectPtr& pod : world.all(api::kinds::pod()))
    pods.insert(fmt::format("pod of {} {}",
                            pod->meta().owners.empty() ? "" : pod->meta().owners[0].name,
                            pod->view<api::PodView>().phase));
  out.insert(out.end(), pods.begin(), pods.end());
  return out;
}

constexpr Duration kShort = seconds{60};

// One rolls out, is scaled on the way and rolled back; one is recreated; one keeps no history.
std::vector<std::string> outcome(const Trouble& trouble, Duration length, std::uint64_t seed = 1,
                                 int* writes = nullptr) {
  FaultyWorld world(trouble, seed, two_nodes());
  world.create(deployments(), deployment("rolling", R"("replicas":4)"));
  world.create(deployments(),
               deployment("again", R"("replicas":2,"strategy":{"type":"Recreate"})"));
  world.create(deployments(),
               deployment("brief", R"("replicas":2,"revisionHistoryLimit":0,"minReadySeconds":2)"));
  world.advance(length / 3);
  world.patch(deployments(), "rolling", image("app:2"));
  world.patch(deployments(), "rolling", R"({"spec":{"replicas":6}})");
  world.patch(deployments(), "again", image("app:2"));
  world.patch(deployments(), "brief", image("app:2"));
  world.advance(length / 3);
  world.patch(deployments(), "rolling", image("app:1"));
  world.advance(length / 3);
  if (writes != nullptr) *writes = world.writes();
  return end_of(world);
}

TEST(DeploymentFaults, WithoutAnyEveryRolloutSucceeds) {
  const std::vector<std::string> end = outcome({}, kShort);
  ASSERT_EQ(end.size(), 3U + 5U + 10U);
  EXPECT_TRUE(end[0].starts_with(
      "again revision 2 replicas=2 updatedReplicas=2 readyReplicas=2 availableReplicas=2 "
      "terminatingReplicas=0 Available=True/MinimumReplicasAvailable/"))
      << end[0];
  EXPECT_NE(end[0].find("Progressing=True/NewReplicaSetAvailable"), std::string::npos) << end[0];
  EXPECT_TRUE(end[1].starts_with("brief revision 2 replicas=2 updatedReplicas=2")) << end[1];
  EXPECT_TRUE(end[2].starts_with("rolling revision 3 replicas=6 updatedReplicas=6")) << end[2];
}

// One rollout and back, small enough to be interrupted everywhere.
std::vector<std::string> small_outcome(const Trouble& trouble, int* writes = nullptr) {
  FaultyWorld world(trouble, 1, two_nodes());
  world.create(deployments(), deployment("web", R"("replicas":2)"));
  world.advance(seconds{8});
  world.patch(deployments(), "web", image("app:2"));
  world.advance(seconds{12});
  world.patch(deployments(), "web", image("app:1"));
  world.advance(seconds{12});
  if (writes != nullptr) *writes = world.writes();
  return end_of(world);
}

TEST(DeploymentFaults, ARestartAfterAnyWriteChangesNothingInTheEnd) {
  int writes = 0;
  const std::vector<std::string> expected = small_outcome({}, &writes);
  ASSERT_GT(writes, 20);
  for (int crash = 0; crash < writes; ++crash)
    ASSERT_EQ(small_outcome({.crash_at = crash}), expected) << "restarted after write " << crash;
}

TEST(DeploymentFaults, ARestartInTheMiddleOfManyRolloutsChangesNothingInTheEnd) {
  int writes = 0;
  const std::vector<std::string> expected = outcome({}, kShort, 1, &writes);
  for (int crash = 5; crash < writes; crash += 23)
    ASSERT_EQ(outcome({.crash_at = crash}, kShort), expected) << "restarted after write " << crash;
}

TEST(DeploymentFaults, AServerThatIsAwayForMinutesChangesNothingInTheEnd) {
  int writes = 0;
  const std::vector<std::string> expected = outcome({}, kShort, 1, &writes);
  for (int from = 0; from < writes; from += 90)
    ASSERT_EQ(outcome({.refuse_from = from, .refuse_for = minutes{2}}, minutes{15}), expected)
        << "away from write " << from;
}

TEST(DeploymentFaults, ConflictsErrorsAndLateFeedsChangeNothingInTheEnd) {
  const std::vector<std::string> expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    ASSERT_EQ(outcome({.flaky = 3}, minutes{9}, seed), expected) << "conflicts, seed " << seed;
    ASSERT_EQ(outcome({.late = 2}, minutes{9}, seed), expected) << "late feeds, seed " << seed;
    ASSERT_EQ(
        outcome({.crash_at = static_cast<int>(seed), .flaky = 4, .late = 3}, minutes{9}, seed),
        expected)
        << "everything, seed " << seed;
  }
}

TEST(DeploymentFaults, EventsThatAreLateRepeatedAndOutOfOrderChangeNothingInTheEnd) {
  const std::vector<std::string> expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ASSERT_EQ(outcome({.feeds = {.late = 2, .single = 2, .twice = 3}}, minutes{9}, seed), expected)
        << "late and one by one, seed " << seed;
    ASSERT_EQ(outcome({.feeds = {.late = 2, .gaps = 1}}, minutes{9}, seed), expected)
        << "with gaps, seed " << seed;
  }
}

}  // namespace
}  // namespace muster::sim
