#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/faults_testing.h"

// Jobs come to the same end whatever happens to their controller and its calls on the way.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

constexpr std::string_view kPodsOf =
    R"("template":{"metadata":{"annotations":{"muster.dev/run-time":"5s"}},"spec":{"restartPolicy":"Never",
       "containers":[{"name":"main","image":"app:1","resources":{"requests":{"cpu":"1"}}}]}})";

World::Options two_nodes() {
  World::Options options;
  options.shape.pools.push_back({.racks_per_block = 1,
                                 .nodes_per_rack = 2,
                                 .resources = parse_resources("cpu=8,memory=16Gi").value()});
  return options;
}

void create_job(FaultyWorld& world, std::string_view name, std::string_view spec) {
  world.create(
      job_kind(),
      fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{},{}}}}})", name,
                  spec, kPodsOf));
}

// What there is, without what differs from run to run: names, uids, times.
std::vector<std::string> end_of(FaultyWorld& world) {
  std::vector<std::string> out;
  for (const api::ObjectPtr& job : world.all(job_kind())) {
    const Json document = job->document();
    const Json& status = api::part_of(document, "status");
    std::string text = job->meta().name;
    for (const std::string_view member :
         {"active", "ready", "succeeded", "failed", "terminating", "completedIndexes",
          "failedIndexes", "uncountedTerminatedPods"})
      if (const Json* value = api::find(status, member))
        text += fmt::format(" {}={}", member, api::to_text(*value));
    // Who rested for a moment may have been resumed before anybody could say so.
    for (const Json& condition : api::elements(status, "conditions"))
      if (api::find_string(condition, "type") != "Suspended")
        text += fmt::format(" {}={}/{}", api::find_string(condition, "type"),
                            api::find_string(condition, "status"),
                            api::find_string(condition, "reason"));
    out.push_back(std::move(text));
  }
  std::multiset<std::string> pods;
  for (const api::ObjectPtr& pod : world.all(api::kinds::pod()))
    pods.insert(fmt::format("pod {} {}",
                            pod->meta().owners.empty() ? "" : pod->meta().owners[0].name,
                            pod->view<api::PodView>().phase));
  out.insert(out.end(), pods.begin(), pods.end());
  for (const api::ObjectPtr& workload : world.all(api::kinds::workload()))
    out.push_back("workload of " + workload->meta().owners[0].name);
  for (const api::ObjectPtr& group : world.all(api::kinds::pod_group()))
    out.push_back("group of " + group->meta().owners[0].name);
  return out;
}

// Enough for three Jobs of five seconds if nothing goes wrong, and a restart does not.
constexpr Duration kShort = seconds{45};

// A plain Job, a gang, and one that rests for a while.
std::vector<std::string> outcome(const Trouble& trouble, Duration length, std::uint64_t seed = 1,
                                 int* writes = nullptr) {
  FaultyWorld world(trouble, seed, two_nodes());
  create_job(world, "plain", R"("parallelism":2,"completions":4)");
  create_job(
      world, "gang",
      R"("parallelism":3,"completions":3,"completionMode":"Indexed","scheduling":{"schedulingPolicy":{"gang":{}}})");
  create_job(world, "resting", R"("parallelism":2,"completions":2,"suspend":true)");
  world.advance(seconds{3});
  world.patch(job_kind(), "resting", R"({"spec":{"suspend":false}})");
  world.advance(length);
  if (writes != nullptr) *writes = world.writes();
  return end_of(world);
}

TEST(JobFaults, ARestartAfterAnyWriteChangesNothingInTheEnd) {
  int writes = 0;
  const std::vector<std::string> expected = outcome({}, kShort, 1, &writes);
  ASSERT_GT(writes, 30);
  EXPECT_EQ(expected[0].substr(0, 4), "gang");
  EXPECT_NE(expected[0].find("Complete=True/CompletionsReached"), std::string::npos) << expected[0];
  for (int crash = 0; crash < writes; ++crash)
    ASSERT_EQ(outcome({.crash_at = crash}, kShort), expected) << "restarted after write " << crash;
}

TEST(JobFaults, AServerThatIsAwayForMinutesChangesNothingInTheEnd) {
  int writes = 0;
  const std::vector<std::string> expected = outcome({}, kShort, 1, &writes);
  for (int from = 0; from < writes; from += 16)
    ASSERT_EQ(outcome({.refuse_from = from, .refuse_for = minutes{2}}, minutes{10}), expected)
        << "away from write " << from;
}

TEST(JobFaults, ConflictsErrorsAndLateFeedsChangeNothingInTheEnd) {
  const std::vector<std::string> expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    ASSERT_EQ(outcome({.flaky = 3}, minutes{4}, seed), expected) << "conflicts, seed " << seed;
    ASSERT_EQ(outcome({.late = 2}, minutes{4}, seed), expected) << "late feeds, seed " << seed;
    ASSERT_EQ(
        outcome({.crash_at = static_cast<int>(seed), .flaky = 4, .late = 3}, minutes{4}, seed),
        expected)
        << "everything, seed " << seed;
  }
}

TEST(JobFaults, EventsThatAreLateRepeatedAndOutOfOrderChangeNothingInTheEnd) {
  const std::vector<std::string> expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    ASSERT_EQ(outcome({.feeds = {.twice = 2}}, minutes{2}, seed), expected)
        << "twice, seed " << seed;
    ASSERT_EQ(outcome({.feeds = {.late = 2, .single = 2, .twice = 3}}, minutes{4}, seed), expected)
        << "late and one by one, seed " << seed;
    ASSERT_EQ(outcome({.feeds = {.late = 2, .gaps = 2}}, minutes{4}, seed), expected)
        << "with gaps, seed " << seed;
    ASSERT_EQ(outcome({.crash_at = 7 * static_cast<int>(seed),
                       .flaky = 5,
                       .feeds = {.late = 3, .single = 3, .twice = 3, .gaps = 3}},
                      minutes{6}, seed),
              expected)
        << "with conflicts and a restart, seed " << seed;
  }
}

// Jobs and pods alone: whether a Job has groups is decided once, by the gates of that moment.
std::vector<std::string> without_groups(std::vector<std::string> end) {
  std::erase_if(end, [](const std::string& line) {
    return line.starts_with("workload of") || line.starts_with("group of");
  });
  return end;
}

// Jobs that are under way when Jobs stop getting groups, or get them again, come to their end.
TEST(JobFaults, AChangeOfGatesInTheMiddleOfAJobChangesNoneOfTheirEnds) {
  const std::vector<std::string> expected = without_groups(outcome({}, kShort));
  for (const int after : {1, 2, 4, 6, 9})
    ASSERT_EQ(without_groups(outcome({.gate_off_after = after}, minutes{2})), expected)
        << "gates change after " << after << " s";
}

}  // namespace
}  // namespace muster::sim
