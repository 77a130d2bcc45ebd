#include "controllers/daemonset/daemon_set_controller.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "base/live_bytes_testing.h"
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

TEST_F(DaemonSetControllerTest, TheStatusSaysAllNumbers) {
  show(make_set("", "", R"({"collisionCount":3,"numberAvailable":9})", ++revision_));
  show(make_node("n1", "", "", ++revision_));
  show(make_node("n2", "", R"({"key":"x","effect":"NoSchedule"})", ++revision_));
  sync();
  later();
  const std::string hash = accept_revision(0);
  show(make_pod({.name = "a", .hash = hash}, ++revision_), Type::Added);
  show(make_pod({.name = "b", .node = "n2", .hash = hash}, ++revision_), Type::Added);
  ASSERT_EQ(later(), Texts{"patch daemonsets/d/status"});
  EXPECT_EQ(api::to_text(*api::find_path(body(1).as_array()[1], "value")),
            R"({"currentNumberScheduled":1,"numberMisscheduled":1,"desiredNumberScheduled":1,)"
            R"("numberReady":1,"numberAvailable":1,"collisionCount":3,"observedGeneration":2,)"
            R"("updatedNumberScheduled":1})");
}

TEST_F(DaemonSetControllerTest, APodThatSucceededIsReplacedWithoutAPause) {
  show(make_set("", "", "{}", ++revision_));
  show(make_node("n1", "", "", ++revision_));
  sync();
  later();
  const std::string hash = accept_revision(0);
  const auto done = [&](const std::string& name, bool deleted = false) {
    return make_pod(
        {.name = name, .hash = hash, .phase = "Succeeded", .ready = false, .deleted = deleted},
        ++revision_);
  };
  show(done("a"), Type::Added);
  EXPECT_EQ(later().front(), "delete pods/a");
  EXPECT_EQ(events_.front(),
            "SucceededDaemonPod Found succeeded daemon pod ns/a on node n1, will try to delete it");
  const auto going = done("a", true);
  answer(1, going);
  answer(2, make_set("", "", "{}", 1));
  show(going);
  show(done("b"), Type::Added);
  now_ += std::chrono::milliseconds{200};
  EXPECT_EQ(asked().front(), "delete pods/b");
}

TEST_F(DaemonSetControllerTest, ThePauseGrowsUpToAQuarterOfAnHourAndEndsWithAPodThatWorks) {
  show(make_set(
      "", "",
      R"({"currentNumberScheduled":1,"numberMisscheduled":0,"desiredNumberScheduled":1,"numberReady":0,"updatedNumberScheduled":1,"numberUnavailable":1,"observedGeneration":2})",
      ++revision_));
  show(make_node("n1", "", "", ++revision_));
  sync();
  later();
  const std::string hash = accept_revision(0);
  const auto put = [&](const std::string& phase, bool ready, bool deleted) {
    const auto pod =
        make_pod({.name = "a", .hash = hash, .phase = phase, .ready = ready, .deleted = deleted},
                 ++revision_);
    show(pod);
    return pod;
  };
  std::vector<std::int64_t> pauses;
  const auto fail_once = [&] {
    const Time start = now_;
    put("Failed", false, false);
    for (int tries = 0; tries < 2000; ++tries) {
      now_ += std::chrono::milliseconds{500};
      if (asked() == Texts{"delete pods/a"}) break;
    }
    pauses.push_back(
        std::chrono::round<std::chrono::seconds>(now_ - start - std::chrono::milliseconds{500})
            .count());
    answer(calls_.size() - 1, put("Failed", false, true));
  };
  for (int failure = 0; failure < 13; ++failure) fail_once();
  EXPECT_EQ(pauses,
            (std::vector<std::int64_t>{0, 0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900}));
}

TEST_F(DaemonSetControllerTest, RevisionsThatNoPodIsOfGoBeyondTheLimit) {
  show(make_set(R"(,"revisionHistoryLimit":1)", "", "{}", ++revision_));
  show(make_node("n1", "", "", ++revision_));
  sync();
  later();
  const auto keep = [&](int number, std::string_view hash) {
    show(object(controller_revision_kind(),
                fmt::format(R"({{"metadata":{{"name":"d-{0}","namespace":"ns","uid":"r{0}",
                    "labels":{{"controller.kubernetes.io/hash":"{1}"}},"ownerReferences":[{{
                    "apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"ud","controller":true}}]}},
                    "data":{{"spec":{0}}},"revision":{0}}})",
                            number, hash)),
         Type::Added);
  };
  keep(-4, "first");
  keep(-3, "used");
  keep(-2, "third");
  keep(-1, "fourth");
  show(make_pod({.name = "a", .hash = "used"}, ++revision_), Type::Added);
  accept_revision(0);
  Texts asked_for = later();
  std::erase_if(asked_for, [](const std::string& text) { return !text.starts_with("delete c"); });
  EXPECT_EQ(asked_for,
            (Texts{"delete controllerrevisions/d--4", "delete controllerrevisions/d--2"}))
      << "one stays for a rollback, and what a pod is of";
}

