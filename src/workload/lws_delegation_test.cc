#include "workload/lws_delegation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/reading.h"

namespace muster::workload {
namespace {

using api::Json;

Json parsed(std::string_view text) {
  Result<api::ParsedJson> json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return std::move(json->value);
}

// Three replicas of four pods, of an Ensemble.
Json a_set(std::string_view more = "", std::string_view metadata = "") {
  return parsed(fmt::format(
      R"({{"metadata":{{"name":"llm","namespace":"ns","uid":"u1"{}}},"spec":{{"replicas":3,
      "leaderWorkerTemplate":{{"size":4,"workerTemplate":{{"spec":{{}}}}}}{}}}}})",
      metadata, more));
}

constexpr std::string_view kGang = R"("schedulingPolicy":{"gang":{"minCount":4}})";
constexpr std::string_view kBasic = R"("schedulingPolicy":{"basic":{}})";

std::string leaf(std::string_view name, std::string_view says = kGang) {
  return fmt::format(R"({{"name":"{}",{}}})", name, says);
}
std::string composite(std::string_view name, std::string_view below,
                      std::string_view says = kBasic) {
  return fmt::format(R"({{"name":"{}",{},{}}})", name, says, below);
}
std::string leaves(const std::string& list) {
  return fmt::format(R"("podGroupTemplates":[{}])", list);
}
std::string composites(const std::string& list) {
  return fmt::format(R"("compositePodGroupTemplates":[{}])", list);
}
Json a_workload(std::string_view templates) {
  return parsed(fmt::format(
      R"({{"metadata":{{"name":"w","namespace":"ns","uid":"uw"}},"spec":{{{}}}}})", templates));
}

Delegation to(std::string_view name, std::string_view parent = "") {
  return {.template_name = std::string(name),
          .parent_composite = std::string(parent),
          .owner = {.api_version = "acme.io/v1", .kind = "Ensemble", .name = "e", .uid = "ue"}};
}

// Each group of replica 2, and that of the set, as "kind from template under parent".
std::string made(const Json& set, const Delegation& delegation, const Json& workload) {
  const Result<LwsTemplates> templates = delegated_lws_templates(set, delegation, workload);
  if (!templates) return templates.error().message;
  std::string out;
  const auto add = [&](const StampedGroup& group) {
    const Json& spec = api::part_of(group.document, "spec");
    const Json& metadata = api::part_of(group.document, "metadata");
    EXPECT_EQ(api::elements(metadata, "ownerReferences").size(), 1U) << "the set alone";
    EXPECT_TRUE(api::find_string(metadata, "name").starts_with(lws_workload_name(set)));
    std::string parent(api::find_string(spec, "parentCompositePodGroupName"));
    if (parent.starts_with(lws_workload_name(set)))
      parent = "*" + parent.substr(lws_workload_name(set).size());
    out += fmt::format("{} {}{}{} {}; ", group.kind == &api::kinds::pod_group() ? "PG" : "CPG",
                       api::find_string(api::part_of(spec, "workloadRef"), "templateName"),
                       parent.empty() ? "" : " under ", parent,
                       api::to_text(api::part_of(spec, "schedulingPolicy")));
  };
  if (const auto whole = lws_set_group(set, workload, *templates); *whole) add(**whole);
  const auto replica =
      lws_replica_groups(set, workload, *templates, {.index = 2, .revision = "r"}, 4);
  for (const StampedGroup& group : *replica) add(group);
  return out;
}

