#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::node_object;
using testing::pod_object;
using testing::PodText;
using testing::World;

// One freed slot wakes one of many equal pods, and the next only if that one was placed.
TEST(Scheduler, AttemptsForAFreedSlotDoNotGrowWithThoseWhoWait) {
  World world;
  world.synced();
  world.node("n1", {.cpu = "1"});
  for (int i = 0; i < 100; ++i) world.pod("p" + std::to_string(i));
  world.settle();
  const auto before = world.scheduler.numbers().attempts;
  world.now += minutes{1};
  for (const auto& [name, text] : std::map(world.pods))
    if (!text.node.empty()) world.delete_pod(name);
  world.settle();
  EXPECT_LE(world.scheduler.numbers().attempts - before, 2U);
  EXPECT_EQ(world.scheduler.numbers().scheduled, 2U);
}

// Everything that happens in a made-up day, with refused bindings; the log of all requests.
std::vector<std::string> made_up_day(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::uint32_t bound) { return random() % bound; };
  World world({.binds_in_flight_max = 5});
  world.synced();
  for (int step = 0; step < 400; ++step) {
    const std::string pod = "p" + std::to_string(below(40));
    const std::string node = "n" + std::to_string(below(6));
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        if (!world.pods.contains(pod))
          world.pod(pod, {.uid = pod + "-" + std::to_string(step),
                          .cpu = std::to_string(1 + below(3)),
                          .priority = static_cast<std::int32_t>(below(3)),
                          .gate = below(8) == 0 ? "wait" : ""});
        break;
      case 3:
        if (world.pods.contains(pod)) world.delete_pod(pod);
        break;
      case 4:
        world.node(node, {.cpu = std::to_string(2 + below(6)), .cordoned = below(4) == 0});
        break;
      case 5:
        if (world.nodes.contains(node) && below(3) == 0) world.delete_node(node);
        break;
      case 6:
        if (!world.calls.empty() && below(2) == 0) {
          const Reason reasons[] = {Reason::Conflict, Reason::ServiceUnavailable,
                                    Reason::InternalError};
          world.refuse(world.calls.front().ticket, reasons[below(3)]);
          world.calls.pop_front();
        }
        break;
      default: world.now += seconds{below(5)}; break;
    }
    if (below(3) > 0) world.run();
    if (below(3) == 0) world.answer();
  }
  world.now += minutes{10};
  world.settle();
  return world.log;
}

TEST(Scheduler, TheSameInputsGiveTheSameRequests) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const auto once = made_up_day(seed);
    EXPECT_GT(once.size(), 20U);
    EXPECT_EQ(once, made_up_day(seed));
  }
}

// What a fresh look at all objects would place; empty if nothing.
std::string placeable(const World& world) {
  ClusterModel model(default_profile(), {});
  for (const auto& [name, text] : world.nodes) model.put(node_object(name, text));
  for (const auto& [name, minimum] : world.gangs) model.put(World::gang_object(name, minimum));
  for (const auto& [name, text] : world.pods) model.put(pod_object(name, text));
  for (const api::ObjectPtr& pod : model.lone(PodRole::Waiting))
    if (!attempt(model, pod).assignments.empty()) return pod->meta().name;
  for (const GroupKey& root : model.roots())
    if (model.runnable(root) && !attempt(model, root).assignments.empty()) return root.name;
  return {};
}

// One thing that may happen. Most of it frees room, makes nodes acceptable or changes a group.
void happen(World& world, std::mt19937& random) {
  const auto below = [&random](std::uint32_t bound) { return random() % bound; };
  const std::string pod = "p" + std::to_string(below(60));
  const std::string node = "n" + std::to_string(below(5));
  const std::string group = "g" + std::to_string(below(6));
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      if (!world.pods.contains(pod))
        world.pod(pod, {.cpu = std::to_string(1 + below(3)),
                        .gate = below(10) == 0 ? "wait" : "",
                        .group = below(3) == 0 ? "" : group});
      break;
    case 3:
    case 4:
      if (world.pods.contains(pod)) world.delete_pod(pod);
      break;
    case 5:
      if (const auto at = world.pods.find(pod); at != world.pods.end()) {
        PodText text = at->second;
        text.gate.clear();
        if (!text.node.empty() && below(2) == 0)
          text.phase = below(3) == 0 ? "Failed" : "Succeeded";
        if (!text.node.empty() && below(4) == 0) text.terminating = true;
        world.pod(pod, text);
      }
      break;
    case 6: world.gang(group, static_cast<int>(below(5))); break;
    default:
      if (world.nodes.contains(node) && below(3) == 0)
        world.delete_node(node);
      else
        world.node(node, {.cpu = std::to_string(1 + below(6)), .cordoned = below(4) == 0});
      break;
  }
}

