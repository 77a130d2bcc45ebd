#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/faults_testing.h"

// ReplicaSets, DaemonSets, StatefulSets and CronJobs come to the same end whatever happens to their
// controllers, their calls and their feeds on the way.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;
using Lines = std::vector<std::string>;

const api::Kind& kind_named(std::string_view group, std::string_view kind) {
  return *api::find_kind(group, kind);
}

ClusterShape nodes(int count, std::string_view prefix = "") {
  ClusterShape shape;
  shape.pools.push_back({.prefix = std::string(prefix),
                         .racks_per_block = 1,
                         .nodes_per_rack = count,
                         .resources = parse_resources("cpu=16,memory=16Gi").value()});
  return shape;
}

// "web", of a kind of the group apps.
std::string set_of_pods(std::string_view spec) {
  return fmt::format(
      R"({{"metadata":{{"name":"web","namespace":"default"}},"spec":{{{}"selector":{{"matchLabels":{{"app":"web"}}}},
         "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"main","image":"app:1"}}]}}}}}}}})",
      spec);
}
constexpr std::string_view kNewImage =
    R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"app:2"}]}}}})";

// What is done to one kind of controller, in steps; each is followed by a while of quiet.
struct Play {
  std::string name;
  std::vector<const api::Kind*> kinds;  // whose objects are compared
  std::vector<std::function<void(FaultyWorld&)>> steps;
  Duration step = seconds{20};         // if nothing goes wrong
  Duration with_trouble = minutes{3};  // otherwise

  friend std::ostream& operator<<(std::ostream& out, const Play& play) { return out << play.name; }
};

// Members of a status that say how many or which, whatever the kind calls them.
std::string counts(const Json& status) {
  std::set<std::string> out;
  if (const auto* members = status.if_object())
    for (const auto& member : *members)
      if (member.value().is_int64() && member.key() != "collisionCount")
        out.insert(
            fmt::format(" {}={}", std::string_view(member.key()), api::to_text(member.value())));
  std::string text;
  for (const std::string& each : out) text += each;
  text += fmt::format(" {}", api::find_string(status, "lastScheduleTime"));
  for (const Json& job : api::elements(status, "active"))
    text += fmt::format(" runs {}", api::find_string(job, "name"));
  return text;
}

// What there is, without what differs from run to run: uids, times, names of pods.
Lines end_of(FaultyWorld& world, const Play& play) {
  Lines out;
  for (const api::Kind* kind : play.kinds)
    for (const api::ObjectPtr& object : world.all(*kind)) {
      const Json document = object->document();
      // Names of groups hold a hash of an owner's uid.
      const bool is_group = kind == &api::kinds::pod_group();
      out.push_back(fmt::format("{} {}{}", kind->kind,
                                is_group ? object->meta().owners[0].name : object->meta().name,
                                counts(api::part_of(document, "status"))));
    }
  const bool ordinals = play.name == "StatefulSet";
  std::multiset<std::string> pods;
  for (const api::ObjectPtr& pod : world.all(api::kinds::pod())) {
    const Json document = pod->document();
    const Json& containers = *api::find(api::part_of(document, "spec"), "containers");
    pods.insert(fmt::format("pod {} of {} {} {}", ordinals ? pod->meta().name : "",
                            pod->meta().owners.empty() ? "" : pod->meta().owners[0].name,
                            pod->view<api::PodView>().phase,
                            api::find_string(containers.as_array().front(), "image")));
  }
  out.insert(out.end(), pods.begin(), pods.end());
  return out;
}

Lines outcome(const Play& play, const Trouble& trouble, std::uint64_t seed = 1,
              int* writes = nullptr) {
  World::Options options;
  options.shape = nodes(3);
  FaultyWorld world(trouble, seed, std::move(options));
  const bool calm = trouble.crash_at < 0 && trouble.refuse_from < 0 && trouble.flaky == 0 &&
                    trouble.late == 0 && trouble.feeds == Disturbance{};
  const bool short_trouble = calm || (trouble.crash_at >= 0 && trouble.flaky == 0);
  for (const auto& step : play.steps) {
    step(world);
    world.advance(short_trouble ? play.step : play.with_trouble);
  }
  if (writes != nullptr) *writes = world.writes();
  return end_of(world, play);
}

Play replica_set() {
  const api::Kind& kind = kind_named("apps", "ReplicaSet");
  return {.name = "ReplicaSet",
          .kinds = {&kind},
          .steps = {
              [&](FaultyWorld& world) {
                world.create(
                    api::kinds::pod(),
                    R"({"metadata":{"name":"orphan","namespace":"default","labels":{"app":"web"}},
                              "spec":{"containers":[{"name":"main","image":"app:1"}]}})");
                world.create(kind, set_of_pods(R"("replicas":4,)"));
              },
              [&](FaultyWorld& world) { world.patch(kind, "web", R"({"spec":{"replicas":9}})"); },
              [&](FaultyWorld& world) { world.patch(kind, "web", R"({"spec":{"replicas":3}})"); }}};
}

