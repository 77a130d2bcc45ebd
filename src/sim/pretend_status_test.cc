#include "sim/pretend_status.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/kinds/kind.h"

namespace muster::sim {
namespace {

api::ObjectPtr pod_with(const std::string& run_time) {
  api::JsonObject metadata{{"name", "p"}, {"namespace", "ns"}};
  metadata["annotations"] = api::JsonObject{{kRunTimeAnnotation, run_time}};
  return api::Object::make(api::kinds::pod(), api::JsonObject{{"metadata", std::move(metadata)}});
}

std::string logged_about(const std::string& run_time) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(annotated_duration(*pod_with(run_time), kRunTimeAnnotation));
  return testing::internal::GetCapturedStderr();
}

TEST(AnnotatedDuration, ThatIsNoneIsQuotedInTheLog) {
  EXPECT_NE(logged_about("soon").find("\"soon\" is no length of time"), std::string::npos);
  EXPECT_LT(logged_about(std::string(200'000, 'x')).size(), 300U);
  EXPECT_NE(logged_about(std::string(65, 'x')).find("xxx…\" is no length"), std::string::npos);
}

api::ObjectPtr pod_of(const std::string& metadata, const std::string& spec = "{}",
                      const std::string& status = "{}") {
  return api::Object::make(
      api::kinds::pod(),
      api::parse_json(R"({"metadata":{"name":"p","namespace":"ns","generation":3,)" + metadata +
                      R"(},"spec":)" + spec + R"(,"status":)" + status + "}")
          ->value);
}

std::string annotation(std::string_view name, std::string_view value) {
  return fmt::format(R"("annotations":{{"{}":"{}"}})", name, value);
}

TEST(ParseDuration, ReadsNumbersWithUnitsOneAfterTheOther) {
  using std::chrono::microseconds;
  struct Case {
    std::string_view text;
    std::optional<Duration> want;
  };
  for (const Case& test : {Case{"30s", std::chrono::seconds{30}},
                           {"30", std::chrono::seconds{30}},
                           {"0", microseconds{0}},
                           {"1h2m3s", std::chrono::seconds{3723}},
                           {"1.5h", std::chrono::minutes{90}},
                           {"250ms", std::chrono::milliseconds{250}},
                           {"7us", microseconds{7}},
                           {"1m5", std::chrono::seconds{65}},
                           {"", std::nullopt},
                           {"s", std::nullopt},
                           {"-1s", std::nullopt},
                           {"1d", std::nullopt},
                           {"1s2", std::chrono::seconds{3}},
                           {"1s ", std::nullopt},
                           {"nan", std::nullopt},
                           {"2e9", std::nullopt},
                           {"1e9us", std::chrono::seconds{1000}}})
    EXPECT_EQ(parse_duration(test.text), test.want) << test.text;
}

TEST(RunTime, IsThatOfTheAnnotationOrOfJobs) {
  const auto time_of = [](const std::string& metadata) { return run_time(*pod_of(metadata)); };
  const std::string job = R"("ownerReferences":[{"kind":"Job","uid":"u","controller":true}])";
  EXPECT_EQ(time_of(R"("labels":{})"), std::nullopt);
  EXPECT_EQ(time_of(annotation(kRunTimeAnnotation, "90s")), std::chrono::seconds{90});
  EXPECT_EQ(time_of(annotation(kRunTimeAnnotation, kForever)), std::nullopt);
  EXPECT_EQ(time_of(job), kJobRunTime);
  EXPECT_EQ(time_of(job + "," + annotation(kRunTimeAnnotation, kForever)), std::nullopt);
  EXPECT_EQ(time_of(job + "," + annotation(kRunTimeAnnotation, "1s")), std::chrono::seconds{1});
  EXPECT_EQ(time_of(R"("ownerReferences":[{"kind":"Job","uid":"u"}])"), std::nullopt)
      << "not its controller";
  EXPECT_EQ(time_of(R"("ownerReferences":[{"kind":"ReplicaSet","uid":"u","controller":true}])"),
            std::nullopt);
}

TEST(ExitCode, IsOneForEachRunAndTheLastForAllThatFollow) {
  const auto codes = [](std::string_view text) {
    const api::ObjectPtr pod = pod_of(annotation(kExitCodeAnnotation, text));
    std::string out;
    for (const std::int64_t restarts : {0, 1, 2, 9})
      out += std::to_string(exit_code(*pod, restarts)) + " ";
    return out;
  };
  EXPECT_EQ(codes("3"), "3 3 3 3 ");
  EXPECT_EQ(codes("1, 2,0"), "1 2 0 0 ");
  EXPECT_EQ(codes("x"), "0 0 0 0 ");
  EXPECT_EQ(exit_code(*pod_of(R"("labels":{})"), 0), 0);
}

TEST(RestartsAfter, DependsOnThePolicyAndTheCode) {
  const auto restarts = [](const std::string& policy) {
    const api::ObjectPtr pod = pod_of(R"("labels":{})", R"({"restartPolicy":")" + policy + R"("})");
    return std::pair(restarts_after(*pod, 0), restarts_after(*pod, 1));
  };
  EXPECT_EQ(restarts("Always"), std::pair(true, true));
  EXPECT_EQ(restarts("OnFailure"), std::pair(false, true));
  EXPECT_EQ(restarts("Never"), std::pair(false, false));
}

TEST(RestartPause, DoublesUpToFiveMinutes) {
  std::string out;
  for (const std::int64_t restarts : {0, 1, 2, 3, 4, 5, 6, 7, 100})
    out += fmt::format("{} ", restart_pause(restarts) / std::chrono::seconds{1});
  EXPECT_EQ(out, "0 10 20 40 80 160 300 300 300 ");
}

TEST(PodStatus, SaysWhatItsContainersDo) {
  const Time start = parse_time("2026-01-01T00:00:00Z").value();
  const Time now = start + std::chrono::seconds{60};
  const api::ObjectPtr pod =
      pod_of(R"("labels":{})", R"({"containers":[{"name":"a","image":"i"}]})");
  const auto text = [&](const Containers& containers, const char* path) {
    const api::Json status = pod_status(*pod, containers, now);
    const api::Json* found = api::find_path(status, path);
    return found == nullptr ? "none" : api::to_text(*found);
  };
  const auto conditions = [&](const Containers& containers) {
    const api::Json status = pod_status(*pod, containers, now);
    std::string out;
    for (const api::Json& each : status.at("conditions").as_array())
      out += fmt::format("{}={}:{} ", api::find_string(each, "type"),
                         api::find_string(each, "status"), api::find_string(each, "reason"));
    return out;
  };
  const Containers running{.started = start};
  EXPECT_EQ(text(running, "phase"), R"("Running")");
  EXPECT_EQ(text(running, "observedGeneration"), "3");
  EXPECT_EQ(text(running, "containerStatuses"),
            R"([{"name":"a","state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}},)"
            R"("ready":true,"started":true,"restartCount":0,"image":"i",)"
            R"("imageID":"pretend://i"}])");
  EXPECT_EQ(conditions(running),
            "PodReadyToStartContainers=True: Initialized=True: Ready=True: ContainersReady=True: ");
  const Containers waiting{.waiting = true, .restarts = 2, .last = Containers::Run{7, start, now}};
  EXPECT_EQ(text(waiting, "phase"), R"("Running")");
  EXPECT_EQ(text(waiting, "containerStatuses"),
            R"([{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff","message":)"
            R"("back-off 20s restarting failed container=a pod=ns/p"}},"ready":false,)"
            R"("started":false,"restartCount":2,"image":"i","imageID":"pretend://i",)"
            R"("lastState":{"terminated":{"exitCode":7,"reason":"Error",)"
            R"("startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T00:01:00Z"}}}])");
  EXPECT_EQ(conditions(waiting),
            "PodReadyToStartContainers=True: Initialized=True: Ready=False:ContainersNotReady "
            "ContainersReady=False:ContainersNotReady ");
  const Containers done{.ended = 0, .started = start};
  EXPECT_EQ(text(done, "phase"), R"("Succeeded")");
  EXPECT_EQ(conditions(done),
            "PodReadyToStartContainers=False: Initialized=True:PodCompleted "
            "Ready=False:PodCompleted ContainersReady=False:PodCompleted ");
  EXPECT_EQ(text({.ended = 3, .started = start}, "phase"), R"("Failed")");
}

TEST(PodStatus, ShowsWhatRunningContainersHaveGotAndWhoLooksInside) {
  const Time start = parse_time("2026-01-01T00:00:00Z").value();
  const api::ObjectPtr pod = pod_of(
      R"("labels":{})",
      R"({"initContainers":[{"name":"i"}],"ephemeralContainers":[{"name":"e"}],)"
      R"("containers":[{"name":"a","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}},)"
      R"({"name":"b","resources":{"limits":{"cpu":"2"}}},{"name":"c","resources":{}}]})");
  const api::Json status = changed_status(*pod, {.restarts = 5, .started = start}, start);
  EXPECT_EQ(api::find(status, "phase"), nullptr);
  EXPECT_EQ(api::find_path(status, "observedGeneration")->as_int64(), 3);
  const api::JsonArray& main = status.at("containerStatuses").as_array();
  EXPECT_EQ(api::to_text(main.at(0).at("resources")),
            R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})");
  EXPECT_EQ(api::to_text(main.at(0).at("allocatedResources")), R"({"cpu":"1"})");
  EXPECT_EQ(api::to_text(main.at(1).at("resources")), R"({"limits":{"cpu":"2"}})");
  EXPECT_EQ(api::find(main.at(1), "allocatedResources"), nullptr);
  EXPECT_EQ(api::find(main.at(2), "resources"), nullptr);
  const api::Json& init = status.at("initContainerStatuses").as_array().at(0);
  EXPECT_EQ(api::find_path(init, "state.terminated.exitCode")->as_int64(), 0);
  const api::Json& looker = status.at("ephemeralContainerStatuses").as_array().at(0);
  EXPECT_EQ(looker.at("restartCount").as_int64(), 0) << "nothing restarts it";
  EXPECT_TRUE(looker.at("ready").as_bool());
}

