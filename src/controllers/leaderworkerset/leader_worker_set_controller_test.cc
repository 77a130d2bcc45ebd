#include "controllers/leaderworkerset/leader_worker_set_controller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "controllers/common/controller_testing.h"
#include "controllers/common/live_bytes_testing.h"
#include "controllers/leaderworkerset/lws_objects.h"

namespace muster::controllers {
namespace {

// A set "llm" whose template is large.
class LeaderWorkerSetControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }

  void start(int replicas, int size) {
    show(object(leader_worker_set_kind(),
                fmt::format(R"({{"metadata":{{"name":"llm","namespace":"ns","uid":"us",
        "generation":1}},"spec":{{"replicas":{},"leaderWorkerTemplate":{{"size":{},
        "workerTemplate":{{"spec":{{"nodeName":"{}"}}}}}}}}}})",
                            replicas, size, std::string(64UL << 10U, 'x'))));
    sync();
  }
  // Shows each object that was asked for, as it would be once its own controller has seen it; then
  // what is asked for next.
  Texts step() {
    for (; answered_ < calls_.size(); ++answered_) {
      const api::Request& request = sent_[calls_[answered_]].first;
      if (request.verb != api::Verb::Create) {
        refuse(answered_, Reason::NotFound);  // of a status: nobody reads it here
        continue;
      }
      api::Json document = request.body;
      api::JsonObject& metadata = api::ensure_object(document.as_object(), "metadata");
      metadata["uid"] = fmt::format("u{}", answered_);
      metadata["generation"] = 1;
      const api::Kind& kind = *request.kind;
      const api::ObjectPtr made = object(kind, api::to_text(document));
      answer(answered_, made);
      show(made, Type::Added);
      if (&kind != &apps_kind("StatefulSet")) continue;
      document.as_object()["status"] =
          parsed(R"({"observedGeneration":1,"currentRevision":"r","updateRevision":"r"})");
      show(object(kind, api::to_text(document)));
    }
    now_ += std::chrono::seconds{1};
    return asked();
  }

  std::size_t answered_ = 0;
  LeaderWorkerSetController controller_{api::Gates(), context()};
};

std::ptrdiff_t count_of(const Texts& calls, std::string_view call) {
  return std::ranges::count(calls, call);
}

// What a step asks for that makes pods.
const Texts kPods{"create pods", "patch leaderworkersets/llm/status"};

TEST_F(LeaderWorkerSetControllerTest, HoldsNoCopiesOfALeadersTemplate) {
  start(500, 1);
  EXPECT_EQ(asked(), Texts{"create controllerrevisions"});
  EXPECT_EQ(step().front(), "create services");
  EXPECT_EQ(step().front(), "create statefulsets");
  const std::int64_t before = live_bytes();
  EXPECT_EQ(step(), kPods);
  EXPECT_LT(live_bytes() - before, 2 << 20);
}

TEST_F(LeaderWorkerSetControllerTest, HoldsNoCopiesOfAWorkersTemplate) {
  start(1, 500);
  EXPECT_EQ(asked(), Texts{"create controllerrevisions"});
  EXPECT_EQ(step().front(), "create services");
  EXPECT_EQ(step().front(), "create statefulsets");
  EXPECT_EQ(step(), kPods);
  EXPECT_EQ(step().front(), "create statefulsets");
  const std::int64_t before = live_bytes();
  EXPECT_EQ(step(), kPods);
  EXPECT_LT(live_bytes() - before, 2 << 20);
}

TEST_F(LeaderWorkerSetControllerTest, AsksForNoMoreWorkerSetsAtOnceThanThereIsRoomFor) {
  start(500, 2);
  asked();
  std::ptrdiff_t most = 0;
  for (int i = 0; i < 20 && most <= 1; ++i)
    most = std::max(most, count_of(step(), "create statefulsets"));
  EXPECT_GT(most, 200) << "of 64 KiB each";
  EXPECT_LT(most, 300);
}

}  // namespace
}  // namespace muster::controllers