TEST(LwsDelegation, TheTemplateThatIsNamedSaysWhichGroupsThereAre) {
  EXPECT_EQ(made(a_set(), to("decode"), a_workload(leaves(leaf("prefill") + "," + leaf("decode")))),
            R"(PG decode {"gang":{"minCount":4}}; )");
  EXPECT_EQ(made(a_set(), to(""), a_workload(leaves(leaf("prefill") + "," + leaf("decode")))),
            R"(PG prefill {"gang":{"minCount":4}}; )");
  const std::string of_set = composite("d", leaves(leaf("d-replica")));
  EXPECT_EQ(made(a_set(), to("d"), a_workload(composites(of_set))),
            R"(CPG d {"basic":{}}; PG d-replica under *-lws {"gang":{"minCount":4}}; )");
  const std::string roles = leaves(leaf("head", kBasic) + "," +
                                   leaf("rest", R"("schedulingPolicy":{"gang":{"minCount":3}})"));
  EXPECT_EQ(made(a_set(), to("d"), a_workload(composites(composite("d", roles)))),
            R"(CPG d {"basic":{}}; PG head under *-lws {"basic":{}}; )"
            R"(PG rest under *-lws {"gang":{"minCount":3}}; )");
  const std::string all = composite("d", composites(composite("each", roles)));
  EXPECT_EQ(made(a_set(), to("d"), a_workload(composites(all))),
            R"(CPG d {"basic":{}}; CPG each under *-lws {"basic":{}}; )"
            R"(PG head under *-2-r {"basic":{}}; PG rest under *-2-r {"gang":{"minCount":3}}; )");
}

TEST(LwsDelegation, GroupsArePartOfTheOwnersGroup) {
  const Json workload = a_workload(composites(composite("root", leaves(leaf("decode")))));
  EXPECT_EQ(made(a_set(), to("decode", "e-root"), workload),
            R"(PG decode under e-root {"gang":{"minCount":4}}; )");
  EXPECT_EQ(made(a_set(), to("decode"), workload),
            "template \"decode\" of Workload w is part of \"root\": annotation "
            "scheduling.k8s.io/parent-compositepodgroup must name the group of that template");
  EXPECT_EQ(made(a_set(), to("root", "other"), workload),
            "annotation scheduling.k8s.io/parent-compositepodgroup names other, but template "
            "\"root\" of Workload w is at the top");
}

TEST(LwsDelegation, TheSetMaySayWhichLevelIsMeant) {
  const Json gangs = a_workload(leaves(leaf("d")));
  const std::string whole = R"(,"scheduling":{"schedulingPolicy":{"gang":{}}})";
  EXPECT_EQ(made(a_set(whole), to("d"), gangs), R"(PG d {"gang":{"minCount":4}}; )");
  EXPECT_TRUE(delegated_lws_templates(a_set(whole), to("d"), gangs)->levels.set);
  EXPECT_TRUE(
      delegated_lws_templates(a_set(R"(,"scheduling":{})"), to("d"), gangs)->levels.replica);
  const Json roles = a_workload(
      composites(composite("d", leaves(leaf("head", kBasic) + "," + leaf("rest", kBasic)))));
  const std::string each =
      R"(,"scheduling":{"replica":{"schedulingPolicy":{"basic":{}},"worker":{}}})";
  EXPECT_EQ(made(a_set(each), to("d"), roles),
            R"(CPG d {"basic":{}}; PG head under *-2-r {"basic":{}}; )"
            R"(PG rest under *-2-r {"basic":{}}; )");
}

