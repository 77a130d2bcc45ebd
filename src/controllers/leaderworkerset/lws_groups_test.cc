#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "controllers/leaderworkerset/leader_worker_set_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

constexpr std::string_view kReplicaGangs =
    R"(,"scheduling":{"replica":{"schedulingPolicy":{"gang":{}}}})";
constexpr std::string_view kSetAndReplicaGangs =
    R"(,"scheduling":{"schedulingPolicy":{"gang":{}},"replica":{"schedulingPolicy":{"gang":{}}}})";

// Set "llm" and the groups that it is scheduled with.
class LwsGroupsTest : public LeaderWorkerSetControllerTest {
 protected:
  using LeaderWorkerSetControllerTest::LeaderWorkerSetControllerTest;

  void show_set(int replicas, int size, std::string_view more, std::string_view metadata = "",
                int generation = 1) {
    show(object(leader_worker_set_kind(),
                fmt::format(R"({{"metadata":{{"name":"llm","namespace":"ns","uid":"us",
        "generation":{}{}}},"spec":{{"replicas":{},"leaderWorkerTemplate":{{"size":{},
        "workerTemplate":{{"spec":{{}}}}}}{}}}}})",
                            generation, metadata, replicas, size, more)));
  }
  // What is asked for from now on, step by step, without status.
  Texts run(int steps = 8) {
    Texts out;
    const auto add = [&](Texts calls) {
      for (std::string& call : calls)
        if (!call.ends_with("/status")) out.push_back(std::move(call));
    };
    add(asked());
    for (int i = 0; i < steps; ++i) add(step());
    return out;
  }
  // Condition WorkloadSchedulingCreated as it was last written: "False Reason: message".
  std::string says() const {
    for (std::size_t at = calls_.size(); at-- > 0;) {
      const api::Request& request = sent_[calls_[at]].first;
      if (request.subresource != "status") continue;
      for (const api::Json& each :
           api::elements(api::part_of(request.body, "status"), "conditions"))
        if (api::find_string(each, "type") == "WorkloadSchedulingCreated")
          return fmt::format("{} {}: {}", api::find_string(each, "status"),
                             api::find_string(each, "reason"), api::find_string(each, "message"));
      return "nothing";
    }
    return "no status";
  }
  // The one object of this kind that was made.
  const api::ObjectPtr& only(std::string_view plural) const {
    const auto at = made_.lower_bound(fmt::format("{}/", plural));
    EXPECT_TRUE(at != made_.end() && at->first.starts_with(plural)) << plural;
    return at->second;
  }
  // Of the last call that was no status.
  const api::Json& last_body() const {
    std::size_t at = calls_.size() - 1;
    while (sent_[calls_[at]].first.subresource == "status") --at;
    return body(at);
  }
  // Shows the StatefulSet of leaders as the last call has it.
  void show_patched_leader_set() {
    api::Json document = only("statefulsets")->document();
    for (const api::Json& each : last_body().get_array()) {
      const std::string_view path = api::find_string(each, "path");
      const std::size_t slash = path.find('/', 1);
      if (api::find_string(each, "op") == "add")
        api::ensure_object(document.as_object(),
                           path.substr(1, slash - 1))[path.substr(slash + 1)] =
            *api::find(each, "value");
    }
    document.as_object()["status"] =
        parsed(R"({"observedGeneration":1,"currentRevision":"r","updateRevision":"r"})");
    show(object(only("statefulsets")->kind(), api::to_text(document)));
  }
  // Shows it with other members of its metadata.
  void show_changed(const api::ObjectPtr& of, std::string_view metadata,
                    Type type = Type::Modified) {
    api::Json document = of->document();
    api::JsonObject& members = api::ensure_object(document.as_object(), "metadata");
    const api::Json more = parsed(metadata);
    for (const auto& member : more.get_object()) members[member.key()] = member.value();
    show(object(of->kind(), api::to_text(document)), type);
  }
};

const std::string kCreated = "True Created: Workload and groups exist before the pods in them";

TEST_F(LwsGroupsTest, TheWorkloadAndTheGroupComeBeforeThePods) {
  show_set(1, 2, kReplicaGangs);
  sync();
  EXPECT_EQ(run(), (Texts{"create controllerrevisions", "create workloads", "create services",
                          "create statefulsets", "create podgroups", "create pods",
                          "create statefulsets", "create pods"}));
  EXPECT_EQ(says(), kCreated);
}

