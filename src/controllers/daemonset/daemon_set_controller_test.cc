#include "controllers/daemonset/daemon_set_controller.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "controllers/common/controller_testing.h"
#include "controllers/common/revisions.h"
#include "controllers/daemonset/daemon_testing.h"

namespace muster::controllers {
namespace {

class DaemonSetControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }
  Texts later() {
    now_ += std::chrono::seconds{1};
    return asked();
  }
  // Answers the creation of a revision with what was asked for, and shows it.
  std::string accept_revision(std::size_t call) {
    api::Json document = body(call);
    api::ensure_object(document.as_object(), "metadata")["uid"] = "ur";
    auto made = api::Object::make(controller_revision_kind(), document);
    made->assign_revision({++revision_});
    answer(call, made);
    show(made, Type::Added);
    return std::string(hash_of(*made));
  }
  DaemonSetController controller_{context()};
};

TEST_F(DaemonSetControllerTest, KeepsARevisionAndMakesAPodPerNode) {
  show(make_set("", "", "{}", ++revision_));
  show(make_node("n1", "", "", ++revision_));
  show(make_node("n2", "", "", ++revision_));
  sync();
  ASSERT_EQ(later(), Texts{"create controllerrevisions"});
  const std::string hash = accept_revision(0);
  ASSERT_EQ(later(), (Texts{"create pods", "patch daemonsets/d/status"}));
  EXPECT_EQ(
      api::find_string(*api::find_path(body(1), "metadata.labels"), "controller-revision-hash"),
      hash);
  const auto* status = api::find_path(body(2).as_array()[1], "value");
  EXPECT_EQ(api::find_integer(*status, "desiredNumberScheduled"), 2);
  answer(1, make_pod({.name = "a", .node = "n1", .hash = hash}, ++revision_));
  EXPECT_EQ(asked(), Texts{"create pods"}) << "of the second node";
}

TEST_F(DaemonSetControllerTest, ANodeThatComesGetsAPodAndHeartbeatsMeanNothing) {
  show(make_set(
      "", "",
      R"({"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0,"observedGeneration":2})",
      ++revision_));
  sync();
  later();
  accept_revision(0);
  EXPECT_EQ(later(), Texts{});
  show(make_node("n1", "", "", ++revision_), Type::Added);
  EXPECT_EQ(later(), (Texts{"create pods", "patch daemonsets/d/status"}));
  const auto pod = make_pod({.name = "a"}, ++revision_);
  answer(1, pod);
  refuse(2, Reason::Conflict);
  show(pod, Type::Added);
  now_ += std::chrono::minutes{1};
  asked();
  const std::size_t before = sent_.size();
  show(make_node("n1", "", "", ++revision_));
  later();
  EXPECT_EQ(sent_.size(), before);
}

TEST_F(DaemonSetControllerTest, APodThatFailsIsSaidAndReplacedEverMoreSeldom) {
  show(make_set(
      "", "",
      R"({"currentNumberScheduled":1,"numberMisscheduled":0,"desiredNumberScheduled":1,"numberReady":0,"updatedNumberScheduled":1,"numberUnavailable":1,"observedGeneration":2})",
      ++revision_));
  show(make_node("n1", "", "", ++revision_));
  sync();
  later();
  const std::string hash = accept_revision(0);
  const auto failed = [&](const std::string& name, bool deleted) {
    return make_pod(
        {.name = name, .hash = hash, .phase = "Failed", .ready = false, .deleted = deleted},
        ++revision_);
  };
  show(failed("a", false), Type::Added);
  EXPECT_EQ(later(), Texts{"delete pods/a"});
  for (const auto& [before, name, pause] :
       std::vector<std::tuple<std::string, std::string, int>>{{"a", "b", 1}, {"b", "c", 2}}) {
    const auto going = failed(before, true);
    answer(calls_.size() - 1, going);
    show(going);
    show(failed(name, false), Type::Added);
    now_ += std::chrono::seconds{pause} - std::chrono::milliseconds{500};
    EXPECT_EQ(asked(), Texts{}) << "too soon after " << before;
    now_ += std::chrono::milliseconds{600};
    EXPECT_EQ(asked(), Texts{"delete pods/" + name});
  }
  EXPECT_EQ(events_.front(),
            "FailedDaemonPod Found failed daemon pod ns/a on node n1, will try to kill it");
}

TEST_F(DaemonSetControllerTest, HoldsNoCopiesOfATemplate) {
  show(make_set("", fmt::format(R"(,"hostname":"{}")", std::string(64UL << 10U, 'x')), "{}",
                ++revision_));
  for (int i = 0; i < 300; ++i) show(make_node(fmt::format("n{}", i), "", "", ++revision_));
  sync();
  ASSERT_EQ(later(), Texts{"create controllerrevisions"});
  accept_revision(0);
  const std::int64_t before = live_bytes();
  EXPECT_EQ(later(), (Texts{"create pods", "patch daemonsets/d/status"}));
  EXPECT_LT(live_bytes() - before, 2 << 20);
}

// However many sets there are, a node that comes makes some of them due at a time.
TEST_F(DaemonSetControllerTest, SetsAreMadeDueInSlices) {
  for (int i = 0; i < 700; ++i)
    show(object(apps_kind("DaemonSet"),
                fmt::format(R"({{"metadata":{{"name":"d{0}","namespace":"ns{1}","uid":"u{0}",
        "deletionTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{"selector":{{"matchLabels":{{"a":"b"}}}},
        "template":{{}}}}}})",
                            i, i % 2)));
  sync();
  while (controller_.run_once(now_, 100) > 0) {
  }
  show(make_node("n1", "", "", ++revision_));
  EXPECT_EQ(controller_.run_once(now_, 1000), 0U) << "what nodes do is collected for a moment";
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(controller_.run_once(now_, 1), 1U);
  show(make_node("n2", "", "", ++revision_));
  std::size_t looks = 0;
  while (const std::size_t done = controller_.run_once(now_, 100)) looks += done;
  EXPECT_EQ(looks, 701U) << "all sets, and the second half of making them due";
  now_ += std::chrono::seconds{1};
  looks = 0;
  while (const std::size_t done = controller_.run_once(now_, 100)) looks += done;
  EXPECT_EQ(looks, 702U) << "once more for the node that came meanwhile";
}

}  // namespace
}  // namespace muster::controllers
