#include "workload/leader_worker_set.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/reading.h"
#include "workload/manifest.h"

namespace muster::workload {
namespace {

using api::Json;

const api::Gates kGates = *api::Gates::parse(
    "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");

Json parsed(std::string_view text) {
  Result<api::ParsedJson> json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return std::move(json->value);
}

// Three replicas of four pods.
Json a_set(std::string_view scheduling, std::string_view more = "") {
  return parsed(fmt::format(
      R"({{"metadata":{{"name":"llm","namespace":"ns","uid":"u1"}},"spec":{{"replicas":3,
      "leaderWorkerTemplate":{{"size":4,"workerTemplate":{{"spec":{{"priorityClassName":"high"}}}}}},
      "scheduling":{}{}}}}})",
      scheduling, more));
}

std::string drawn(const Json& holder) {
  std::string out;
  for (const std::string_view list : {"compositePodGroupTemplates", "podGroupTemplates"})
    for (const Json& each : api::elements(holder, list)) {
      if (!out.empty()) out += ", ";
      out += fmt::format("{} {}", api::find_string(each, "name"),
                         api::to_text(api::part_of(each, "schedulingPolicy")));
      if (const std::string below = drawn(each); !below.empty()) out += " [" + below + "]";
    }
  return out;
}

struct Groups {
  std::string templates;
  std::string made;
};
Groups groups_of(const Json& set) {
  Result<Json> workload = lws_workload(set, kGates);
  EXPECT_TRUE(workload) << workload.error().message;
  if (!workload) return {};
  Groups out{.templates = drawn(api::part_of(*workload, "spec")), .made = ""};
  workload->as_object()["metadata"].as_object()["uid"] = "uw";
  const std::string prefix = lws_workload_name(set);
  const auto add = [&](const StampedGroup& group) {
    const Json& spec = api::part_of(group.document, "spec");
    std::string name(api::find_string(api::part_of(group.document, "metadata"), "name"));
    EXPECT_TRUE(name.starts_with(prefix)) << name;
    std::string parent(api::find_string(spec, "parentCompositePodGroupName"));
    if (!parent.empty()) parent = " under *" + parent.substr(prefix.size());
    out.made += fmt::format("{} *{}{} {}; ", group.kind->kind, name.substr(prefix.size()), parent,
                            api::to_text(api::part_of(spec, "schedulingPolicy")));
  };
  const auto whole = lws_set_group(set, *workload, lws_templates(set));
  if (*whole) add(**whole);
  const auto replica =
      lws_replica_groups(set, *workload, lws_templates(set), {.index = 2, .revision = "r1"}, 4);
  for (const StampedGroup& group : *replica) add(group);
  return out;
}

TEST(LeaderWorkerSet, EachShapeHasItsTree) {
  struct Case {
    std::string scheduling, templates, made;
  };
  const Case cases[] = {
      {"{}", R"(replica {"gang":{"minCount":4}})", R"(PodGroup *-2-r1 {"gang":{"minCount":4}}; )"},
      {R"({"replica":{}})", R"(replica {"gang":{"minCount":4}})",
       R"(PodGroup *-2-r1 {"gang":{"minCount":4}}; )"},
      {R"({"replica":{"schedulingPolicy":{"basic":{}}}})", R"(replica {"basic":{}})",
       R"(PodGroup *-2-r1 {"basic":{}}; )"},
      {R"({"schedulingPolicy":{"gang":{}}})", R"(lws {"gang":{"minCount":12}})",
       R"(PodGroup *-lws {"gang":{"minCount":12}}; )"},
      {R"({"replica":{"worker":{"schedulingPolicy":{"gang":{}}}}})",
       R"(leader {"basic":{}}, worker {"gang":{"minCount":3}})",
       R"(PodGroup *-2-leader-r1 {"basic":{}}; PodGroup *-2-worker-r1 {"gang":{"minCount":3}}; )"},
      {R"({"schedulingPolicy":{"gang":{}},"replica":{"schedulingPolicy":{"gang":{}}}})",
       R"(lws {"gang":{"minGroupCount":3}} [replica {"gang":{"minCount":4}}])",
       R"(CompositePodGroup *-lws {"gang":{"minGroupCount":3}}; )"
       R"(PodGroup *-2-r1 under *-lws {"gang":{"minCount":4}}; )"},
      {R"({"replica":{"schedulingPolicy":{"gang":{}},"leader":{},)"
       R"("worker":{"schedulingPolicy":{"gang":{}}}}})",
       R"(replica {"gang":{"minGroupCount":2}} [leader {"basic":{}}, worker {"gang":{"minCount":3}}])",
       R"(CompositePodGroup *-2-r1 {"gang":{"minGroupCount":2}}; )"
       R"(PodGroup *-2-leader-r1 under *-2-r1 {"basic":{}}; )"
       R"(PodGroup *-2-worker-r1 under *-2-r1 {"gang":{"minCount":3}}; )"},
      {R"({"schedulingPolicy":{"basic":{}},"replica":{"schedulingPolicy":{"gang":{}},"worker":{}}})",
       R"(lws {"basic":{}} [replica {"gang":{"minGroupCount":2}} [leader {"basic":{}}, worker {"basic":{}}]])",
       R"(CompositePodGroup *-lws {"basic":{}}; )"
       R"(CompositePodGroup *-2-r1 under *-lws {"gang":{"minGroupCount":2}}; )"
       R"(PodGroup *-2-leader-r1 under *-2-r1 {"basic":{}}; )"
       R"(PodGroup *-2-worker-r1 under *-2-r1 {"basic":{}}; )"},
  };
  for (const Case& test : cases) {
    const Groups groups = groups_of(a_set(test.scheduling));
    EXPECT_EQ(groups.templates, test.templates) << test.scheduling;
    EXPECT_EQ(groups.made, test.made) << test.scheduling;
  }
}