TEST_F(LwsGroupsTest, SetsThatAskForNoGroupsHaveNone) {
  show_set(1, 1, "");
  sync();
  EXPECT_EQ(run(), (Texts{"create controllerrevisions", "create services", "create statefulsets",
                          "create pods"}));
  EXPECT_EQ(says(), "nothing");
}

// What a server may not serve, and the set that is asked for.
struct Missing {
  std::string name;
  api::Gate gate;
  std::string_view scheduling;
  std::string says;
};

class LwsGatesTest : public LwsGroupsTest, public ::testing::WithParamInterface<Missing> {
 protected:
  LwsGatesTest() : LwsGroupsTest(api::Gates().without(GetParam().gate)) {}
};

TEST_P(LwsGatesTest, WithoutGroupsASetThatAsksForThemHasNoPods) {
  show_set(1, 1, GetParam().scheduling);
  sync();
  EXPECT_EQ(run(), (Texts{"create controllerrevisions", "create services"}));
  EXPECT_EQ(says(), "False " + GetParam().says);
  EXPECT_EQ(events_, Texts{GetParam().says.substr(0, GetParam().says.find(':')) +
                           GetParam().says.substr(GetParam().says.find(' '))})
      << "said once";
}
INSTANTIATE_TEST_SUITE_P(
    Of, LwsGatesTest,
    ::testing::Values(
        Missing{"Groups", api::Gate::GenericWorkload, kReplicaGangs,
                "APINotAvailable: Workloads and PodGroups are not served, or feature gate "
                "GenericWorkload is off"},
        Missing{"Composites", api::Gate::CompositePodGroup, kSetAndReplicaGangs,
                "UnsupportedProviderCapability: several levels of scheduling need "
                "CompositePodGroups, which are not served, or feature gate CompositePodGroup is "
                "off"}),
    [](const auto& test) { return test.param.name; });

TEST_F(LwsGroupsTest, AWorkloadOfSomebodyElseIsNotTaken) {
  show_set(1, 1, kReplicaGangs);
  sync();
  run();
  const std::string name = only("workloads")->meta().name;
  show_changed(only("workloads"), R"({"uid":"other","ownerReferences":[]})");
  show_set(1, 1, kReplicaGangs, R"(,"labels":{"a":"b"})");
  run(1);
  EXPECT_EQ(says(),
            fmt::format("False WorkloadCreateFailed: Workload {} belongs to somebody else", name));
}

TEST_F(LwsGroupsTest, AWorkloadThatGoesIsMadeAgain) {
  show_set(1, 1, kReplicaGangs);
  sync();
  run();
  const api::ObjectPtr workload = only("workloads");
  show_changed(workload, R"({"deletionTimestamp":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(says(), fmt::format("False ParentWorkloadNotReady: Workload {} is being deleted; it is "
                                "made again when it is gone",
                                workload->meta().name));
  show_changed(workload, "{}", Type::Deleted);
  EXPECT_EQ(run(0), Texts{"create workloads"});
  refuse(calls_.size() - 2, Reason::AlreadyExists);  // by a call whose answer was lost
  refuse(calls_.size() - 1, Reason::NotFound);
  answered_ = calls_.size();
  show_changed(workload, "{}", Type::Added);
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(says(), kCreated);
}

TEST_F(LwsGroupsTest, AGroupThatIsRefusedIsSaidAndAskedForAgain) {
  show_set(1, 1, kReplicaGangs);
  sync();
  Texts calls = asked();
  while (calls.front() != "create podgroups") calls = step();
  refuse(calls_.size() - calls.size(), Reason::Forbidden);
  refuse(calls_.size() - 1, Reason::NotFound);
  answered_ = calls_.size();
  now_ += seconds{1};
  EXPECT_EQ(asked(), (Texts{"create podgroups", "patch leaderworkersets/llm/status"}));
  EXPECT_EQ(events_.back(), "PodGroupCreateFailed no");
  EXPECT_EQ(says(), "False PodGroupCreateFailed: no");
  EXPECT_EQ(made_.count("pods/llm-0"), 0U);
  run();
  EXPECT_EQ(says(), kCreated);
  EXPECT_EQ(made_.count("pods/llm-0"), 1U);
}

