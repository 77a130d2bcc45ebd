#include "controllers/job/job_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "api/reading.h"
#include "base/live_bytes_testing.h"
#include "base/metrics.h"
#include "controllers/common/controller_testing.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

class JobControllerTest : public ControllerTest {
 protected:
  api::ObjectPtr job(std::string_view spec, std::string_view more_meta = "") {
    return object(job_kind(),
                  fmt::format(
                      R"({{"metadata":{{"name":"j","namespace":"ns","uid":"uj","generation":1{}}},
      "spec":{{{},"selector":{{"matchLabels":{{"batch.kubernetes.io/controller-uid":"uj"}}}},
      "template":{{"metadata":{{"labels":{{"batch.kubernetes.io/controller-uid":"uj"}}}},
      "spec":{{"restartPolicy":"Never","containers":[{{"name":"c","image":"i"}}]}}}}}}}})",
                      more_meta, spec));
  }
  api::ObjectPtr pod(std::string_view name, std::string_view owner, std::string_view more_meta = "",
                     std::string_view phase = "Running") {
    return object(
        api::kinds::pod(),
        fmt::format(
            R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}","labels":{{"batch.kubernetes.io/controller-uid":"{1}"}},
        "ownerReferences":[{2}],"finalizers":["batch.kubernetes.io/job-tracking"]{3}}},
        "spec":{{}},"status":{{"phase":"{4}"}}}})",
            name, owner.empty() ? "uj" : owner,
            owner.empty()
                ? ""
                : fmt::format(
                      R"({{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"{}","controller":true}})",
                      owner),
            more_meta, phase));
  }
  client::Component& controller() override { return controller_; }
  // Their reasons, without the messages.
  Texts event_reasons() const {
    Texts out;
    for (const std::string& event : events_) out.push_back(event.substr(0, event.find(' ')));
    return out;
  }

  JobController controller_{{.group_all = false}, context()};
};