TEST(PodStatus, IsReadBack) {
  const api::ObjectPtr pod = pod_of(
      R"("labels":{})", "{}",
      R"({"observedGeneration":7,"startTime":"2026-01-01T00:00:00Z","podIP":"10.0.1.2",)"
      R"("containerStatuses":[{"restartCount":2},{"restartCount":5},{"restartCount":1},{}]})");
  EXPECT_EQ(restart_count(*pod), 5);
  EXPECT_EQ(observed_generation(*pod), 7);
  EXPECT_EQ(start_time(*pod), parse_time("2026-01-01T00:00:00Z"));
  EXPECT_EQ(pod_address(*pod), "10.0.1.2");
  const api::ObjectPtr none = pod_of(R"("labels":{})");
  EXPECT_EQ(restart_count(*none), 0);
  EXPECT_EQ(observed_generation(*none), 0);
  EXPECT_EQ(start_time(*none), std::nullopt);
  EXPECT_EQ(pod_address(*none), "");
}

TEST(PretendAddress, StandsForItsNumber) {
  for (const std::uint32_t number : {0U, 1U, 255U, 256U, 65'536U, 0xABCDEFU, 0xFFFFFFU})
    EXPECT_EQ(address_number(pretend_address(number)), number);
  EXPECT_EQ(pretend_address(0x010203), "10.1.2.3");
  EXPECT_EQ(pretend_address(0x1000001), "10.0.0.1") << "there are no more";
  for (const char* other : {"", "10.", "11.0.0.1", "10.0.0", "10.0.0.256", "10.0.0.1 ",
                            "10.0.0.1.2", "10.256.0.0", "10.0-0.1", "10.x.0.1", "10.0.0."})
    EXPECT_EQ(address_number(other), std::nullopt) << other;
}

}  // namespace
}  // namespace muster::sim
