#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/reading.h"
#include "controllers/leaderworkerset/leader_worker_set_testing.h"

namespace muster::controllers {
namespace {

constexpr std::string_view kStatus = "patch leaderworkersets/llm/status";

// Set "llm" with one replica, at work.
class LwsWorkTest : public LeaderWorkerSetControllerTest {
 protected:
  // Until its leader is asked for.
  void start_leader(int size, std::string_view more = "") {
    start(1, size, more, 1);
    Texts calls = asked();
    for (int i = 0; i < 9 && calls.front() != "create pods"; ++i) calls = step();
    ASSERT_EQ(calls.front(), "create pods");
  }
  // What is asked for in the next steps, without status.
  Texts run(int steps = 4) {
    Texts out;
    for (int i = 0; i < steps; ++i)
      for (std::string& call : step())
        if (call != kStatus) out.push_back(std::move(call));
    return out;
  }
  // Shows a pod that was made with this status, and members of its spec.
  void show_pod(const std::string& name, std::string_view status, std::string_view node = "n1",
                Type type = Type::Modified) {
    api::Json document = made_.at("pods/" + name)->document();
    document.as_object()["status"] = parsed(status);
    api::ensure_object(document.as_object(), "spec")["nodeName"] = node;
    show(object(api::kinds::pod(), api::to_text(document)), type);
  }
};

constexpr std::string_view kReady =
    R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})";

TEST_F(LwsWorkTest, ReplicasThatWereDueWhileTheSetCouldNotRunAreLookedAtWhenItCan) {
  start_leader(2);
  const api::ObjectPtr service = made_.at("services/llm");
  show(object(service->kind(), api::to_text(service->document())), Type::Deleted);
  EXPECT_EQ(step(), (Texts{"create services", std::string(kStatus)}));
  EXPECT_EQ(run(), (Texts{"create statefulsets", "create pods"}));
}

TEST_F(LwsWorkTest, WorkersWaitForTheirLeaderIfTheSetSaysSo) {
  start_leader(2, R"(,"startupPolicy":"LeaderReady")");
  EXPECT_EQ(run(), Texts{});
  show_pod("llm-0", R"({"phase":"Running","conditions":[{"type":"Ready","status":"False"}]})");
  EXPECT_EQ(run(), Texts{});
  show_pod("llm-0", kReady);
  EXPECT_EQ(run(), (Texts{"create statefulsets", "create pods"}));
}

TEST_F(LwsWorkTest, ALeaderAloneHasNoWorkers) {
  start_leader(1);
  EXPECT_EQ(run(), Texts{});
}

// The leader goes with what it owns, and comes again.
TEST_F(LwsWorkTest, AReplicaIsMadeAgainWhenAPodOfItRestarted) {
  start_leader(2);
  run();
  show_pod("llm-0", kReady);
  show_pod("llm-0-1", kReady);
  EXPECT_EQ(run(), Texts{});
  events_.clear();
  show_pod("llm-0-1", R"({"phase":"Running","containerStatuses":[{"name":"c","restartCount":1}]})");
  now_ += std::chrono::seconds{1};
  ASSERT_EQ(asked().front(), "delete pods/llm-0");
  EXPECT_EQ(sent_[calls_[calls_.size() - 2]].first.remove.propagation_policy, "Foreground");
  EXPECT_EQ(events_, Texts{"RecreateGroup A pod of replica 0 restarted or went: deleted leader pod "
                           "llm-0 to recreate it"});
}

TEST_F(LwsWorkTest, AReplicaStaysAsItIsIfTheSetSaysSo) {
  start(1, 2, R"(,"leaderWorkerTemplate":{"size":2,"restartPolicy":"None",
      "workerTemplate":{"spec":{}}})",
        1);
  Texts calls = asked();
  for (int i = 0; i < 9 && calls.front() != "create pods"; ++i) calls = step();
  run();
  show_pod("llm-0-1", R"({"phase":"Running","containerStatuses":[{"name":"c","restartCount":1}]})");
  EXPECT_EQ(run(), Texts{});
}

TEST_F(LwsWorkTest, ALeaderThatIsGoingIsNotAskedToGoAgain) {
  start_leader(2);
  run();
  api::Json document = made_.at("pods/llm-0")->document();
  document.as_object()["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  show(object(api::kinds::pod(), api::to_text(document)));
  show_pod("llm-0-1", R"({"phase":"Running","containerStatuses":[{"name":"c","restartCount":1}]})");
  EXPECT_EQ(run(), Texts{});
}

TEST_F(LwsWorkTest, EachReplicaHasAServiceOfItsOwnIfTheSetSaysSo) {
  start(1, 2, R"(,"networkConfig":{"subdomainPolicy":"UniquePerReplica"})", 1);
  asked();
  EXPECT_EQ(run(6), (Texts{"create statefulsets", "create pods", "create services",
                           "create statefulsets", "create pods"}));
  const api::Json document = made_.at("services/llm-0")->document();
  EXPECT_EQ(api::to_text(*api::find_path(document, "spec.selector")),
            R"({"leaderworkerset.sigs.k8s.io/group-index":"0",)"
            R"("leaderworkerset.sigs.k8s.io/name":"llm"})");
}

TEST_F(LwsWorkTest, PodsThatAreMadeAndRefusedAreSaid) {
  start_leader(1);
  refuse(calls_.size() - 2, Reason::Forbidden);
  refuse(calls_.size() - 1, Reason::NotFound);
  answered_ = calls_.size();
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked().front(), "create pods");
  EXPECT_EQ(events_, Texts{"FailedCreate create Pod in StatefulSet llm failed error: no"});
  step();
  EXPECT_EQ(events_.back(), "SuccessfulCreate create Pod llm-0 in StatefulSet llm successful");
}

}  // namespace
}  // namespace muster::controllers
