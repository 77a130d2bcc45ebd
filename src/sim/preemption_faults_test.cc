#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "sim/world.h"

// Preemption comes to the same end whatever happens to the scheduler and its calls on the way.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

// What a run does to the scheduler.
struct Trouble {
  int crash_at = -1;           // restart after so many writes
  unsigned flaky = 0;          // one of so many calls conflicts or fails
  unsigned late = 0;           // in one of so many moments its feeds stand still
  std::string_view lost = {};  // a pod that is deleted while the scheduler is down
  Disturbance feeds = {};      // of the scheduler; calm in the end
};

constexpr std::string_view kTogether = R"(,"disruptionMode":{"all":{}})";
constexpr std::string_view kOneRack =
    R"(,"schedulingConstraints":{"topology":[{"key":"topology.kubernetes.io/rack"}]})";

constexpr int kNodes = 6;

// Two racks of three nodes that hold one pod each.
World::Options racks(const Disturbance& feeds) {
  World::Options options;
  options.scheduler_feeds = feeds;
  options.shape.pools.push_back({.racks_per_block = 2,
                                 .nodes_per_rack = kNodes / 2,
                                 .resources = parse_resources("cpu=4,memory=16Gi").value()});
  return options;
}

class FaultyRun {
 public:
  FaultyRun(const Trouble& trouble, std::uint64_t seed)
      : trouble_(trouble), entropy_(seed), world_(racks(trouble.feeds)) {
    world_.run_until_idle();
    for (const int priority : {1, 10, 20})
      create(*api::find_kind("scheduling.k8s.io", "PriorityClass"),
             fmt::format(R"({{"metadata":{{"name":"p{0}"}},"value":{0}}})", priority));
    world_.set_fault([this](const api::Request& request) { return fault(request); });
  }

  void gang(std::string_view name, int pods, int priority, std::string_view more) {
    create(api::kinds::pod_group(),
           fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"priorityClassName":"p{}",
             "schedulingPolicy":{{"gang":{{"minCount":{}}}}}{}}}}})",
                       name, priority, pods, more));
    size_of_[std::string(name)] = pods;
    members(name, pods, priority);
  }
  void members(std::string_view gang, int pods, int priority) {
    for (int i = 0; i < pods; ++i)
      pod(fmt::format("{}-{}", gang, i), priority,
          fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", gang));
  }
  void pod(std::string_view name, int priority, std::string_view more = {}) {
    create(api::kinds::pod(),
           fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}{}"containers":[{{"name":"c",
             "image":"i","resources":{{"requests":{{"cpu":"4"}}}}}}]}}}})",
                       name, more,
                       priority == 0 ? std::string()
                                     : fmt::format(R"("priorityClassName":"p{}",)", priority)));
  }
  void remove(std::string_view name) {
    if (const api::ObjectPtr pod = world_.get(api::kinds::pod(), "default", name)) {
      const auto answer = world_.ask(client::delete_request(*pod, 0));
      ASSERT_TRUE(answer) << answer.error().message;
    }
  }
  void advance(Duration duration) {
    for (Duration left = duration; left > Duration{0}; left -= seconds{1}) {
      if (trouble_.late > 0) world_.hold_scheduler_feeds(entropy_.below(trouble_.late) == 0);
      world_.advance(seconds{1});
      look();
      if (!dead_) continue;
      if (!trouble_.lost.empty()) remove(trouble_.lost);
      world_.restart_scheduler();
      dead_ = false;
    }
    world_.hold_scheduler_feeds(false);
    world_.advance(Duration{0});
  }
  // What was late or repeated comes to its end.
  void calm_down() {
    world_.calm_feeds(true);
    advance(minutes{4});
    EXPECT_EQ(world_.scheduler().audit(list(api::kinds::node()), pods()), "");
  }
  int writes() const { return writes_; }

  // Pods that run, by the first part of their names.
  std::map<std::string, int> end() {
    std::map<std::string, int> running;
    for (const api::ObjectPtr& pod : pods())
      if (!pod->view<api::PodView>().node_name.empty())
        ++running[pod->meta().name.substr(0, pod->meta().name.find('-'))];
    return running;
  }
  // Who says that it is to be evicted, but does not end.
  std::vector<std::string> marked() {
    std::vector<std::string> names;
    for (const api::ObjectPtr& pod : pods())
      if (!pod->meta().deletion_time &&
          pod->view<api::PodView>().condition("DisruptionTarget") != nullptr)
        names.push_back(pod->meta().name);
    for (const std::string_view name : {"low", "high"}) {
      const api::ObjectPtr group = world_.get(api::kinds::pod_group(), "default", name);
      if (group != nullptr &&
          group->view<api::GroupView>().condition("DisruptionTarget") != nullptr)
        names.push_back("group " + group->meta().name);
    }
    return names;
  }

 private:
  void create(const api::Kind& kind, std::string_view json) {
    const auto answer = world_.ask(client::create_request(kind, kind.namespaced ? "default" : "",
                                                          api::parse_json(json).value().value));
    ASSERT_TRUE(answer) << answer.error().message << json;
  }
  std::vector<api::ObjectPtr> pods() { return list(api::kinds::pod()); }
  std::vector<api::ObjectPtr> list(const api::Kind& kind) { return world_.list(kind); }
  // At every moment: a node holds one pod, and of a gang that was never whole no pod runs.
  void look() {
    std::map<std::string, int> on_node;
    std::map<std::string, int> of_gang;
    for (const api::ObjectPtr& pod : pods()) {
      const auto& view = pod->view<api::PodView>();
      if (view.node_name.empty()) continue;
      EXPECT_EQ(++on_node[view.node_name], 1) << view.node_name << " holds two pods";
      if (!view.scheduling_group.empty()) ++of_gang[view.scheduling_group];
    }
    for (const auto& [gang, pods] : of_gang) {
      EXPECT_TRUE(pods == size_of_[gang] || was_whole_[gang]) << gang << " is bound in parts";
      was_whole_[gang] = true;
    }
  }

  std::optional<Error> fault(const api::Request& request) {
    if (request.user.name != "system:kube-scheduler" || request.kind == &api::kinds::event())
      return std::nullopt;
    if (dead_) return make_error(Reason::ServiceUnavailable, "the scheduler is dead");
    const int write = writes_++;
    if (write == trouble_.crash_at) {
      dead_ = true;  // this one is still done; nobody hears the answer
      return std::nullopt;
    }
    if (trouble_.flaky > 0 && entropy_.below(trouble_.flaky) == 0) {
      constexpr std::array kReasons{Reason::Conflict, Reason::ServiceUnavailable,
                                    Reason::Forbidden};
      return make_error(kReasons.at(entropy_.below(kReasons.size())), "no luck");
    }
    return std::nullopt;
  }

  const Trouble trouble_;
  SeededEntropy entropy_;
  int writes_ = 0;
  bool dead_ = false;
  std::map<std::string, int> size_of_;  // gangs
  std::map<std::string, bool> was_whole_;
  World world_;
};