TEST_F(JobControllerTest, BatchesGrowWhileAllGoesWell) {
  show(job(R"("parallelism":5,"completions":5)"));
  sync();
  EXPECT_EQ(asked(), Texts{"create pods"});
  answer(0, pod("a", "uj"));
  EXPECT_EQ(asked(), (Texts{"create pods", "create pods"}));
  answer(1, pod("b", "uj"));
  EXPECT_EQ(asked(), Texts{}) << "the batch is not whole";
  answer(2, pod("c", "uj"));
  EXPECT_EQ(asked(), (Texts{"create pods", "create pods"}));
  answer(3, pod("d", "uj"));
  refuse(4, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(event_reasons(), (Texts{"SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate",
                                    "SuccessfulCreate", "FailedCreate"}));
}

TEST_F(JobControllerTest, LooksAgainOnlyWhenItHasSeenItsOwnWrites) {
  show(job(R"("parallelism":1,"completions":1)"));
  sync();
  asked();
  const api::ObjectPtr made = pod("a", "uj");
  answer(0, made);
  now_ += seconds{10};
  EXPECT_EQ(asked(), Texts{}) << "otherwise it would make a second pod";
  show(made, Type::Added);
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"});
  EXPECT_EQ(api::find_integer(*api::find_path(body(1).as_array()[1], "value"), "active"), 1);
}

TEST_F(JobControllerTest, TheFeedMayBeFasterThanTheAnswer) {
  show(job(R"("parallelism":1,"completions":1)"));
  sync();
  asked();
  const api::ObjectPtr made = pod("a", "uj");
  show(made, Type::Added);
  EXPECT_EQ(asked(), Texts{});
  answer(0, made);
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"});
}

// The last finalizer of a deleted pod: the pod is gone, and the feed may say so first.
TEST_F(JobControllerTest, DoesNotWaitForWhatIsGone) {
  show(job(R"("parallelism":0,"completions":3)"));
  const api::ObjectPtr gone = pod("a", "uj");
  show(gone);
  sync();
  EXPECT_EQ(asked(), Texts{"patch pods/a"});
  show(gone, Type::Deleted);
  answer(0, pod("a", "uj"));
  EXPECT_EQ(asked(), Texts{"delete pods/a"});
  refuse(1, Reason::NotFound);
  now_ += seconds{2};
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"});
}

TEST_F(JobControllerTest, WaitsForAnObjectThatNeverShowsOnlySoLong) {
  show(job(R"("parallelism":1,"completions":1)"));
  sync();
  asked();
  answer(0, pod("a", "uj"));
  now_ += OwnWrites::kPatience - seconds{1};
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds{1};
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"}) << "writes take turns with pods";
}

TEST_F(JobControllerTest, ARefusedCreateIsTriedAgain) {
  show(job(R"("parallelism":1,"completions":1)"));
  sync();
  asked();
  refuse(0, Reason::InternalError);
  EXPECT_EQ(asked(), Texts{});
  now_ += seconds{1};
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"});
  refuse(1, Reason::Conflict);
  now_ += seconds{1};
  EXPECT_EQ(asked(), Texts{"create pods"});
}

TEST_F(JobControllerTest, ManyFailuresOfOneLookAreOneFailure) {
  show(job(R"("parallelism":0,"completions":4)"));
  for (const char* name : {"a", "b", "c", "d"}) show(pod(name, "uj"));
  sync();
  EXPECT_EQ(asked().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) refuse(i, Reason::ServiceUnavailable);
  EXPECT_EQ(controller_.next_deadline(), now_ + milliseconds{50});
}

TEST_F(JobControllerTest, LeavesJobsOfOthersAlone) {
  show(job(R"("parallelism":1,"managedBy":"acme.io/jobs")"));
  sync();
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(JobControllerTest, AdoptsPodsThatFitAndBelongToNobody) {
  show(pod("a", ""));
  show(job(R"("parallelism":1,"completions":1)"));
  sync();
  EXPECT_EQ(asked(), Texts{"patch pods/a"});
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"uj",)"
      R"("controller":true,"blockOwnerDeletion":true}],"finalizers":["batch.kubernetes.io/job-tracking"],)"
      R"("uid":"u-a"}})");
}

TEST_F(JobControllerTest, ReleasesPodsThatNoLongerFit) {
  show(job(R"("parallelism":1,"completions":1)"));
  show(object(api::kinds::pod(),
              R"({"metadata":{"name":"a","namespace":"ns","uid":"u-a","ownerReferences":[
      {"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"uj","controller":true}]},"spec":{}})"));
  sync();
  EXPECT_EQ(asked(), Texts{"patch pods/a"});
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"uj"}],)"
      R"("$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"],"uid":"u-a"}})");
}

TEST_F(JobControllerTest, PodsWhoseJobIsGoneAreLetGo) {
  show(pod("a", "another"));
  show(pod("b", "uj"));
  const api::ObjectPtr job = this->job(R"("parallelism":1,"completions":1)");
  show(job);
  sync();
  EXPECT_EQ(asked(), (Texts{"patch pods/a", "patch jobs/j/status"}));
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"],"uid":"u-a"}})");
  show(job, Type::Deleted);
  EXPECT_EQ(asked(), Texts{"patch pods/b"});
}

TEST_F(JobControllerTest, ExcessPodsLoseTheirFinalizerBeforeTheyAreDeleted) {
  show(job(R"("parallelism":0,"completions":3)"));
  show(pod("a", "uj"));
  sync();
  EXPECT_EQ(asked(), Texts{"patch pods/a"});
  answer(0, pod("a", "uj"));
  EXPECT_EQ(asked(), Texts{"delete pods/a"});
}