TEST(LwsDelegation, OnlyOneDecides) {
  struct Case {
    std::string spec, templates, message;
  };
  const Case cases[] = {
      {R"(,"scheduling":{"replica":{"schedulingPolicy":{"basic":{}}}})", leaves(leaf("d")),
       "spec.scheduling.replica.schedulingPolicy is {\"basic\":{}}, and template \"d\" of Workload "
       "w, which Ensemble e has made, says {\"gang\":{\"minCount\":4}}: only one of them can "
       "decide, so leave it out here"},
      {R"(,"scheduling":{"replica":{"disruptionMode":{"all":{}}}})", leaves(leaf("d")),
       "spec.scheduling.replica.disruptionMode is {\"all\":{}}, and template \"d\" of Workload w, "
       "which Ensemble e has made, says nothing: only one of them can decide, so leave it out "
       "here"},
      {R"(,"scheduling":{"replica":{"worker":{}}})", leaves(leaf("d")),
       "spec.scheduling names other levels than template \"d\" of Workload w, which decides: "
       "leave spec.scheduling out"},
      {"", leaves(leaf("x") + "," + leaf("y")), "Workload w has no template \"d\"; it has x, y"},
      {"", composites(composite("d", leaves(leaf("a") + "," + leaf("b") + "," + leaf("c")))),
       "template \"d\" of Workload w is no tree that a LeaderWorkerSet can have: the set, its "
       "replicas, their leader and workers"},
      {R"(,"startupPolicy":"LeaderReady")", leaves(leaf("d")),
       "spec.startupPolicy LeaderReady makes workers wait for their leader, and the gang of "
       "template \"d\" makes the leader wait for its workers"},
      {"", leaves(leaf("d", R"("schedulingPolicy":{"gang":{"minCount":5}})")),
       "the gang of template \"d\" of Workload w needs 5 pods, and there are 4"},
      {"", leaves(leaf("d", R"("schedulingPolicy":{"basic":{}},"priorityClassName":"high")")),
       "spec.leaderWorkerTemplate.workerTemplate.spec.priorityClassName is \"\", and template "
       "\"d\" of Workload w has \"high\": what is scheduled as one workload has one priority"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(made(a_set(each.spec), to("d"), a_workload(each.templates)), each.message);
  const Json exclusive =
      a_set("", R"(,"annotations":{"leaderworkerset.sigs.k8s.io/exclusive-topology":"rack"})");
  EXPECT_EQ(made(exclusive, to("d"), a_workload(leaves(leaf("d")))),
            "annotation leaderworkerset.sigs.k8s.io/exclusive-topology places pods one after the "
            "other, and template \"d\" of Workload w together");
}

TEST(LwsDelegation, TemplatesMustFitThePodsThatThereAre) {
  const auto roles = [](const std::string& head, const std::string& rest) {
    return a_workload(composites(composite("d", leaves(head + "," + rest))));
  };
  EXPECT_EQ(made(a_set(), to("d"), roles(leaf("head", kBasic), leaf("rest"))),
            "the gang of template \"rest\" of Workload w needs 4 pods, and there are 3");
  EXPECT_EQ(made(a_set(), to("d"), roles(leaf("head"), leaf("rest", kBasic))),
            "the gang of template \"head\" of Workload w needs 4 pods, and there are 1");
  Json lone = a_set();
  lone.as_object()["spec"].as_object()["leaderWorkerTemplate"].as_object()["size"] = 1;
  EXPECT_EQ(made(lone, to("d"), roles(leaf("head", kBasic), leaf("rest", kBasic))),
            "templates \"head\" and \"rest\" of Workload w tell leaders from workers: "
            "spec.leaderWorkerTemplate.size must be at least 2");
  Json led = a_set();
  led.as_object()["spec"].as_object()["leaderWorkerTemplate"].as_object()["leaderTemplate"] =
      parsed(R"({"spec":{"priorityClassName":"high"}})");
  EXPECT_EQ(made(led, to("d"), a_workload(leaves(leaf("d")))),
            "spec.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName is \"high\", and "
            "template \"d\" of Workload w has \"\": what is scheduled as one workload has one "
            "priority");
  const Json exclusive =
      a_set("", R"(,"annotations":{"leaderworkerset.sigs.k8s.io/exclusive-topology":"rack"})");
  EXPECT_EQ(made(exclusive, to("d"), a_workload(leaves(leaf("d", kBasic)))),
            R"(PG d {"basic":{}}; )");
  const std::string placed =
      std::string(kBasic) + R"(,"schedulingConstraints":{"topology":[{"key":"rack"}]})";
  EXPECT_EQ(made(exclusive, to("d"), a_workload(leaves(leaf("d", placed)))),
            "annotation leaderworkerset.sigs.k8s.io/exclusive-topology places pods one after the "
            "other, and template \"d\" of Workload w together");
}

}  // namespace
}  // namespace muster::workload
