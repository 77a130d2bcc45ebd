// What one look of a controller costs beside many objects.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "api/json.h"
#include "api/values/time_zone.h"
#include "client/component.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/cronjob/cron_job_requests.h"
#include "cost/work.h"

namespace muster::cost {
namespace {

using Type = client::Event::Type;

// The steps of a look at a CronJob whose Jobs all run and stand in its status.
std::uint64_t steps_of_a_look(int jobs) {
  const Time now = *parse_time("2026-05-01T10:00:00Z");
  controllers::CronJobController controller(api::read_system_time_zone,
                                            {.send = [](const api::Request&, std::uint64_t) {
                                              ADD_FAILURE() << "nothing is to be done";
                                            }});
  api::JsonArray active;
  for (int i = 0; i < jobs; ++i) {
    const std::string name = fmt::format("tick-{:06}", i);
    active.push_back(api::JsonObject{{"name", name}, {"uid", "u-" + name}});
    api::Json job =
        api::parse_json(
            R"({"metadata":{"namespace":"n","ownerReferences":[{"apiVersion":"batch/v1",)"
            R"("kind":"CronJob","name":"tick","uid":"u","controller":true}]}})")
            ->value;
    api::JsonObject& metadata = job.as_object()["metadata"].as_object();
    metadata["name"] = name;
    metadata["uid"] = "u-" + name;
    controller.apply(client::Event{.type = Type::Added,
                                   .object = api::Object::make(controllers::job_kind(), job)},
                     now);
  }
  api::Json document =
      api::parse_json(R"({"metadata":{"name":"tick","namespace":"n","uid":"u"},)"
                      R"("spec":{"schedule":"* * * * *","suspend":true},"status":{}})")
          ->value;
  document.as_object()["status"].as_object()["active"] = std::move(active);
  const api::ObjectPtr cron_job = api::Object::make(controllers::cron_job_kind(), document);
  const auto look = [&] { EXPECT_EQ(controller.run_once(now, 1), 1U); };
  controller.apply(client::Event{.type = Type::Added, .object = cron_job}, now);
  controller.apply(client::Synced{}, now);
  look();  // reads the views
  controller.apply(client::Event{.type = Type::Modified, .object = cron_job}, now);
  return measure(look).steps;
}

// Each Job was looked for in the whole list of those that are active: seconds for some thousands
// beside a long history.
TEST(Look, AtACronJobCostsWhatItHasJobs) {
  if (!kCountsSteps) GTEST_SKIP() << "this build counts no steps";
  const std::uint64_t few = steps_of_a_look(500);
  const std::uint64_t many = steps_of_a_look(4'000);
  EXPECT_GT(few, 500U);
  EXPECT_LT(many, 12 * few);
}

}  // namespace
}  // namespace muster::cost