TEST_F(LwsGroupsTest, TheWorkloadAndTheGroupOfTheSetFollowItsSize) {
  show_set(2, 2, R"(,"scheduling":{"schedulingPolicy":{"gang":{}}})");
  sync();
  run();
  const std::string workload = "patch workloads/" + only("workloads")->meta().name;
  const std::string group = "patch podgroups/" + only("podgroups")->meta().name;
  show_set(3, 2, R"(,"scheduling":{"schedulingPolicy":{"gang":{}}})", "", 2);
  EXPECT_EQ(run(1), Texts{workload});
  EXPECT_EQ(api::to_text(*api::find_path(last_body(), "spec.podGroupTemplates")),
            R"([{"name":"lws","schedulingPolicy":{"gang":{"minCount":6}},)"
            R"("schedulingConstraints":null}])");
  std::string text = api::to_text(only("workloads")->document());
  text.replace(text.find(R"("minCount":4)"), 12, R"("minCount":6)");
  show(object(api::kinds::workload(), text));
  EXPECT_EQ(run(1), Texts{group});
  EXPECT_EQ(api::to_text(*api::find(last_body(), "spec")),
            R"({"schedulingPolicy":{"gang":{"minCount":6}}})");
}

TEST_F(LwsGroupsTest, TheGroupOfAReplicaThatIsTooManyGoesWithItsLastPod) {
  show_set(2, 1, kReplicaGangs);
  sync();
  run();
  std::string group;
  for (const auto& [name, made] : made_)
    if (name.starts_with("podgroups/") && name.find("-1-") != std::string::npos) group = name;
  show_set(1, 1, kReplicaGangs, "", 2);
  EXPECT_EQ(run(1), Texts{"patch statefulsets/llm"});
  show_patched_leader_set();
  EXPECT_EQ(run(), Texts{}) << "a pod is in it";
  show_changed(made_.at("pods/llm-1"), "{}", Type::Deleted);
  EXPECT_EQ(run(1), Texts{"delete " + group});
  refuse(calls_.size() - 2, Reason::Forbidden);
  refuse(calls_.size() - 1, Reason::NotFound);
  answered_ = calls_.size();
  asked();
  const std::string name = group.substr(group.find('/') + 1);
  EXPECT_EQ(events_.back(),
            fmt::format("PodGroupCleanupBlocked PodGroup {} cannot be deleted: no", name));
  run();
  show_changed(made_.at(group), "{}", Type::Deleted);
  run();
  EXPECT_EQ(says(), kCreated);
}

TEST_F(LwsGroupsTest, EachRoleHasItsGroupAndTheGroupAboveGoesLast) {
  constexpr std::string_view kRoles = R"(,"scheduling":{"replica":{"schedulingPolicy":{"gang":{}},
      "leader":{},"worker":{"schedulingPolicy":{"gang":{}}}}})";
  show_set(1, 2, kRoles);
  sync();
  EXPECT_EQ(run(10),
            (Texts{"create controllerrevisions", "create workloads", "create services",
                   "create statefulsets", "create compositepodgroups", "create podgroups",
                   "create podgroups", "create pods", "create statefulsets", "create pods"}));
  const auto group_of = [&](const std::string& pod) {
    return std::string(api::find_string(
        *api::find_path(made_.at("pods/" + pod)->document(), "spec.schedulingGroup"),
        "podGroupName"));
  };
  const std::string leader = group_of("llm-0");
  const std::string worker = group_of("llm-0-1");
  EXPECT_NE(leader.find("-0-leader-"), std::string::npos) << leader;
  EXPECT_NE(worker.find("-0-worker-"), std::string::npos) << worker;
  show_set(0, 2, kRoles, "", 2);
  run(1);
  show_patched_leader_set();
  run(1);
  for (const std::string name : {"statefulsets/llm-0", "pods/llm-0", "pods/llm-0-1"})
    show_changed(made_.at(name), "{}", Type::Deleted);
  EXPECT_EQ(run(1), (Texts{"delete podgroups/" + leader, "delete podgroups/" + worker}));
  for (const std::string& name : {leader, worker})
    show_changed(made_.at("podgroups/" + name), "{}", Type::Deleted);
  EXPECT_EQ(run(1), Texts{"delete compositepodgroups/" + only("compositepodgroups")->meta().name});
}

