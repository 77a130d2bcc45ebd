#include "controllers/jobset/set_groups.h"

#include <gtest/gtest.h>

#include <map>

#include "api/reading.h"
#include "controllers/jobset/job_set_testing.h"

namespace muster::controllers {
namespace {

using workload::JobSetMapping;

constexpr std::string_view kTree = R"("replicatedJobs":[
    {"name":"driver","template":{"spec":{"parallelism":1}}},
    {"name":"workers","replicas":2,"template":{"spec":{"parallelism":4,"completions":4}}}],
    "scheduling":{"schedulingPolicy":{"gang":{}},"replicatedJobs":[
      {"targetReplicatedJobs":["driver"]},{"targetReplicatedJobs":["workers"],"job":{}}]})";

// The objects of a set, and the next steps with them, carried out as an API would.
class SetGroupsTest : public ::testing::Test {
 protected:
  void start(std::string_view spec = kTree, std::string_view status = "") {
    set_ = make_set(spec, status);
    document_ = set_->document();
    mapping_ = std::make_unique<JobSetMapping>(document_, options_);
  }
  GroupsStep step() {
    const auto& view = set_->view<api::JobSetView>();
    std::vector<api::ObjectPtr> owned;
    for (const JobText& job : jobs_) owned.push_back(make_job(job));
    const ChildJobs jobs = sort_jobs(view, owned);
    const CompiledWorkload compiled(*mapping_);
    GroupsState state{
        .mapping = *mapping_, .compiled = compiled, .set = view, .uid = "ujs", .jobs = jobs};
    for (const auto& [name, object] : objects_)
      if (object->kind().kind != "Workload" && is_own(*object)) state.groups.push_back(object);
    state.find = [this](const api::Kind& kind, std::string_view name) -> api::ObjectPtr {
      const auto found = objects_.find(kind.kind + " " + std::string(name));
      return found == objects_.end() ? nullptr : found->second;
    };
    return next_groups_step(state);
  }
  static bool is_own(const api::Object& object) {
    return !object.meta().owners.empty() && object.meta().owners[0].uid == "ujs";
  }
  // Takes a step; "+CompositePodGroup root" was made, "-PodGroup driver" deleted, "~…" resized.
  Texts take() {
    Texts out;
    GroupsStep next = step();
    if (next.blocked) out.push_back(next.blocked->reason);
    if (next.workload) put(api::kinds::workload(), *next.workload, out);
    for (const JobSetMapping::Group& group : next.create) {
      const auto stored = objects_.find("Workload " + mapping_->workload_name());
      put(*group.kind, *mapping_->group(group, stored->second->document()), out);
    }
    for (const GroupsStep::Resize& resize : next.resize)
      out.push_back("~" + label(*resize.object) + " " +
                    api::to_text(*api::find(resize.patch, "spec")));
    for (const api::ObjectPtr& object : next.remove) {
      out.push_back("-" + label(*object));
      objects_.erase(object->kind().kind + " " + object->meta().name);
    }
    if (next.ready) out.emplace_back("ready");
    return out;
  }
  void put(const api::Kind& kind, api::Json document, Texts& out) {
    document.as_object()["metadata"].as_object()["uid"] = "u-" + std::to_string(objects_.size());
    const api::ObjectPtr made = api::Object::make(kind, document);
    objects_[kind.kind + " " + made->meta().name] = made;
    out.push_back("+" + label(*made));
  }
  std::string label(const api::Object& object) const {
    std::string name = object.meta().name;
    if (name.starts_with(mapping_->workload_name()))
      name = name.substr(mapping_->workload_name().size());
    return object.kind().kind + (name.empty() ? "" : " " + name);
  }
  void take_until_ready() {
    for (int i = 0; i < 10; ++i)
      if (const Texts out = take(); !out.empty() && out.back() == "ready") return;
    FAIL() << "never ready";
  }

  workload::JobOptions options_;
  api::ObjectPtr set_;
  api::Json document_;
  std::unique_ptr<JobSetMapping> mapping_;
  std::vector<JobText> jobs_;
  std::map<std::string, api::ObjectPtr> objects_;  // by kind and name
};

