#include <set>

#include "sim/job_sets_testing.h"

// CronJobs on the whole control plane: Jobs at their times, grouped like any other.
namespace muster::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const api::Kind& cron_job_kind() { return *api::find_kind("batch", "CronJob"); }

class CronJobs : public JobSetWorld {
 protected:
  void create_cron_job(std::string_view spec, std::string_view run_time = "5s") {
    const auto answer = world_.ask(client::create_request(
        cron_job_kind(), "default",
        parsed(fmt::format(
            R"({{"metadata":{{"name":"tick","namespace":"default"}},"spec":{{"schedule":"* * * * *",{}
                "jobTemplate":{{"spec":{{"parallelism":3,"completions":3,"completionMode":"Indexed",
                "scheduling":{{"schedulingPolicy":{{"gang":{{}}}}}},
                "template":{{"metadata":{{"annotations":{{"muster.dev/run-time":"{}"}}}},
                "spec":{{"restartPolicy":"Never","containers":[{{"name":"c","image":"i"}}]}}}}}}}}}}}})",
            spec, run_time))));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  std::size_t complete() {
    std::size_t count = 0;
    for (const api::ObjectPtr& job : all(job_kind())) {
      const api::Json document = job->document();
      for (const api::Json& each : api::elements(api::part_of(document, "status"), "conditions"))
        if (api::find_string(each, "type") == "Complete" &&
            api::find_string(each, "status") == "True")
          ++count;
    }
    return count;
  }
};

TEST_F(CronJobs, EachRunIsAGangOfItsOwn) {
  create_cron_job("");
  world_.advance(minutes{2} + seconds{30});
  EXPECT_EQ(names(job_kind()).size(), 2U);
  EXPECT_EQ(complete(), 2U);
  EXPECT_EQ(names(api::kinds::workload()).size(), 2U);
  std::set<std::string> groups;
  for (const api::ObjectPtr& pod : all(api::kinds::pod()))
    groups.insert(pod->view<api::PodView>().scheduling_group);
  EXPECT_EQ(groups.size(), 2U) << "no run joins the group of another";
  EXPECT_FALSE(groups.contains(""));
}

TEST_F(CronJobs, HistoryTakesGroupsAlong) {
  create_cron_job(R"("successfulJobsHistoryLimit":1,)");
  world_.advance(minutes{5} + seconds{50});
  EXPECT_EQ(names(job_kind()).size(), 1U);
  EXPECT_EQ(names(api::kinds::workload()).size(), 1U);
  EXPECT_EQ(names(api::kinds::pod_group()).size(), 1U);
}

TEST_F(CronJobs, ARunThatIsStillThereKeepsTheNextAway) {
  create_cron_job(R"("concurrencyPolicy":"Forbid",)", "forever");
  world_.advance(minutes{4});
  EXPECT_EQ(names(job_kind()).size(), 1U);
  EXPECT_EQ(running(), 3U);
}

TEST_F(CronJobs, ControllersThatStartAgainLoseNoRun) {
  create_cron_job("");
  for (int i = 0; i < 30; ++i) {
    world_.advance(seconds{7});
    world_.restart_controllers();
  }
  world_.advance(seconds{20});
  EXPECT_EQ(complete(), 3U) << "history keeps three";
  const api::ObjectPtr cron_job = world_.get(cron_job_kind(), "default", "tick");
  const api::Json document = cron_job->document();
  EXPECT_EQ(api::find_string(*api::find(document, "status"), "lastScheduleTime"),
            "2026-01-01T00:03:00Z");
}

}  // namespace
}  // namespace muster::sim