TEST_F(DaemonSetControllerTest, ANameOfARevisionThatIsTakenIsSaid) {
  show(make_set("", "", "{}", ++revision_));
  sync();
  later();
  const std::string name(api::find_string(*api::find_path(body(0), "metadata"), "name"));
  refuse(0, Reason::AlreadyExists);
  show(object(controller_revision_kind(),
              fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"other"}},
                  "data":{{}},"revision":1}})",
                          name)),
       Type::Added);
  now_ += std::chrono::minutes{1};
  EXPECT_EQ(asked(), (Texts{"patch daemonsets/d/status", "create controllerrevisions"}));
  EXPECT_EQ(api::find_integer(*api::find_path(body(1).as_array()[1], "value"), "collisionCount"),
            1);
  EXPECT_NE(api::find_string(*api::find_path(body(2), "metadata"), "name"), name);
}

TEST_F(DaemonSetControllerTest, WhatDecidesWhereItRunsMakesItLook) {
  show(make_set("", R"(,"nodeSelector":{"gpu":"yes"})", "{}", ++revision_));
  show(make_node("n1", "", "", ++revision_));
  sync();
  later();
  accept_revision(0);
  EXPECT_EQ(later(), Texts{"patch daemonsets/d/status"});
  const auto written = make_set(
      "", R"(,"nodeSelector":{"gpu":"yes"})",
      R"({"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0,"observedGeneration":2})",
      ++revision_);
  answer(1, written);
  show(written);
  later();
  show(make_node("n1", R"("gpu":"yes")", R"({"key":"x","effect":"NoSchedule"})", ++revision_));
  EXPECT_EQ(later(), Texts{});
  show(make_node("n1", R"("gpu":"yes")", "", ++revision_));
  EXPECT_EQ(later(), (Texts{"create pods", "patch daemonsets/d/status"}));
}

TEST_F(DaemonSetControllerTest, ANodeThatIsGoneIsNotCounted) {
  show(make_set("", "", "{}", ++revision_));
  const auto node = make_node("n1", "", "", ++revision_);
  show(node);
  sync();
  later();
  const std::string hash = accept_revision(0);
  show(make_pod({.name = "a", .hash = hash, .bound = false}, ++revision_), Type::Added);
  EXPECT_EQ(later(), Texts{"patch daemonsets/d/status"});
  refuse(1, Reason::NotFound);
  show(node, Type::Deleted);
  EXPECT_EQ(later(), (Texts{"delete pods/a", "patch daemonsets/d/status"}));
}

TEST_F(DaemonSetControllerTest, MakesNoSecondPodBeforeTheFeedShowsTheFirst) {
  show(make_set("", "", "{}", ++revision_));
  show(make_node("n1", "", "", ++revision_));
  sync();
  later();
  const std::string hash = accept_revision(0);
  EXPECT_EQ(later(), (Texts{"create pods", "patch daemonsets/d/status"}));
  const auto made = make_pod({.name = "a", .hash = hash}, ++revision_);
  answer(1, made);
  refuse(2, Reason::NotFound);
  show(make_node("n1", R"("a":"b")", "", ++revision_));
  EXPECT_EQ(later(), Texts{});
  show(made, Type::Added);
  EXPECT_EQ(later(), Texts{"patch daemonsets/d/status"});
}

TEST_F(DaemonSetControllerTest, AdoptsAndReleasesBeforeAnythingElse) {
  show(make_set("", "", "{}", ++revision_));
  show(object(api::kinds::pod(),
              R"({"metadata":{"name":"free","namespace":"ns","uid":"uf","labels":{"app":"d"}}})"));
  show(object(api::kinds::pod(),
              R"({"metadata":{"name":"astray","namespace":"ns","uid":"ua","labels":{"app":"x"},
          "ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"ud",
          "controller":true}]}})"));
  sync();
  EXPECT_EQ(later(), (Texts{"patch pods/free", "patch pods/astray"}));
}

TEST_F(DaemonSetControllerTest, WhoIsBeingDeletedMakesNoRevision) {
  show(make_set("", "", "{}", ++revision_, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"));
  show(make_node("n1", "", "", ++revision_));
  sync();
  EXPECT_EQ(later(), Texts{});
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