TEST_F(SetGroupsTest, MakesTheWorkloadThenEachLevel) {
  start();
  EXPECT_EQ(take(), Texts{"+Workload"});
  EXPECT_EQ(take(), Texts{"+CompositePodGroup -root"});
  EXPECT_EQ(take(), (Texts{"+PodGroup -driver", "+CompositePodGroup -workers"}));
  EXPECT_EQ(take(), (Texts{"+PodGroup -workers-0", "+PodGroup -workers-1"}));
  EXPECT_EQ(take(), Texts{"ready"});
}

TEST_F(SetGroupsTest, GoesFromTheLeavesToTheWorkload) {
  start();
  take_until_ready();
  start(std::string(kTree) + R"(,"suspend":true)");
  jobs_ = {{.entry = "workers", .active = 4, .suspend = true}};
  EXPECT_EQ(take(), Texts{}) << "pods first";
  jobs_[0].active = 0;
  EXPECT_EQ(take(), (Texts{"-PodGroup -driver", "-PodGroup -workers-0", "-PodGroup -workers-1"}));
  EXPECT_EQ(take(), Texts{"-CompositePodGroup -workers"});
  EXPECT_EQ(take(), Texts{"-CompositePodGroup -root"});
  EXPECT_EQ(take(), Texts{"-Workload"});
  EXPECT_EQ(take(), Texts{});
  start();
  take_until_ready();
}

TEST_F(SetGroupsTest, EveryAttemptHasItsOwn) {
  start();
  take_until_ready();
  start(kTree, R"("restarts":1)");
  jobs_ = {{.entry = "workers", .attempt = 0}};
  EXPECT_EQ(take(), Texts{"+CompositePodGroup .1-root"})
      << "old groups stay while Jobs are in them";
  EXPECT_EQ(take(), (Texts{"+PodGroup .1-driver", "+CompositePodGroup .1-workers"}));
  EXPECT_EQ(take(), (Texts{"+PodGroup .1-workers-0", "+PodGroup .1-workers-1"}));
  EXPECT_EQ(take(), Texts{"ready"});
  jobs_ = {{.entry = "workers", .attempt = 1}};
  EXPECT_EQ(take(),
            (Texts{"-PodGroup -driver", "-PodGroup -workers-0", "-PodGroup -workers-1", "ready"}));
  EXPECT_EQ(take(), (Texts{"-CompositePodGroup -workers", "ready"}));
  EXPECT_EQ(take(), (Texts{"-CompositePodGroup -root", "ready"}));
  EXPECT_EQ(take(), Texts{"ready"});
}

TEST_F(SetGroupsTest, MinimumsFollowTheSizeOfJobs) {
  start();
  take_until_ready();
  std::string larger(kTree);
  const std::string four = R"("parallelism":4,"completions":4)";
  larger.replace(larger.find(four), four.size(), R"("parallelism":6,"completions":6)");
  start(larger);
  jobs_ = {{.entry = "workers"}};
  const Texts out = take();
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[1], R"(~PodGroup -workers-0 {"schedulingPolicy":{"gang":{"minCount":6}}})");
  EXPECT_TRUE(out[0].starts_with("~Workload") &&
              out[0].find(R"("minCount":6)") != std::string::npos)
      << out[0];
  EXPECT_EQ(out[3], "ready");
}

TEST_F(SetGroupsTest, WhatChangedDuringARestIsMadeAgain) {
  start();
  take_until_ready();
  std::string other(kTree);
  other.replace(other.find(R"("job":{})"), 8, R"("schedulingPolicy":{"basic":{}})");
  start(other);
  jobs_ = {{.entry = "workers"}};
  EXPECT_EQ(take(), Texts{}) << "what runs is left alone";
  start();
  objects_.clear();
  take_until_ready();
  start(other);
  jobs_ = {};
  Texts all;
  for (int i = 0; i < 10; ++i)
    for (std::string& line : take()) all.push_back(std::move(line));
  EXPECT_EQ(std::ranges::count(all, "-Workload"), 1);
  EXPECT_EQ(std::ranges::count(all, "+PodGroup -workers"), 1);
  EXPECT_EQ(all.back(), "ready");
}

TEST_F(SetGroupsTest, NewPodsDoNotJoinThoseThatAreLeaving) {
  start();
  take_until_ready();
  jobs_ = {{.entry = "workers", .active = 2, .suspend = true}};
  EXPECT_EQ(take(), Texts{}) << "resumed while pods of before are still there";
}