// A gang that is disrupted as a whole and three single pods fill the cluster. A higher gang evicts
// the single pods, and then a still higher pod evicts the lower gang.
std::map<std::string, int> outcome(const Trouble& trouble, Duration length, std::uint64_t seed = 1,
                                   int* writes = nullptr) {
  FaultyRun run(trouble, seed);
  run.gang("low", 3, 1, kTogether);
  run.advance(length);
  for (int i = 0; i < 3; ++i) run.pod(fmt::format("single-{}", i), 0);
  run.advance(length);
  run.gang("high", 3, 10, kOneRack);
  run.advance(length);
  run.pod("urgent-0", 20);
  run.advance(length);
  if (trouble.feeds != Disturbance{}) run.calm_down();
  if (writes != nullptr) *writes = run.writes();
  return run.end();
}

constexpr Duration kShort = seconds{50};  // a pod is given 30 seconds to stop

TEST(PreemptionFaults, TheCheapestGoAndTheHighestStay) {
  EXPECT_EQ(outcome({}, kShort), (std::map<std::string, int>{{"high", 3}, {"urgent", 1}}));
}

TEST(PreemptionFaults, ARestartAfterAnyWriteChangesNothingInTheEnd) {
  int writes = 0;
  const std::map<std::string, int> expected = outcome({}, kShort, 1, &writes);
  ASSERT_GT(writes, 12);
  for (int crash = 0; crash < writes; ++crash)
    ASSERT_EQ(outcome({.crash_at = crash}, 2 * kShort), expected)
        << "restarted after write " << crash;
}

TEST(PreemptionFaults, ConflictsErrorsAndLateFeedsChangeNothingInTheEnd) {
  const std::map<std::string, int> expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    ASSERT_EQ(outcome({.flaky = 3}, minutes{4}, seed), expected) << "conflicts, seed " << seed;
    ASSERT_EQ(outcome({.late = 2}, minutes{4}, seed), expected) << "late feeds, seed " << seed;
    ASSERT_EQ(
        outcome({.crash_at = static_cast<int>(seed) * 2, .flaky = 4, .late = 3}, minutes{4}, seed),
        expected)
        << "everything, seed " << seed;
  }
}

TEST(PreemptionFaults, EventsThatAreLateRepeatedAndOutOfOrderChangeNothingInTheEnd) {
  const std::map<std::string, int> expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ASSERT_EQ(outcome({.feeds = {.twice = 2}}, minutes{2}, seed), expected) << "seed " << seed;
    ASSERT_EQ(outcome({.feeds = {.late = 2, .single = 2, .twice = 3, .gaps = 3}}, minutes{4}, seed),
              expected)
        << "seed " << seed;
    ASSERT_EQ(outcome({.crash_at = 3 * static_cast<int>(seed),
                       .flaky = 4,
                       .feeds = {.late = 3, .single = 3, .twice = 3, .gaps = 3}},
                      minutes{4}, seed),
              expected)
        << "with conflicts and a restart, seed " << seed;
  }
}