TEST_F(LwsGroupsTest, TheGroupOfASetThatIsScaledToNothingGoesAfterItsPods) {
  show_set(1, 1, R"(,"scheduling":{"schedulingPolicy":{"gang":{}}})");
  sync();
  run();
  show_set(0, 1, R"(,"scheduling":{"schedulingPolicy":{"gang":{}}})", "", 2);
  const std::string group = "delete podgroups/" + only("podgroups")->meta().name;
  Texts calls = run();
  EXPECT_EQ(std::ranges::count(calls, group), 0) << "its pod is there";
  show_changed(made_.at("pods/llm-0"), "{}", Type::Deleted);
  calls = run(2);
  EXPECT_GE(std::ranges::count(calls, group), 1);
}

// An owner's Workload whose templates fit no set, and then do again.
TEST_F(LwsGroupsTest, AnOwnersWorkloadThatIsInOrderAgainIsNoLongerComplainedOf) {
  constexpr std::string_view kOwned =
      R"(,"annotations":{"scheduling.k8s.io/group-template-name":"decode"},
      "ownerReferences":[{"apiVersion":"acme.io/v1","kind":"Ensemble","name":"e","uid":"ue",
      "controller":true}])";
  const auto show_workload = [&](std::string_view name, int generation) {
    show(object(api::kinds::workload(),
                fmt::format(R"({{"metadata":{{"name":"w","namespace":"ns","uid":"uw",
        "generation":{}}},"spec":{{"controllerRef":{{"apiGroup":"acme.io","kind":"Ensemble",
        "name":"e"}},"podGroupTemplates":[{{"name":"{}",
        "schedulingPolicy":{{"gang":{{"minCount":1}}}}}}]}}}})",
                            generation, name)));
  };
  show_set(1, 1, "", kOwned);
  sync();
  run();
  EXPECT_EQ(says(), "False ParentWorkloadNotReady: There is no Workload of Ensemble e yet");
  show_workload("decode", 1);
  run();
  EXPECT_EQ(says(), kCreated);
  show_workload("prefill", 2);
  run();
  EXPECT_EQ(says(),
            "False InvalidSchedulingConfiguration: Workload w has no template \"decode\"; "
            "it has prefill");
  show_workload("decode", 3);
  EXPECT_EQ(run(), Texts{}) << "all groups are there";
  EXPECT_EQ(says(), kCreated);
}

TEST_F(LwsGroupsTest, WaitsForTheGroupOfItsOwner) {
  show_set(1, 1, "", R"(,"annotations":{"scheduling.k8s.io/group-template-name":"decode",
      "scheduling.k8s.io/parent-compositepodgroup":"e-root"},
      "ownerReferences":[{"apiVersion":"acme.io/v1","kind":"Ensemble","name":"e","uid":"ue",
      "controller":true}])");
  show(object(api::kinds::workload(), R"({"metadata":{"name":"w","namespace":"ns","uid":"uw"},
      "spec":{"controllerRef":{"apiGroup":"acme.io","kind":"Ensemble","name":"e"},
      "compositePodGroupTemplates":[{"name":"root","schedulingPolicy":{"basic":{}},
      "podGroupTemplates":[{"name":"decode","schedulingPolicy":{"gang":{"minCount":1}}}]}]}})"));
  sync();
  run();
  const std::string waits =
      "False ParentWorkloadNotReady: CompositePodGroup e-root, which its groups are part of, ";
  EXPECT_EQ(says(), waits + "does not exist yet");
  const auto show_parent = [&](std::string_view metadata) {
    show(object(api::kinds::composite_pod_group(),
                fmt::format(R"({{"metadata":{{"name":"e-root","namespace":"ns","uid":"ur"{}}}}})",
                            metadata)));
  };
  show_parent(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
  run(1);
  EXPECT_EQ(says(), waits + "is being deleted");
  show_parent("");
  EXPECT_EQ(run(), (Texts{"create statefulsets", "create podgroups", "create pods"}));
  EXPECT_EQ(says(), kCreated);
}

}  // namespace
}  // namespace muster::controllers
