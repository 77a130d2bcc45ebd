#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>

#include "api/json.h"
#include "sim/world.h"
#if defined(__SANITIZE_ADDRESS__)
// Of the sanitizer's run time; not every compiler ships its header.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // NOLINT
#endif

// Jobs that came, ran and went leave nothing behind: no object, no memory.
namespace muster::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

std::size_t bytes_in_use() {
#if defined(__SANITIZE_ADDRESS__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
#endif
}

class JobLeftovers : public ::testing::Test {
 protected:
  JobLeftovers()
      : world_([] {
          World::Options options;
          options.shape.pools.push_back(
              {.racks_per_block = 4,
               .nodes_per_rack = 8,
               .resources = parse_resources("cpu=32,memory=64Gi").value()});
          // What watches resume from is bounded; a small bound is reached by few Jobs.
          options.window = {.changes_max = 500};
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
  // They are deleted afterwards, and events expire.
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
    world_.advance(hours{2});
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

// Each cycle is one count; in the long form of this test whatever is bounded has long been full.
TEST_F(JobLeftovers, NothingIsLeftOfJobsThatAreGone) {
  const bool is_long = std::getenv("MUSTER_TEST_LONG") != nullptr;
  const int jobs = is_long ? 10'000 : 60;
  const std::set<std::string> before = names();
  come_and_go(jobs);
  EXPECT_EQ(names(), before);
  come_and_go(jobs);
  const std::size_t used = bytes_in_use();
  come_and_go(jobs);
  EXPECT_EQ(names(), before);
  // Event recorders remember a bounded number of events and objects.
  const std::size_t per_job = is_long ? 64 : 8192;
  EXPECT_LT(bytes_in_use(), used + static_cast<std::size_t>(jobs) * per_job);
}

}  // namespace
}  // namespace muster::sim