Play daemon_set() {
  const api::Kind& kind = kind_named("apps", "DaemonSet");
  return {
      .name = "DaemonSet",
      .kinds = {&kind, &kind_named("apps", "ControllerRevision")},
      .steps = {
          [&](FaultyWorld& world) { world.create(kind, set_of_pods("")); },
          [&](FaultyWorld& world) { world.patch(kind, "web", kNewImage); },
          [](FaultyWorld& world) { world.world().add_nodes(nodes(2, "late-")); },
          [&](FaultyWorld& world) {
            world.patch(
                kind, "web",
                R"({"spec":{"template":{"spec":{"nodeSelector":{"topology.kubernetes.io/zone":"z1"}}}}})");
          }}};
}

Play stateful_set() {
  const api::Kind& kind = kind_named("apps", "StatefulSet");
  return {.name = "StatefulSet",
          .kinds = {&kind, &kind_named("apps", "ControllerRevision")},
          .steps = {
              [&](FaultyWorld& world) {
                world.create(kind, set_of_pods(R"("replicas":3,"serviceName":"web",)"));
              },
              [&](FaultyWorld& world) { world.patch(kind, "web", kNewImage); },
              [&](FaultyWorld& world) { world.patch(kind, "web", R"({"spec":{"replicas":5}})"); },
              [&](FaultyWorld& world) { world.patch(kind, "web", R"({"spec":{"replicas":2}})"); }}};
}

// The world begins at midnight: runs at 00:10, which the next replaces, and at 00:20, which stays.
Play cron_job() {
  const api::Kind& kind = kind_named("batch", "CronJob");
  return {
      .name = "CronJob",
      .kinds = {&kind, &kind_named("batch", "Job"), &api::kinds::pod_group()},
      .steps = {[&](FaultyWorld& world) {
        world.create(
            kind,
            R"({"metadata":{"name":"tick","namespace":"default"},"spec":{"schedule":"*/10 * * * *",
                    "concurrencyPolicy":"Replace","jobTemplate":{"spec":{"parallelism":2,"completions":2,
                    "scheduling":{"schedulingPolicy":{"gang":{}}},
                    "template":{"metadata":{"annotations":{"muster.dev/run-time":"forever"}},
                    "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"app:1"}]}}}}}})");
      }},
      .step = minutes{25},
      .with_trouble = minutes{25}};
}

class SetFaults : public ::testing::TestWithParam<Play> {
 protected:
  const Play& play_ = GetParam();
};

TEST_P(SetFaults, ARestartAfterAnyWriteChangesNothingInTheEnd) {
  int writes = 0;
  const Lines expected = outcome(play_, {}, 1, &writes);
  ASSERT_GT(writes, 10);
  ASSERT_GT(expected.size(), 3U);
  for (int crash = 0; crash < writes; ++crash)
    ASSERT_EQ(outcome(play_, {.crash_at = crash}), expected) << "restarted after write " << crash;
}

TEST_P(SetFaults, AServerThatIsAwayForMinutesChangesNothingInTheEnd) {
  int writes = 0;
  const Lines expected = outcome(play_, {}, 1, &writes);
  for (int from = 0; from < writes; from += std::max(1, writes / 4))
    ASSERT_EQ(outcome(play_, {.refuse_from = from, .refuse_for = seconds{100}}), expected)
        << "away from write " << from;
}

TEST_P(SetFaults, ConflictsErrorsAndDisturbedFeedsChangeNothingInTheEnd) {
  const Lines expected = outcome(play_, {});
  const Disturbance all{.late = 3, .single = 3, .twice = 3, .gaps = 3};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ASSERT_EQ(outcome(play_, {.flaky = 3}, seed), expected) << "conflicts, seed " << seed;
    ASSERT_EQ(outcome(play_, {.feeds = {.late = 2, .single = 2, .twice = 2}}, seed), expected)
        << "late and twice, seed " << seed;
    ASSERT_EQ(outcome(play_, {.feeds = {.late = 2, .gaps = 1}}, seed), expected)
        << "gaps, seed " << seed;
    ASSERT_EQ(
        outcome(play_, {.crash_at = 5 * static_cast<int>(seed), .flaky = 5, .feeds = all}, seed),
        expected)
        << "everything, seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SetFaults,
                         ::testing::Values(replica_set(), daemon_set(), stateful_set(), cron_job()),
                         [](const auto& about) { return about.param.name; });

}  // namespace
}  // namespace muster::sim
