#include "controllers/jobset/job_set_controller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "base/live_bytes_testing.h"
#include "controllers/common/controller_testing.h"

namespace muster::controllers {
namespace {

// Sets whose template is large.
class JobSetControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }

  api::ObjectPtr a_set(std::string_view name, int replicas, std::string_view more = "",
                       std::size_t bytes = 64UL << 10U, std::string_view name_space = "ns") {
    return object(job_set_kind(),
                  fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"{4}","uid":"u-{0}",
        "generation":1}},"spec":{{"replicatedJobs":[{{"name":"w","replicas":{1},"template":{{"spec":
        {{"parallelism":1,"template":{{"spec":{{"nodeName":"{2}"}}}}}}}}}}],
        "network":{{"enableDNSHostnames":false}}{3}}}}})",
                              name, replicas, std::string(bytes, 'x'), more, name_space));
  }
  // Shows each object that was asked for; then what is asked for next.
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
      const api::ObjectPtr made = object(*request.kind, api::to_text(document));
      answer(answered_, made);
      show(made, Type::Added);
    }
    now_ += std::chrono::seconds{1};
    return asked();
  }
  static std::ptrdiff_t count_of(const Texts& calls, std::string_view call) {
    return std::ranges::count(calls, call);
  }

  std::size_t answered_ = 0;
  JobSetController controller_{workload::JobOptions(), context()};
};

// A look copied the template for each of five hundred Jobs.
TEST_F(JobSetControllerTest, HoldsNoCopiesOfAJobsTemplate) {
  show(a_set("js", 500));
  sync();
  const std::int64_t before = live_bytes();
  EXPECT_EQ(count_of(asked(), "create jobs"), 1);
  EXPECT_LT(live_bytes() - before, 2 << 20);
  EXPECT_EQ(count_of(step(), "create jobs"), 2) << "what was refused once would be refused often";
  std::ptrdiff_t jobs = 3;
  for (int i = 0; i < 20; ++i) jobs += count_of(step(), "create jobs");
  EXPECT_EQ(jobs, 500);
}

TEST_F(JobSetControllerTest, NamespacesTakeTurns) {
  for (int i = 0; i < 40; ++i) show(a_set(fmt::format("js{}", i), 500, "", 1UL << 20U, "crowd"));
  show(a_set("quiet", 1, "", 1, "quiet"));
  sync();
  const Texts calls = asked();
  EXPECT_LT(count_of(calls, "create jobs"), 30) << "of a MiB each";
  const bool quiet =
      std::ranges::any_of(sent_, [](const auto& sent) { return sent.first.name_space == "quiet"; });
  EXPECT_TRUE(quiet);
}

TEST_F(JobSetControllerTest, GroupsAreMadeWhenTheyAreSent) {
  show(a_set("js", 400, R"(,"scheduling":{"schedulingPolicy":{"gang":{}},
      "replicatedJobs":[{"targetReplicatedJobs":["w"],"job":{}}]})",
             1));
  sync();
  EXPECT_EQ(count_of(asked(), "create workloads"), 1);
  Texts calls;
  for (int i = 0; i < 5 && count_of(calls, "create podgroups") == 0; ++i) calls = step();
  EXPECT_EQ(count_of(calls, "create podgroups"), 1);
  EXPECT_EQ(count_of(step(), "create podgroups"), 2);
  std::ptrdiff_t groups = 3;
  std::ptrdiff_t jobs = 0;
  for (int i = 0; i < 40; ++i) {
    calls = step();
    groups += count_of(calls, "create podgroups");
    jobs += count_of(calls, "create jobs");
    if (groups < 400) {
      EXPECT_EQ(jobs, 0) << "not before its groups";
    }
  }
  EXPECT_EQ(groups, 400);
  EXPECT_EQ(jobs, 400);
}

TEST_F(JobSetControllerTest, ARefusedJobEndsTheBatch) {
  show(a_set("js", 500, "", 1));
  sync();
  asked();
  for (std::size_t i = 0; i < calls_.size(); ++i) refuse(i, Reason::Forbidden);
  answered_ = calls_.size();
  EXPECT_EQ(count_of(asked(), "create jobs"), 0);
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(count_of(asked(), "create jobs"), 1) << "after a pause";
}

}  // namespace
}  // namespace muster::controllers
