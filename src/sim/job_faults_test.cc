#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/world.h"

// Jobs come to the same end whatever happens to their controller and its calls on the way.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

Json parsed(std::string_view text) {
  Result<api::ParsedJson> json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return std::move(json->value);
}

// What a run does to the controllers.
struct Trouble {
  int crash_at = -1;         // restart after so many writes
  int refuse_from = -1;      // after so many writes the server is away,
  Duration refuse_for = {};  // so long
  unsigned flaky = 0;        // one of so many calls conflicts
  unsigned late = 0;         // in one of so many moments the feeds stand still
};

constexpr std::string_view kPodsOf =
    R"("template":{"metadata":{"annotations":{"muster.dev/run-time":"5s"}},"spec":{"restartPolicy":"Never",
       "containers":[{"name":"main","image":"app:1","resources":{"requests":{"cpu":"1"}}}]}})";

class Run {
 public:
  Run(const Trouble& trouble, std::uint64_t seed)
      : trouble_(trouble), entropy_(seed), world_([] {
          World::Options options;
          options.shape.pools.push_back(
              {.racks_per_block = 1,
               .nodes_per_rack = 2,
               .resources = parse_resources("cpu=8,memory=16Gi").value()});
          return options;
        }()) {
    world_.run_until_idle();
    world_.set_fault([this](const api::Request& request) { return fault(request); });
  }

  void create(std::string_view name, std::string_view spec) {
    Json job = parsed(
        fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{},{}}}}})",
                    name, spec, kPodsOf));
    ASSERT_TRUE(world_.ask(client::create_request(job_kind(), "default", std::move(job))));
  }
  void patch(std::string_view name, std::string_view merge) {
    ASSERT_TRUE(world_.ask(client::patch_request(job_kind(), "default", name, "",
                                                 api::PatchType::Merge, parsed(merge))));
  }
  void advance(Duration duration) {
    for (Duration left = duration; left > Duration{0}; left -= seconds{1}) {
      if (trouble_.late > 0) world_.hold_controller_feeds(entropy_.below(trouble_.late) == 0);
      world_.advance(seconds{1});
      if (!dead_) continue;
      world_.restart_controllers();
      dead_ = false;
    }
    world_.hold_controller_feeds(false);
    world_.advance(Duration{0});
  }
  int writes() const { return writes_; }

  // What there is, without what differs from run to run: names, uids, times.
  std::vector<std::string> end() {
    std::vector<std::string> out;
    for (const api::ObjectPtr& job : all(job_kind())) {
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
    for (const api::ObjectPtr& pod : all(api::kinds::pod()))
      pods.insert(fmt::format("pod {} {}",
                              pod->meta().owners.empty() ? "" : pod->meta().owners[0].name,
                              pod->view<api::PodView>().phase));
    out.insert(out.end(), pods.begin(), pods.end());
    for (const api::ObjectPtr& workload : all(api::kinds::workload()))
      out.push_back("workload of " + workload->meta().owners[0].name);
    for (const api::ObjectPtr& group : all(api::kinds::pod_group()))
      out.push_back("group of " + group->meta().owners[0].name);
    return out;
  }

 private:
  std::vector<api::ObjectPtr> all(const api::Kind& kind) {
    api::Request request;
    request.verb = api::Verb::List;
    request.kind = &kind;
    request.version = kind.stored_version;
    request.name_space = "default";
    return std::get<api::ListAnswer>(world_.ask(std::move(request))->what).items;
  }

  std::optional<Error> fault(const api::Request& request) {
    if (request.user.name != "system:kube-controller-manager" ||
        request.kind == &api::kinds::event())
      return std::nullopt;
    if (dead_) return make_error(Reason::ServiceUnavailable, "the controller is dead");
    const int write = writes_++;
    if (write == trouble_.crash_at) {
      dead_ = true;  // this one is still done; nobody hears the answer
      return std::nullopt;
    }
    if (write == trouble_.refuse_from) away_until_ = world_.now() + trouble_.refuse_for;
    if (world_.now() < away_until_) return make_error(Reason::ServiceUnavailable, "away");
    if (trouble_.flaky > 0 && entropy_.below(trouble_.flaky) == 0)
      return make_error(entropy_.below(2) == 0 ? Reason::Conflict : Reason::InternalError,
                        "no luck");
    return std::nullopt;
  }

  const Trouble trouble_;
  SeededEntropy entropy_;
  int writes_ = 0;
  bool dead_ = false;
  Time away_until_{};
  World world_;
};

// Enough for three Jobs of five seconds if nothing goes wrong, and a restart does not.
constexpr Duration kShort = seconds{45};

// A plain Job, a gang, and one that rests for a while.
std::vector<std::string> outcome(const Trouble& trouble, Duration length, std::uint64_t seed = 1,
                                 int* writes = nullptr) {
  Run run(trouble, seed);
  run.create("plain", R"("parallelism":2,"completions":4)");
  run.create(
      "gang",
      R"("parallelism":3,"completions":3,"completionMode":"Indexed","scheduling":{"schedulingPolicy":{"gang":{}}})");
  run.create("resting", R"("parallelism":2,"completions":2,"suspend":true)");
  run.advance(seconds{3});
  run.patch("resting", R"({"spec":{"suspend":false}})");
  run.advance(length);
  if (writes != nullptr) *writes = run.writes();
  return run.end();
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

}  // namespace
}  // namespace muster::sim
