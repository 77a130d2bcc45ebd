#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/reading.h"
#include "controllers/common/controller_testing.h"
#include "controllers/job/job_controller.h"
#include "controllers/job/job_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

// Job "j", a gang, with what it makes before its pods.
class JobGroupsTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }

  void show_job(int parallelism, std::string_view more = "", int generation = 1,
                std::string_view status = "{}") {
    show(object(
        *api::find_kind("batch", "Job"),
        fmt::format(R"({{"metadata":{{"name":"j","namespace":"ns","uid":"uj","generation":{0}}},
      "spec":{{"parallelism":{1},"completions":{1},
      "scheduling":{{"schedulingPolicy":{{"gang":{{}}}}}}{2},
      "selector":{{"matchLabels":{{"batch.kubernetes.io/controller-uid":"uj"}}}},
      "template":{{"metadata":{{"labels":{{"batch.kubernetes.io/controller-uid":"uj"}}}},
      "spec":{{"restartPolicy":"Never","containers":[{{"name":"c","image":"i"}}]}}}}}},"status":{3}}})",
                    generation, parallelism, more, status)));
  }
  // The object that the last call asks for, once it exists.
  api::ObjectPtr made(std::string_view uid, std::string_view name) {
    api::Json document = body(calls_.size() - 1);
    api::JsonObject& metadata = api::ensure_object(document.as_object(), "metadata");
    metadata["uid"] = uid;
    metadata["name"] = name;
    metadata["generation"] = 1;
    return object(*sent_[calls_.back()].first.kind, api::to_text(document));
  }
  api::ObjectPtr make(std::string_view uid, std::string_view name) {
    const api::ObjectPtr out = made(uid, name);
    answer(calls_.size() - 1, out);
    show(out, Type::Added);
    now_ += seconds{2};
    return out;
  }
  // Shows a version of the object whose text has `with` instead of `what`.
  api::ObjectPtr show_with(const api::ObjectPtr& of, std::string_view what, std::string_view with) {
    std::string text = api::to_text(of->document());
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << text;
    if (at != std::string::npos) text.replace(at, what.size(), with);
    api::ObjectPtr out = object(of->kind(), text);
    show(out);
    now_ += seconds{2};
    return out;
  }
  api::Json condition() const {
    for (const api::Json& each :
         api::elements(*api::find(body(calls_.size() - 1).as_array().at(1), "value"), "conditions"))
      if (api::find_string(each, "type") == "SchedulingBlocked") return each;
    return nullptr;
  }

  JobController controller_{{.group_all = false}, context()};
};

TEST_F(JobGroupsTest, TheWorkloadThenTheGroupThenPodsThatNameIt) {
  show_job(1);
  sync();
  EXPECT_EQ(asked(), Texts{"create workloads"});
  make("uw", "w");
  EXPECT_EQ(asked(), Texts{"create podgroups"});
  make("ug", "g");
  EXPECT_EQ(asked(), Texts{"create pods"});
  EXPECT_EQ(api::to_text(*api::find_path(body(2), "spec.schedulingGroup")),
            R"({"podGroupName":"g"})");
  EXPECT_EQ(events_,
            (Texts{"WorkloadCreated Created Workload w", "PodGroupCreated Created PodGroup g"}));
}

TEST_F(JobGroupsTest, WhatTheServerRefusesIsSaidAndAskedForAgain) {
  show_job(1);
  sync();
  EXPECT_EQ(asked(), Texts{"create workloads"});
  refuse(0, Reason::Forbidden);
  now_ += seconds{20};
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"});
  EXPECT_EQ(events_, Texts{"FailedWorkloadCreate Error creating Workload: no"});
  EXPECT_EQ(api::find_string(condition(), "reason"), "FailedWorkloadCreate");
  EXPECT_EQ(api::find_string(condition(), "message"), "no");
}

TEST_F(JobGroupsTest, AServerThatIsBusyIsNotSaidToRefuse) {
  show_job(1);
  sync();
  EXPECT_EQ(asked(), Texts{"create workloads"});
  refuse(0, Reason::TooManyRequests);
  now_ += seconds{20};
  EXPECT_EQ(asked(), Texts{"create workloads"});
}

TEST_F(JobGroupsTest, TheWorkloadThenTheGroupFollowTheSizeOfTheJob) {
  show_job(2);
  sync();
  asked();
  const api::ObjectPtr workload = make("uw", "w");
  asked();
  make("ug", "g");
  asked();
  make("up", "p");
  asked();
  show_job(3, "", 2);
  refuse(calls_.size() - 1, Reason::NotFound);
  now_ += seconds{20};
  ASSERT_EQ(asked(), (Texts{"patch workloads/w", "patch jobs/j/status"}));
  EXPECT_EQ(api::to_text(body(calls_.size() - 2)),
            R"({"metadata":{"uid":"uw","resourceVersion":"2"},"spec":{"podGroupTemplates":[)"
            R"({"name":"j-pgt-0","schedulingPolicy":{"gang":{"minCount":3}},)"
            R"("schedulingConstraints":null}]}})");
  for (std::size_t call : {2, 1}) refuse(calls_.size() - call, Reason::NotFound);
  show_with(workload, R"("minCount":2)", R"("minCount":3)");
  ASSERT_EQ(asked().front(), "patch podgroups/g");
  EXPECT_EQ(api::to_text(body(calls_.size() - 2)),
            R"({"metadata":{"uid":"ug"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})");
}

// A version of the group of the same generation is one in which only its status differs.
TEST_F(JobGroupsTest, WhatTheSchedulerSaysOfTheGroupIsNoReasonToLook) {
  show_job(2);
  sync();
  asked();
  make("uw", "w");
  asked();
  const api::ObjectPtr group = make("ug", "g");
  for (const char* pod : {"p", "q"}) {
    EXPECT_EQ(asked(), Texts{"create pods"});
    make(pod, pod);
  }
  EXPECT_EQ(asked(), Texts{"patch jobs/j/status"});
  show_job(2, "", 1, api::to_text(*api::find(body(calls_.size() - 1).as_array().at(1), "value")));
  answer(calls_.size() - 1, group);
  now_ += seconds{20};
  EXPECT_EQ(asked(), Texts{});
  const api::ObjectPtr smaller = show_with(group, R"("minCount":2)", R"("minCount":1)");
  EXPECT_EQ(asked(), Texts{});
  show_with(smaller, R"("generation":1)", R"("generation":2)");
  EXPECT_EQ(asked(), Texts{"patch podgroups/g"});
}

TEST_F(JobGroupsTest, ASuspendedJobGivesItsGroupBack) {
  show_job(1);
  sync();
  asked();
  make("uw", "w");
  asked();
  make("ug", "g");
  EXPECT_EQ(asked(), Texts{"create pods"});
  refuse(calls_.size() - 1, Reason::NotFound);
  show_job(1, R"(,"suspend":true)", 2);
  now_ += seconds{20};
  EXPECT_EQ(asked().front(), "delete podgroups/g");
}

}  // namespace
}  // namespace muster::controllers