// Pods and gangs that come one after the other, each to a cluster at rest.
struct Arrival {
  std::string name;
  int pods = 1;
  int priority = 1;
  bool is_gang = false;
  bool is_in_one_rack = false;
  bool goes_together = false;
};

std::vector<Arrival> made_up(std::uint64_t seed) {
  SeededEntropy entropy(seed);
  std::vector<Arrival> arrivals(5 + entropy.below(3));
  constexpr std::array kPriorities{1, 10, 20};
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    Arrival& arrival = arrivals[i];
    arrival.name = fmt::format("e{}", i);
    arrival.priority = kPriorities.at(entropy.below(kPriorities.size()));
    arrival.is_gang = entropy.below(3) > 0;
    if (!arrival.is_gang) continue;
    arrival.pods = 2 + static_cast<int>(entropy.below(2));
    arrival.is_in_one_rack = entropy.below(2) == 0;
    arrival.goes_together = entropy.below(2) == 0;
  }
  return arrivals;
}

// What two ends must have in common: how many pods of each priority run. Which of several victims
// goes that cost the same depends on how long they have run.
std::map<int, int> outcome_of(const std::vector<Arrival>& arrivals, const Trouble& trouble,
                              Duration length, std::uint64_t seed) {
  FaultyRun run(trouble, seed);
  for (const Arrival& arrival : arrivals) {
    if (arrival.is_gang)
      run.gang(arrival.name, arrival.pods, arrival.priority,
               fmt::format("{}{}", arrival.goes_together ? kTogether : "",
                           arrival.is_in_one_rack ? kOneRack : ""));
    else
      run.pod(arrival.name + "-0", arrival.priority);
    run.advance(length);
  }
  run.calm_down();
  std::map<std::string, int> running = run.end();
  std::map<int, int> by_priority;
  for (const Arrival& arrival : arrivals) {
    const int pods = running[arrival.name];
    if (pods > 0) by_priority[arrival.priority] += pods;
    EXPECT_TRUE(!arrival.goes_together || pods == 0 || pods == arrival.pods)
        << pods << " of " << arrival.name << " run";
  }
  return by_priority;
}

TEST(PreemptionFaults, WhateverComesTheEndIsTheSame) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::vector<Arrival> arrivals = made_up(seed);
    const std::map<int, int> expected = outcome_of(arrivals, {}, kShort, seed);
    ASSERT_EQ(
        outcome_of(arrivals, {.flaky = 5, .feeds = {.late = 3, .single = 3, .twice = 3, .gaps = 3}},
                   minutes{4}, seed),
        expected)
        << "seed " << seed;
    ASSERT_EQ(
        outcome_of(arrivals, {.crash_at = 4 * static_cast<int>(seed), .late = 3}, minutes{3}, seed),
        expected)
        << "restarted, seed " << seed;
  }
}

// Somebody wanted the room and does not want it any more, at any moment: a gang that is disrupted
// as a whole runs on as a whole, or goes as a whole.
TEST(PreemptionFaults, AGangIsNeverEvictedInPart) {
  bool stayed = false;
  bool went = false;
  for (int crash = 0; crash < 100; ++crash) {
    FaultyRun run({.crash_at = crash, .lost = "urgent-0"}, 1);
    run.gang("low", 3, 1, kTogether);
    run.gang("high", 3, 10, kOneRack);
    run.advance(kShort);
    run.pod("urgent-0", 20);
    run.advance(3 * kShort);
    const int low = run.end()["low"];
    ASSERT_TRUE(low == 0 || low == 3) << low << ", restarted after write " << crash;
    ASSERT_EQ(run.marked(),
              low == 0 ? std::vector<std::string>{"group low"} : std::vector<std::string>{})
        << "restarted after write " << crash;
    (low == 0 ? went : stayed) = true;
    if (run.writes() <= crash) break;
  }
  EXPECT_TRUE(stayed && went);
}

// The mark of the eviction is still on the group, or is about to be removed.
TEST(PreemptionFaults, AGangThatCameBackIsNotEvictedAgain) {
  for (int crash = -1, writes = 1; crash < writes; ++crash) {
    FaultyRun run({.crash_at = crash}, 1);
    run.gang("low", 3, 1, kTogether);
    run.gang("high", 3, 10, kOneRack);
    run.advance(kShort);
    run.pod("urgent-0", 20);
    run.advance(2 * kShort);
    ASSERT_EQ(run.end(), (std::map<std::string, int>{{"high", 3}, {"urgent", 1}}));
    run.remove("urgent-0");
    run.members("low", 3, 1);
    run.advance(2 * kShort);
    ASSERT_EQ(run.end(), (std::map<std::string, int>{{"high", 3}, {"low", 3}}))
        << "restarted after write " << crash;
    ASSERT_EQ(run.marked(), std::vector<std::string>{}) << "restarted after write " << crash;
    writes = run.writes();
  }
}

}  // namespace
}  // namespace muster::sim