// After any sequence of events, when everything that is due was tried, nothing is left that a fresh
// attempt would place: every wake-up came. No time passes, so that no flush helps.
void expect_nobody_is_left_resting(void (*happens)(World&, std::mt19937&)) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    World world({.group_bindings = seed % 2 == 0});
    world.synced();
    for (int step = 0; step < 150; ++step) {
      happens(world, random);
      if (random() % 2 == 0) continue;
      world.settle();
      ASSERT_EQ(placeable(world), "") << "after step " << step;
    }
  }
}

TEST(Scheduler, WhatAFreshAttemptWouldPlaceIsNeverLeftResting) {
  expect_nobody_is_left_resting(happen);
}

// --- pods that mind each other ---

std::string about(const std::string& app, const std::string& key) {
  return fmt::format(R"("topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}})", key,
                     app);
}

// What a pod may want of nodes and of others.
std::string random_wish(std::mt19937& random) {
  const auto below = [&random](std::uint32_t bound) { return random() % bound; };
  const std::string app(1, "abc"[below(3)]);
  const std::string key = below(2) == 0 ? "zone" : "kubernetes.io/hostname";
  const auto company = [&](std::string_view side) {
    return fmt::format(
        R"(,"affinity":{{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{{}}}]}}}})",
        side, about(app, key));
  };
  switch (below(8)) {
    case 0: return company("podAntiAffinity");
    case 1: return company("podAffinity");
    case 2:
    case 3:
      return fmt::format(
          R"(,"topologySpreadConstraints":[{{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule",{}}}])",
          about(app, key));
    case 4: return fmt::format(R"(,"nodeSelector":{{"zone":"z{}"}})", below(3));
    case 5: return R"(,"tolerations":[{"key":"t","operator":"Exists"}])";
    case 6:
      return R"(,"initContainers":[{"name":"p","image":"i","restartPolicy":"Always",)"
             R"("ports":[{"containerPort":80,"hostPort":80}]}])";
    default: return {};
  }
}

void happen_among_company(World& world, std::mt19937& random) {
  const auto below = [&random](std::uint32_t bound) { return random() % bound; };
  const std::string pod = "p" + std::to_string(below(40));
  const std::string node = "n" + std::to_string(below(5));
  const std::string app(1, "abc"[below(3)]);
  const auto known = world.pods.find(pod);
  switch (below(9)) {
    case 0:
    case 1:
    case 2:
      if (known == world.pods.end())
        world.pod(pod, {.group = below(3) > 0 ? "" : "g" + std::to_string(below(4)),
                        .app = app,
                        .spec = random_wish(random)});
      break;
    case 3:
    case 4:
      if (known != world.pods.end()) world.delete_pod(pod);
      break;
    case 5:
      if (known != world.pods.end()) {
        PodText changed = known->second;
        if (below(2) == 0)
          changed.app = app;  // whom others mean may change at any time
        else if (!changed.node.empty())
          changed.phase = "Succeeded";
        world.pod(pod, changed);
      }
      break;
    case 6: world.gang("g" + std::to_string(below(4)), static_cast<int>(1 + below(3))); break;
    default:
      if (world.nodes.contains(node) && below(4) == 0)
        world.delete_node(node);
      else
        world.node(node, {.cpu = std::to_string(1 + below(4)),
                          .zone = below(4) == 0 ? "" : "z" + std::to_string(below(3)),
                          .taint = below(4) == 0 ? "t" : ""});
      break;
  }
}

TEST(Scheduler, NorIsWhatTheCompanyOfOthersLetsIn) {
  expect_nobody_is_left_resting(happen_among_company);
}

}  // namespace
}  // namespace muster::scheduler