// Replicas that are no groups themselves have two each, which are parts of the set's.
TEST(LeaderWorkerSet, AGangOfRolesNeedsBothOfEachReplica) {
  const Groups groups = groups_of(a_set(
      R"({"schedulingPolicy":{"gang":{}},"replica":{"worker":{"schedulingPolicy":{"gang":{}}}}})"));
  EXPECT_EQ(
      groups.templates,
      R"(lws {"gang":{"minGroupCount":6}} [leader {"basic":{}}, worker {"gang":{"minCount":3}}])");
  EXPECT_EQ(groups.made, R"(CompositePodGroup *-lws {"gang":{"minGroupCount":6}}; )"
                         R"(PodGroup *-2-leader-r1 under *-lws {"basic":{}}; )"
                         R"(PodGroup *-2-worker-r1 under *-lws {"gang":{"minCount":3}}; )");
}

TEST(LeaderWorkerSet, SaysWhatContradictsItself) {
  struct Case {
    std::string scheduling, more, message;
  };
  const Case cases[] = {
      {"{}", R"(,"startupPolicy":"LeaderReady")", "makes the leader wait for its workers"},
      {R"({"replica":{"schedulingPolicy":{"gang":{"minGroupCount":2}}}})", "",
       "spec.scheduling.replica.schedulingPolicy.gang.minGroupCount: Forbidden"},
      {R"({"replica":{"worker":{"schedulingPolicy":{"gang":{"minCount":2}}}}})", "",
       "must be the number of its pods (3)"},
  };
  for (const Case& test : cases) {
    const Result<Json> made = lws_workload(a_set(test.scheduling, test.more), kGates);
    ASSERT_FALSE(made) << test.scheduling;
    EXPECT_NE(made.error().message.find(test.message), std::string::npos) << made.error().message;
  }
  const Json role_gang = a_set(R"({"replica":{"worker":{"schedulingPolicy":{"gang":{}}}}})",
                               R"(,"startupPolicy":"LeaderReady")");
  EXPECT_TRUE(lws_workload(role_gang, kGates));
}

TEST(LeaderWorkerSet, NamesTellIncarnationsApart) {
  const Json set = a_set("{}");
  const LwsLevels levels = lws_levels(set);
  const std::string first =
      lws_pod_group(set, levels, {.index = 1, .revision = "r"}, LwsRole::Leader);
  EXPECT_EQ(first, lws_workload_name(set) + "-1-r");
  EXPECT_EQ(lws_pod_group(set, levels, {.index = 1, .revision = "r", .incarnation = "abcde"},
                          LwsRole::Worker),
            lws_workload_name(set) + ".abcde-1-r");
}

TEST(LeaderWorkerSet, WithoutReplicasThereIsNoGroupOfTheSet) {
  Json set = a_set(R"({"schedulingPolicy":{"gang":{}}})");
  set.as_object()["spec"].as_object()["replicas"] = 0;
  const Json workload = *lws_workload(set, kGates);
  EXPECT_EQ(drawn(api::part_of(workload, "spec")), R"(lws {"gang":{"minCount":1}})");
  EXPECT_FALSE(*lws_set_group(set, workload, lws_templates(set)));
}

TEST(LeaderWorkerSet, IsCompiledByMusterBuild) {
  const Result<CompiledManifest> made = compile_manifest(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm}
spec:
  replicas: 2
  scheduling: {}
  leaderWorkerTemplate:
    size: 3
    workerTemplate: {spec: {containers: [{name: c, image: i}]}}
)",
                                                         {.jobs = {.gates = kGates}});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->documents.size(), 4U);  // the set, its Workload, two groups
  EXPECT_EQ(api::find_string(made->documents[1], "kind"), "Workload");
  EXPECT_EQ(api::find_string(made->documents[3], "kind"), "PodGroup");
  ASSERT_EQ(made->links.size(), 2U);
  EXPECT_EQ(made->links[1].job, "default/llm-1");
  EXPECT_EQ(made->links[1].pods, 3);
}

}  // namespace
}  // namespace muster::workload