TEST_F(JobControllerTest, HoldsNoCopiesOfATemplate) {
  show(object(job_kind(),
              fmt::format(R"({{"metadata":{{"name":"j","namespace":"ns","uid":"uj","generation":1}},
      "spec":{{"parallelism":500,"completions":500,
      "selector":{{"matchLabels":{{"batch.kubernetes.io/controller-uid":"uj"}}}},
      "template":{{"metadata":{{"labels":{{"batch.kubernetes.io/controller-uid":"uj"}}}},
      "spec":{{"restartPolicy":"Never","hostname":"{}"}}}}}}}})",
                          std::string(64UL << 10U, 'x'))));
  sync();
  const std::int64_t before = live_bytes();
  EXPECT_EQ(asked(), Texts{"create pods"});
  EXPECT_LT(live_bytes() - before, 2 << 20) << "500 copies would be 32 MiB";
}

// Jobs that select pods in their own way, in a namespace full of such Jobs and of pods that belong
// to nobody.
class ManualJobsTest : public JobControllerTest {
 protected:
  static constexpr int kMany = 200;

  client::Component& controller() override { return counted_; }
  // Selects pods with the label app=<name>.
  api::ObjectPtr manual_job(std::string_view name, std::string_view status = "") {
    return object(job_kind(), fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns",
      "uid":"u-{0}","generation":1}},"spec":{{"suspend":true,"manualSelector":true,
      "selector":{{"matchLabels":{{"app":"{0}"}}}},
      "template":{{"metadata":{{"labels":{{"app":"{0}"}}}},"spec":{{}}}}}},"status":{{{1}}}}})",
                                          name, status));
  }
  api::ObjectPtr free_pod(std::string_view name, std::string_view app) {
    return object(api::kinds::pod(), fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns",
      "uid":"u-{0}","labels":{{"app":"{1}","tier":"x"}}}},"spec":{{}}}})",
                                                 name, app));
  }
  double count(const std::string& name) const {
    const std::string text = metrics_.text();
    const std::string line = name + "{name=\"job\"} ";
    const std::size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + line.size()));
  }
  double looks() const { return count("workqueue_adds_total"); }
  double reads() const { return count("muster_controller_objects_read_total"); }
  client::ComponentContext counted_context() {
    client::ComponentContext out = context();
    out.metrics = &metrics_;
    return out;
  }

  Metrics metrics_;
  JobController counted_{{.group_all = false}, counted_context()};
};

TEST_F(ManualJobsTest, PodsAndJobsFindEachOtherByLabel) {
  for (int i = 0; i < kMany; ++i) {
    show(manual_job(fmt::format("j{}", i)));
    show(free_pod(fmt::format("p{}", i), "nobody"));
  }
  sync();
  ASSERT_EQ(asked().size(), static_cast<std::size_t>(kMany)) << "each says that it is suspended";
  EXPECT_LT(reads(), 10 * kMany) << "no Job looks at every pod";
  for (int i = 0; i < kMany; ++i)
    answer(static_cast<std::size_t>(i), manual_job(fmt::format("j{}", i)));

  const double looks_before = looks();
  const double reads_before = reads();
  show(free_pod("p7", "somebody"));
  EXPECT_EQ(looks(), looks_before) << "it concerns no Job";
  show(free_pod("mine", "j7"));
  EXPECT_EQ(looks(), looks_before + 1);
  now_ += OwnWrites::kPatience;  // for the feed that shows the statuses
  const Texts calls = asked();
  EXPECT_EQ(std::ranges::count(calls, "patch pods/mine"), 1);
  EXPECT_LT(reads() - reads_before, 10 * kMany);
}

TEST_F(ManualJobsTest, JobsThatTakeNoPodsAreNotAsked) {
  show(manual_job("ended", R"("conditions":[{"type":"Complete","status":"True"}])"));
  sync();
  asked();
  const double before = looks();
  show(free_pod("p", "ended"));
  EXPECT_EQ(looks(), before);
}

}  // namespace
}  // namespace muster::controllers
