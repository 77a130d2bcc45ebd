#include "api/views/group_view.h"
#include "sim/leader_worker_sets_testing.h"

// LeaderWorkerSets that another controller owns, which decides how they are scheduled.
namespace muster::sim {
namespace {

using std::chrono::seconds;

// An Ensemble's controller has made the Workload, with a tree of groups above its sets.
class DelegatedSets : public ::testing::Test {
 protected:
  void create_workload(std::string_view templates) {
    play_.FaultyWorld::create(
        api::kinds::workload(),
        fmt::format(R"({{"metadata":{{"name":"w","namespace":"default"}},"spec":{{
            "controllerRef":{{"apiGroup":"acme.io","kind":"Ensemble","name":"e"}},{}}}}})",
                    templates));
  }
  void create_root() {
    play_.FaultyWorld::create(api::kinds::composite_pod_group(),
                              R"({"metadata":{"name":"e-root","namespace":"default"},"spec":{
            "workloadRef":{"workloadName":"w","templateName":"root"},
            "schedulingPolicy":{"gang":{"minGroupCount":2}}}})");
  }
  void create_set(std::string_view name, std::string_view scheduling = "",
                  std::string_view parent = "e-root") {
    play_.FaultyWorld::create(
        lws_kind(),
        fmt::format(
            R"({{"metadata":{{"name":"{}","namespace":"default",
            "annotations":{{"scheduling.k8s.io/group-template-name":"{}"{}}},
            "ownerReferences":[{{"apiVersion":"acme.io/v1","kind":"Ensemble","name":"e","uid":"ue",
            "controller":true}}]}},"spec":{{{}}}}})",
            name, name,
            parent.empty()
                ? ""
                : fmt::format(R"(,"scheduling.k8s.io/parent-compositepodgroup":"{}")", parent),
            lws_spec(1, 3, scheduling)));
  }
  std::string blocked(std::string_view name) {
    return play_.condition(name, "WorkloadSchedulingCreated");
  }
  std::vector<std::string> groups() {
    std::vector<std::string> out;
    for (const api::ObjectPtr& group : play_.all(api::kinds::pod_group())) {
      const auto& view = group->view<api::GroupView>();
      out.push_back(fmt::format("{} of {} under {}: {}", view.template_name, view.workload,
                                view.parent, view.minimum));
    }
    return out;
  }

  static constexpr std::string_view kTree =
      R"("compositePodGroupTemplates":[{"name":"root","schedulingPolicy":{"gang":{"minGroupCount":2}},
      "podGroupTemplates":[{"name":"prefill","schedulingPolicy":{"gang":{"minCount":3}}},
      {"name":"decode","schedulingPolicy":{"gang":{"minCount":3}}}]}])";
  Play play_;
};

TEST_F(DelegatedSets, WaitForTheOwnersWorkloadAndGroupAndMakeTheirOwnBelowIt) {
  create_set("prefill");
  create_set("decode");
  play_.world().advance(seconds{2});
  EXPECT_EQ(blocked("decode"), "False/ParentWorkloadNotReady");
  create_workload(kTree);
  play_.world().advance(seconds{2});
  EXPECT_EQ(blocked("decode"), "False/ParentWorkloadNotReady") << "the group above is missing";
  EXPECT_TRUE(play_.pods().empty());
  create_root();
  play_.world().advance(seconds{10});
  EXPECT_EQ(blocked("decode"), "True/Created");
  EXPECT_EQ(groups(), (Texts{"decode of w under e-root: 3", "prefill of w under e-root: 3"}));
  EXPECT_EQ(play_.all(api::kinds::workload()).size(), 1U);
  EXPECT_EQ(play_.condition("decode", "Available"), "True/AllGroupsReady");
  EXPECT_EQ(play_.condition("prefill", "Available"), "True/AllGroupsReady");
  for (const std::string& pod : play_.pods()) EXPECT_TRUE(pod.ends_with(" grouped")) << pod;
}

TEST_F(DelegatedSets, GrowAndRollOverWithGroupsFromTheSameTemplate) {
  create_workload(kTree);
  create_root();
  create_set("prefill");
  create_set("decode");
  play_.world().advance(seconds{10});
  play_.patch(lws_kind(), "decode", R"({"spec":{"replicas":2}})");
  play_.world().advance(seconds{10});
  EXPECT_EQ(groups().size(), 3U);
  play_.patch(lws_kind(), "decode", kNewImage);
  play_.world().advance(std::chrono::minutes{3});
  EXPECT_EQ(play_.condition("decode", "Available"), "True/AllGroupsReady");
  EXPECT_EQ(groups(), (Texts{"decode of w under e-root: 3", "decode of w under e-root: 3",
                             "prefill of w under e-root: 3"}));
  play_.patch(lws_kind(), "decode", R"({"spec":{"replicas":0}})");
  play_.world().advance(std::chrono::minutes{1});
  EXPECT_EQ(groups(), Texts{"prefill of w under e-root: 3"});
}

TEST_F(DelegatedSets, OnlyOneDecides) {
  create_workload(
      R"("podGroupTemplates":[{"name":"decode","schedulingPolicy":{"gang":{"minCount":3}}}])");
  create_set("decode", R"({"replica":{"schedulingPolicy":{"basic":{}}}})", "");
  play_.world().advance(seconds{5});
  EXPECT_EQ(blocked("decode"), "False/InvalidSchedulingConfiguration");
  EXPECT_TRUE(play_.pods().empty());
  EXPECT_EQ(play_.all(api::kinds::workload()).size(), 1U) << "none of its own";
}

TEST_F(DelegatedSets, ASetWithAWorkloadOfItsOwnDoesNotTakeAnothers) {
  create_workload(
      R"("podGroupTemplates":[{"name":"decode","schedulingPolicy":{"gang":{"minCount":3}}}])");
  play_.create(lws_kind(), "decode", lws_spec(1, 3, "{}"));
  play_.world().advance(seconds{10});
  EXPECT_EQ(blocked("decode"), "True/Created");
  play_.patch(lws_kind(), "decode", R"({"metadata":{
      "annotations":{"scheduling.k8s.io/group-template-name":"decode"},
      "ownerReferences":[{"apiVersion":"acme.io/v1","kind":"Ensemble","name":"e","uid":"ue",
      "controller":true}]}})");
  play_.world().advance(seconds{10});
  EXPECT_EQ(blocked("decode"), "False/InvalidSchedulingConfiguration");
  EXPECT_EQ(play_.pods().size(), 3U) << "what runs goes on";
}

}  // namespace
}  // namespace muster::sim
