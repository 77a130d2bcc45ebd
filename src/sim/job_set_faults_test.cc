#include <set>

#include "sim/job_sets_testing.h"

// JobSets come to the same end whatever happens to their controllers and their calls on the way.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

class Run : public FaultyWorld {
 public:
  Run(const Trouble& trouble, std::uint64_t seed)
      : FaultyWorld(trouble, seed, [] {
          World::Options options;
          options.shape.pools.push_back(
              {.racks_per_block = 2,
               .nodes_per_rack = 2,
               .resources = parse_resources("cpu=8,memory=16Gi").value()});
          return options;
        }()) {}

  void create(std::string_view name, const std::vector<Replicated>& jobs, std::string_view more) {
    std::string list;
    for (const Replicated& job : jobs) list += (list.empty() ? "" : ",") + job.text();
    FaultyWorld::create(
        job_set_kind(),
        fmt::format(
            R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{"replicatedJobs":[{}],{}}}}})",
            name, list, more));
  }
  void patch(std::string_view name, std::string_view merge) {
    FaultyWorld::patch(job_set_kind(), name, merge);
  }

  // What there is, without what differs from run to run: uids, times, hashes in names.
  Texts end() {
    Texts out;
    for (const api::ObjectPtr& set : all(job_set_kind())) {
      const Json document = set->document();
      const Json& status = api::part_of(document, "status");
      std::string text = set->meta().name;
      for (const std::string_view member : {"restarts", "terminalState", "replicatedJobsStatus"})
        if (const Json* value = api::find(status, member))
          text += fmt::format(" {}={}", member, api::to_text(*value));
      for (const Json& condition : api::elements(status, "conditions"))
        if (api::find_string(condition, "status") == "True")
          text += fmt::format(" {}/{}", api::find_string(condition, "type"),
                              api::find_string(condition, "reason"));
      out.push_back(std::move(text));
    }
    for (const api::ObjectPtr& job : all(job_kind())) out.push_back("job " + job->meta().name);
    std::multiset<std::string> pods;
    for (const api::ObjectPtr& pod : all(api::kinds::pod()))
      pods.insert(
          fmt::format("pod of {} {}", pod->meta().owners[0].name, pod->view<api::PodView>().phase));
    out.insert(out.end(), pods.begin(), pods.end());
    for (const api::Kind* kind :
         {&api::kinds::workload(), &api::kinds::pod_group(), &api::kinds::composite_pod_group()})
      for (const api::ObjectPtr& object : all(*kind)) {
        const std::string& name = object->meta().name;
        out.push_back(
            kind->kind + " " + object->meta().owners[0].name +
            name.substr(std::min(name.size(), name.find_first_of(".-", name.find('-') + 1))));
      }
    return out;
  }
};

// A tree that completes, one that fails once and for all after a restart, one that rests.
Texts outcome(const Trouble& trouble, Duration length, int* writes = nullptr,
              std::uint64_t seed = 1) {
  Run run(trouble, seed);
  run.create(
      "a",
      {{.name = "d", .run_time = "5s"}, {.name = "w", .replicas = 2, .pods = 2, .run_time = "5s"}},
      R"("scheduling":{"schedulingPolicy":{"gang":{}},"replicatedJobs":[
               {"targetReplicatedJobs":["d"]},{"targetReplicatedJobs":["w"],"job":{}}]})");
  run.create("b", {{.name = "w", .run_time = "2s", .annotations = R"("muster.dev/exit-code":"1")"}},
             R"("scheduling":{},"failurePolicy":{"maxRestarts":1})");
  run.create("c", {{.name = "w", .pods = 2}}, R"("scheduling":{})");
  run.advance(seconds{3});
  run.patch("c", R"({"spec":{"suspend":true}})");
  run.advance(length);
  if (writes != nullptr) *writes = run.writes();
  return run.end();
}

constexpr Duration kShort = seconds{45};

TEST(JobSetFaults, ARestartAfterAnyWriteChangesNothingInTheEnd) {
  int writes = 0;
  const Texts expected = outcome({}, kShort, &writes);
  ASSERT_GT(writes, 60);
  EXPECT_NE(expected[0].find("Completed/AllJobsCompleted"), std::string::npos) << expected[0];
  EXPECT_NE(expected[1].find("Failed/ReachedMaxRestarts"), std::string::npos) << expected[1];
  EXPECT_NE(expected[2].find("Suspended/SuspendedJobs"), std::string::npos) << expected[2];
  for (int crash = 0; crash < writes; crash += 2)
    ASSERT_EQ(outcome({.crash_at = crash}, kShort), expected) << "restarted after write " << crash;
}

TEST(JobSetFaults, AServerThatIsAwayForMinutesChangesNothingInTheEnd) {
  int writes = 0;
  const Texts expected = outcome({}, kShort, &writes);
  for (int from = 0; from < writes; from += 25)
    ASSERT_EQ(outcome({.refuse_from = from, .refuse_for = minutes{2}}, minutes{12}), expected)
        << "away from write " << from;
}

TEST(JobSetFaults, ConflictsErrorsAndLateFeedsChangeNothingInTheEnd) {
  const Texts expected = outcome({}, kShort);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ASSERT_EQ(outcome({.flaky = 4}, minutes{6}, nullptr, seed), expected)
        << "conflicts, seed " << seed;
    ASSERT_EQ(outcome({.late = 2}, minutes{6}, nullptr, seed), expected)
        << "late feeds, seed " << seed;
    ASSERT_EQ(outcome({.crash_at = static_cast<int>(seed) * 7, .flaky = 5, .late = 3}, minutes{6},
                      nullptr, seed),
              expected)
        << "everything, seed " << seed;
  }
}

}  // namespace
}  // namespace muster::sim
