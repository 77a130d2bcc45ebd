#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "sim/world.h"

// Jobs from create to their end, on the whole control plane.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::seconds;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

Json parsed(std::string_view text) {
  Result<api::ParsedJson> json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return std::move(json->value);
}

class Jobs : public ::testing::Test {
 protected:
  Jobs() : world_(options()) { world_.run_until_idle(); }

  static World::Options options() {
    World::Options options;
    options.shape.pools.push_back({.racks_per_block = 2,
                                   .nodes_per_rack = 2,
                                   .resources = parse_resources("cpu=8,memory=16Gi").value()});
    return options;
  }

  // A Job named "j" with these members of its spec and annotations of its pods.
  void create(std::string_view spec, std::string_view annotations = "{}",
              std::string_view restart = "Never") {
    Json job = parsed(fmt::format(
        R"({{"metadata":{{"name":"j","namespace":"default"}},"spec":{{{}{}"template":{{
            "metadata":{{"annotations":{}}},"spec":{{"restartPolicy":"{}","containers":[
            {{"name":"main","image":"app:1","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}}})",
        spec, spec.empty() ? "" : ",", annotations, restart));
    const auto answer = world_.ask(client::create_request(job_kind(), "default", std::move(job)));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void patch(std::string_view merge) {
    const auto answer = world_.ask(client::patch_request(job_kind(), "default", "j", "",
                                                         api::PatchType::Merge, parsed(merge)));
    ASSERT_TRUE(answer) << answer.error().message;
  }

  Json job() const {
    const api::ObjectPtr found = world_.get(job_kind(), "default", "j");
    return found == nullptr ? Json(nullptr) : found->document();
  }
  std::string status(std::string_view member) const {
    const Json document = job();
    const Json* found = api::find(api::part_of(document, "status"), member);
    if (found == nullptr) return "";
    return found->is_string() ? std::string(api::text_of(*found)) : api::to_text(*found);
  }
  // "Complete/CompletionsReached: message", of the conditions that are True, in order.
  std::vector<std::string> conditions() const {
    std::vector<std::string> out;
    const Json document = job();
    for (const Json& condition : api::elements(api::part_of(document, "status"), "conditions"))
      if (api::find_string(condition, "status") == "True")
        out.push_back(fmt::format("{}/{}: {}", api::find_string(condition, "type"),
                                  api::find_string(condition, "reason"),
                                  api::find_string(condition, "message")));
    return out;
  }
  std::vector<api::ObjectPtr> pods() {
    api::Request request;
    request.verb = api::Verb::List;
    request.kind = &api::kinds::pod();
    request.version = "v1";
    request.name_space = "default";
    const auto answer = world_.ask(std::move(request));
    return std::get<api::ListAnswer>(answer->what).items;
  }
  std::vector<std::string> events() {
    api::Request request;
    request.verb = api::Verb::List;
    request.kind = &api::kinds::event();
    request.version = "v1";
    request.name_space = "default";
    std::vector<std::string> out;
    const auto answer = world_.ask(std::move(request));
    for (const api::ObjectPtr& event : std::get<api::ListAnswer>(answer->what).items) {
      const Json document = event->document();
      if (api::find_string(api::part_of(document, "involvedObject"), "kind") == "Job")
        out.emplace_back(api::find_string(document, "reason"));
    }
    return out;
  }

  World world_;
};

using Texts = std::vector<std::string>;

TEST_F(Jobs, ASimpleJobRunsToItsEnd) {
  create("");
  world_.advance(seconds{3});
  EXPECT_EQ(status("active"), "1");
  EXPECT_EQ(status("ready"), "1");
  EXPECT_EQ(status("startTime"), "2026-01-01T00:00:00Z");
  ASSERT_EQ(pods().size(), 1U);
  const api::ObjectMeta& meta = pods()[0]->meta();
  EXPECT_TRUE(meta.name.starts_with("j-") && meta.name.size() == 7) << meta.name;
  ASSERT_EQ(meta.owners.size(), 1U);
  EXPECT_TRUE(meta.owners[0].controller);
  EXPECT_EQ(meta.owners[0].kind, "Job");
  EXPECT_EQ(meta.finalizers, Texts{"batch.kubernetes.io/job-tracking"});

  world_.advance(seconds{20});
  EXPECT_EQ(
      conditions(),
      (Texts{"SuccessCriteriaMet/CompletionsReached: Reached expected number of succeeded pods",
             "Complete/CompletionsReached: Reached expected number of succeeded pods"}));
  EXPECT_EQ(status("succeeded"), "1");
  EXPECT_EQ(status("active"), "");
  EXPECT_EQ(status("ready"), "0");
  EXPECT_EQ(status("uncountedTerminatedPods"), "{}");
  EXPECT_FALSE(status("completionTime").empty());
  EXPECT_TRUE(pods()[0]->meta().finalizers.empty());
  EXPECT_EQ(events(), (Texts{"SuccessfulCreate", "Completed"}));
}

TEST_F(Jobs, RunsAsManyAtOnceAsItMayUntilEnoughSucceeded) {
  create(R"("parallelism":3,"completions":7)");
  world_.advance(seconds{5});
  EXPECT_EQ(status("active"), "3");
  world_.advance(seconds{60});
  EXPECT_EQ(status("succeeded"), "7");
  EXPECT_EQ(pods().size(), 7U);
  EXPECT_EQ(conditions().size(), 2U);
}

TEST_F(Jobs, FailsWhenPodsFailTooOften) {
  create(R"("backoffLimit":2)", R"({"muster.dev/run-time":"1s","muster.dev/exit-code":"3"})");
  world_.advance(seconds{5});
  EXPECT_EQ(status("failed"), "1");
  EXPECT_EQ(pods().size(), 1U) << "the next one waits ten seconds";
  world_.advance(seconds{10});
  EXPECT_EQ(pods().size(), 2U);
  world_.advance(seconds{60});
  EXPECT_EQ(status("failed"), "3");
  EXPECT_EQ(
      conditions(),
      (Texts{"FailureTarget/BackoffLimitExceeded: Job has reached the specified backoff limit",
             "Failed/BackoffLimitExceeded: Job has reached the specified backoff limit"}));
  EXPECT_EQ(status("completionTime"), "");
}

TEST_F(Jobs, FailsAtItsDeadlineAndStopsItsPods) {
  create(R"("parallelism":2,"completions":2,"activeDeadlineSeconds":5)",
         R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{4});
  EXPECT_EQ(status("active"), "2");
  world_.advance(seconds{60});
  EXPECT_EQ(conditions().back(),
            "Failed/DeadlineExceeded: Job was active longer than specified deadline");
  EXPECT_EQ(status("failed"), "2");
  EXPECT_EQ(status("terminating"), "0");
  EXPECT_TRUE(pods().empty());
}

TEST_F(Jobs, ASuspendedJobHasNoPodsAndResumes) {
  create(R"("parallelism":2,"completions":2,"suspend":true)");
  world_.advance(seconds{2});
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(conditions(), Texts{"Suspended/JobSuspended: Job suspended"});
  EXPECT_EQ(status("startTime"), "");
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{3});
  EXPECT_EQ(status("active"), "2");
  EXPECT_TRUE(conditions().empty());
  patch(R"({"spec":{"suspend":true}})");
  world_.advance(seconds{3});
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(status("failed"), "") << "suspension is no failure";
  patch(R"({"spec":{"suspend":false}})");
  world_.advance(seconds{30});
  EXPECT_EQ(status("succeeded"), "2");
}

TEST_F(Jobs, AnIndexedJobKnowsItsIndexes) {
  create(R"("parallelism":3,"completions":5,"completionMode":"Indexed")");
  world_.advance(seconds{3});
  std::vector<std::string> hosts;
  for (const api::ObjectPtr& pod : pods()) {
    const Json document = pod->document();
    hosts.emplace_back(api::find_string(api::part_of(document, "spec"), "hostname"));
    EXPECT_NE(
        api::to_text(document).find("metadata.labels['batch.kubernetes.io/job-completion-index']"),
        std::string::npos);
  }
  EXPECT_EQ(hosts, (Texts{"j-0", "j-1", "j-2"}));
  world_.advance(seconds{60});
  EXPECT_EQ(status("completedIndexes"), "0-4");
  EXPECT_EQ(status("succeeded"), "5");
  EXPECT_EQ(conditions().size(), 2U);
}

TEST_F(Jobs, DeletedInTheForegroundTakesItsPodsAlong) {
  create(R"("parallelism":2,"completions":2)", R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{3});
  for (const std::string_view policy : {"Foreground"}) {
    api::Request request =
        client::delete_request(*world_.get(job_kind(), "default", "j"), std::nullopt);
    request.remove.propagation_policy = policy;
    ASSERT_TRUE(world_.ask(std::move(request)));
    world_.advance(seconds{60});
    EXPECT_TRUE(job().is_null());
    EXPECT_TRUE(pods().empty());
  }
}

TEST_F(Jobs, DeletedInTheBackgroundLeavesNothingBehind) {
  create(R"("parallelism":2,"completions":2)", R"({"muster.dev/run-time":"forever"})");
  world_.advance(seconds{3});
  api::Request request =
      client::delete_request(*world_.get(job_kind(), "default", "j"), std::nullopt);
  request.remove.propagation_policy = "Background";
  ASSERT_TRUE(world_.ask(std::move(request)));
  world_.advance(seconds{60});
  EXPECT_TRUE(pods().empty());
}

}  // namespace
}  // namespace muster::sim