TEST_F(SetGroupsTest, WhatBelongsToOthersIsNotTaken) {
  start();
  objects_["Workload " + mapping_->workload_name()] = api::Object::make(
      api::kinds::workload(),
      parsed(fmt::format(R"({{"metadata":{{"name":"{}"}}}})", mapping_->workload_name())));
  EXPECT_EQ(take(), Texts{"SchedulingObjectExists"});
  objects_.clear();
  take();
  objects_["CompositePodGroup " + mapping_->workload_name() + "-root"] = api::Object::make(
      api::kinds::composite_pod_group(),
      parsed(fmt::format(R"({{"metadata":{{"name":"{}-root"}}}})", mapping_->workload_name())));
  EXPECT_EQ(take(), Texts{"SchedulingObjectExists"});
}

TEST_F(SetGroupsTest, WhatCannotBeBuiltBlocks) {
  std::string bad(kTree);
  bad += R"(,"startupPolicy":{"startupPolicyOrder":"InOrder"})";
  start(bad);
  EXPECT_EQ(take(), Texts{"FailedWorkloadCompilation"});
}

// Where there are no groups, a set that asks for them says so and waits; others run.
TEST_F(SetGroupsTest, WithoutGroupsASetThatAsksForThemIsBlocked) {
  options_.gates = options_.gates.without(api::Gate::GenericWorkload);
  start();
  EXPECT_EQ(take(), Texts{"APINotAvailable"});
  start(R"("replicatedJobs":[{"name":"a","template":{}}])");
  EXPECT_EQ(take(), Texts{"ready"});
}

// As many groups as a set may have are asked for, and a step costs some hundred.
TEST_F(SetGroupsTest, AStepIsBoundedWhateverTheSetAsksFor) {
  std::string huge(kTree);
  huge.replace(huge.find(R"("replicas":2)"), 12, R"("replicas":10000)");
  start(huge);
  EXPECT_EQ(take(), Texts{"+Workload"});
  EXPECT_EQ(take(), Texts{"+CompositePodGroup -root"});
  EXPECT_EQ(take(), (Texts{"+PodGroup -driver", "+CompositePodGroup -workers"}));
  EXPECT_EQ(take().size(), kGroupChangesMax);
  const Texts more = take();
  EXPECT_EQ(more.size(), kGroupChangesMax);
  EXPECT_EQ(more.front(), "+PodGroup -workers-500");
}

TEST_F(SetGroupsTest, GroupsGoInSlicesToo) {
  std::string many(kTree);
  many.replace(many.find(R"("replicas":2)"), 12, R"("replicas":700)");
  start(many);
  take_until_ready();
  start(many + R"(,"suspend":true)");
  EXPECT_EQ(take().size(), kGroupChangesMax);
  EXPECT_EQ(take().size(), 701 - kGroupChangesMax);
  EXPECT_EQ(take(), Texts{"-CompositePodGroup -workers"});
}

TEST_F(SetGroupsTest, OnlyGroupsOfWantedJobsStay) {
  std::string five(kTree);
  five.replace(five.find(R"("replicas":2)"), 12, R"("replicas":5)");
  start(five);
  take_until_ready();
  const JobSetMapping::GroupNames names = mapping_->group_names(0);
  const std::string name = mapping_->workload_name();
  for (const auto& [text, wanted] : std::map<std::string, bool>{{"-workers-0", true},
                                                                {"-workers-4", true},
                                                                {"-workers-5", false},
                                                                {"-workers-04", false},
                                                                {"-workers-+4", false},
                                                                {"-workers-", false},
                                                                {"-driver", true},
                                                                {"-driver-0", false},
                                                                {".1-workers-0", false}})
    EXPECT_EQ(names.contains(name + text, false), wanted) << text;
  EXPECT_TRUE(names.contains(name + "-workers", true));
  EXPECT_FALSE(names.contains(name + "-workers-0", true));
}

TEST_F(SetGroupsTest, ASetThatAsksForNothingIsReady) {
  start(R"("replicatedJobs":[{"name":"a","template":{}}])");
  EXPECT_EQ(take(), Texts{"ready"});
}

}  // namespace
}  // namespace muster::controllers
