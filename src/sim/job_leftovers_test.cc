#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/json.h"
#include "sim/live_blocks_testing.h"
#include "sim/world.h"

// What Jobs cost while they run, when they have finished, and when they are gone.
namespace muster::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

class JobLeftovers : public ::testing::Test {
 protected:
  static bool is_long() { return std::getenv("MUSTER_TEST_LONG") != nullptr; }
  // MUSTER_TEST_LONG=3000 takes so many, for machines that are slow.
  static int many_jobs() {
    if (!is_long()) return 25;
    const long said = std::strtol(std::getenv("MUSTER_TEST_LONG"), nullptr, 10);
    return said > 1 ? static_cast<int>(said) : 10'000;
  }

  JobLeftovers()
      : world_([] {
          World::Options options;
          options.shape.pools.push_back(
              {.racks_per_block = 4,
               .nodes_per_rack = 8,
               .resources = parse_resources("cpu=32,memory=64Gi").value()});
          // What watches resume from is bounded, for each kind; the first Jobs fill it.
          options.window = {.changes_max = std::min<std::size_t>(
                                10'000, 2 * static_cast<std::size_t>(many_jobs()))};
          return options;
        }()) {
    world_.run_until_idle();
  }

  // Gangs of four, made and run to their end.
  void run_jobs(int jobs) {
    for (int i = 0; i < jobs; ++i) {
      auto job = api::parse_json(fmt::format(
          R"({{"metadata":{{"name":"j{}","namespace":"default"}},"spec":{{"parallelism":4,"completions":4,
              "completionMode":"Indexed","scheduling":{{"schedulingPolicy":{{"gang":{{}}}}}},"template":{{"spec":{{
              "restartPolicy":"Never","containers":[{{"name":"main","image":"app","resources":{{
              "requests":{{"cpu":"1"}}}}}}]}}}}}}}})",
          i));
      ASSERT_TRUE(job);
      const auto answer =
          world_.ask(client::create_request(job_kind(), "default", std::move(job->value)));
      ASSERT_TRUE(answer) << answer.error().message;
    }
    world_.advance(minutes{10});
  }
  // They are deleted afterwards. So are events: the thread that lets them expire is not here.
  void come_and_go(int jobs) {
    run_jobs(jobs);
    for (int i = 0; i < jobs; ++i) {
      const api::ObjectPtr job = world_.get(job_kind(), "default", fmt::format("j{}", i));
      ASSERT_NE(job, nullptr);
      ASSERT_NE(job->bytes().find("\"Complete\""), std::string_view::npos) << job->bytes();
      api::Request request = client::delete_request(*job, std::nullopt);
      request.remove.propagation_policy = "Background";
      ASSERT_TRUE(world_.ask(std::move(request)));
    }
    world_.advance(minutes{10});
    for (const api::ObjectPtr& event :
         world_.store().list(api::kinds::event().store_prefix + "/").objects)
      ASSERT_TRUE(world_.ask(client::delete_request(*event, std::nullopt)));
    world_.advance(hours{3});  // the longest that anybody remembers what is gone
    world_.forget_history();
  }

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const api::ObjectPtr& object : world_.store().list("").objects)
      out.insert(object->kind().kind + " " + api::key_text(object->meta()));
    return out;
  }

  World world_;
};

TEST_F(JobLeftovers, FinishedJobsCostNothing) {
  run_jobs(20);
  world_.advance(hours{2});
  const auto looks = [&] {  // how often any controller looked at anything
    std::string out;
    const std::string text = world_.metrics().text();
    for (std::size_t at = text.find("workqueue_adds_total{"); at != std::string::npos;
         at = text.find("workqueue_adds_total{", at + 1))
      out += text.substr(at, text.find('\n', at) + 1 - at);
    return out;
  };
  const std::string before = looks();
  ASSERT_NE(before.find(R"(name="job")"), std::string::npos) << before;
  const auto revision = world_.store().revision();
  world_.advance(hours{24});
  EXPECT_EQ(world_.store().revision(), revision);
  EXPECT_EQ(looks(), before);
}

// Every write is durable, so this is what a Job costs wherever it runs. Who adds one has a reason.
TEST_F(JobLeftovers, AGangOfFourTakesFewWrites) {
  std::map<std::string, int> writes;
  world_.set_fault([&](const api::Request& request) -> std::optional<Error> {
    constexpr std::string_view kVerbs[] = {"get",    "list",  "watch",  "create",
                                           "update", "patch", "delete", "deletecollection"};
    ++writes[fmt::format("{} {}{}{}", kVerbs[static_cast<std::size_t>(request.verb)],
                         request.kind->kind, request.subresource.empty() ? "" : "/",
                         request.subresource)];
    return std::nullopt;
  });
  run_jobs(1);
  std::string text;
  for (const auto& [what, count] : writes) text += fmt::format("{} {}\n", count, what);
  EXPECT_EQ(
      text,
      "12 create Event\n1 create GroupBinding\n1 create Job\n4 create Pod\n1 create PodGroup\n"
      "1 create Workload\n4 patch Job/status\n4 patch Pod\n8 patch Pod/status\n"
      "1 patch PodGroup/status\n");
}

// The first Jobs fill what is bounded. After that, one entry too many per Job would be seen: in any
// mirror, index, queue or memory of any component, in the server, or in the store.
TEST_F(JobLeftovers, NothingIsLeftOfJobsThatAreGone) {
  const int jobs = many_jobs();
  const std::set<std::string> before = names();
  live_blocks();
  come_and_go(jobs);
  come_and_go(jobs);
  EXPECT_EQ(names(), before);
  const auto blocks = live_blocks();
  if (!blocks) GTEST_SKIP() << "memory is not counted here";
  come_and_go(jobs);
  EXPECT_EQ(names(), before);
  EXPECT_LT(*live_blocks(), *blocks + jobs);
}

}  // namespace
}  // namespace muster::sim
