#include "controllers/leaderworkerset/lws_objects.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "controllers/common/testing_texts.h"

namespace muster::controllers {
namespace {

using api::Json;

const Json kPod = parsed(R"({"metadata":{"name":"x","namespace":"ns",
    "annotations":{"leaderworkerset.sigs.k8s.io/size":"5"}},
    "spec":{"containers":[{"name":"c","env":[{"name":"A","value":"$LWS_WORKER_INDEX"}]
}]
}
})");

std::string label(const Json& pod, std::string_view key) {
  return std::string(api::find_string(api::part_of(api::part_of(pod, "metadata"), "labels"), key));
}

TEST(PlaceLwsPod, TellsItWhereItIs) {
  Json pod = kPod;
  place_lws_pod({.set = "llm", .index = 2, .worker = 3, .pod_group = "g"}, pod);
  EXPECT_EQ(label(pod, "leaderworkerset.sigs.k8s.io/group-index"), "2");
  EXPECT_EQ(label(pod, "leaderworkerset.sigs.k8s.io/worker-index"), "3");
  EXPECT_EQ(label(pod, "leaderworkerset.sigs.k8s.io/group-key").size(), 40U);
  EXPECT_EQ(api::sorted_text(api::part_of(pod, "spec")),
            R"({"containers":[{"env":[{"name":"LWS_LEADER_ADDRESS","value":"llm-2.llm.ns"},)"
            R"({"name":"LWS_GROUP_SIZE","value":"5"},{"name":"LWS_WORKER_INDEX","value":"3"},)"
            R"({"name":"A","value":"$LWS_WORKER_INDEX"}],"name":"c"}],)"
            R"("schedulingGroup":{"podGroupName":"g"}})");
}

TEST(PlaceLwsPod, NamesItsSubgroup) {
  struct Case {
    std::string size, part, type;
    int worker;
    std::string want;
  };
  const Case cases[] = {
      // Size 5 in parts of 2: the leader is one more of the first.
      {"5", "2", "LeaderWorker", 0, "0"},
      {"5", "2", "LeaderWorker", 2, "0"},
      {"5", "2", "LeaderWorker", 3, "1"},
      // Size 4 in parts of 2: the leader is one of the first two.
      {"4", "2", "LeaderWorker", 0, "0"},
      {"4", "2", "LeaderWorker", 1, "0"},
      {"4", "2", "LeaderWorker", 2, "1"},
      {"5", "2", "LeaderExcluded", 0, ""},
      {"5", "2", "LeaderExcluded", 4, "1"},
  };
  for (const Case& test : cases) {
    Json pod = parsed(fmt::format(
        R"({{"metadata":{{"namespace":"ns","annotations":{{
        "leaderworkerset.sigs.k8s.io/size":"{}","leaderworkerset.sigs.k8s.io/subgroup-size":"{}",
        "leaderworkerset.sigs.k8s.io/subgroup-policy-type":"{}"}}}},"spec":{{}}}})",
        test.size, test.part, test.type));
    place_lws_pod({.set = "llm", .index = 0, .worker = test.worker}, pod);
    EXPECT_EQ(label(pod, "leaderworkerset.sigs.k8s.io/subgroup-index"), test.want)
        << test.size << " " << test.type << " " << test.worker;
  }
}

TEST(PlaceLwsPod, GivesEachReplicaASubdomainIfAsked) {
  Json pod = kPod;
  pod.as_object()["metadata"]
      .as_object()["annotations"]
      .as_object()["leaderworkerset.sigs.k8s.io/subdomainPolicy"] = "UniquePerReplica";
  place_lws_pod({.set = "llm", .index = 1, .worker = 0}, pod);
  EXPECT_EQ(api::find_string(api::part_of(pod, "spec"), "subdomain"), "llm-1");
  EXPECT_NE(api::to_text(pod).find("llm-1.llm-1.ns"), std::string::npos);
}

TEST(LwsSets, HaveUpstreamsNamesAndSelectors) {
  const Json document = parsed(R"({"metadata":{"name":"llm","namespace":"ns","uid":"u1"},
      "spec":{"replicas":2,"leaderWorkerTemplate":{"size":3,"workerTemplate":{"spec":{}}}}})");
  const api::ObjectPtr set = api::Object::make(leader_worker_set_kind(), document);
  const api::Request leaders =
      create_leader_set(*set, document, "r1", {.replicas = 2, .partition = 0});
  const Json& spec = api::part_of(leaders.body, "spec");
  EXPECT_EQ(api::find_string(spec, "podManagementPolicy"), "Parallel");
  EXPECT_EQ(
      api::to_text(api::part_of(api::part_of(spec, "selector"), "matchLabels")),
      R"({"leaderworkerset.sigs.k8s.io/name":"llm","leaderworkerset.sigs.k8s.io/worker-index":"0"})");
  const api::ObjectPtr leader = api::Object::make(
      api::kinds::pod(), parsed(R"({"metadata":{"name":"llm-1","namespace":"ns","uid":"u2",
      "labels":{"leaderworkerset.sigs.k8s.io/group-index":"1",
      "leaderworkerset.sigs.k8s.io/template-revision-hash":"r1"},
      "annotations":{"leaderworkerset.sigs.k8s.io/size":"3"}},"spec":{}})"));
  const api::Request workers =
      create_worker_set(*set, *leader, api::part_of(document, "spec"), "g");
  EXPECT_EQ(api::find_string(api::part_of(workers.body, "metadata"), "name"), "llm-1");
  const Json& worker_spec = api::part_of(workers.body, "spec");
  EXPECT_EQ(api::find_integer(worker_spec, "replicas"), 2);
  EXPECT_EQ(api::find_integer(api::part_of(worker_spec, "ordinals"), "start"), 1);
  EXPECT_NE(api::to_text(worker_spec).find(R"("schedulingGroup":{"podGroupName":"g"})"),
            std::string::npos);
}

TEST(LwsRevision, BringsTheSpecBack) {
  const Json document = parsed(R"({"spec":{"replicas":2,"leaderWorkerTemplate":{"size":3},
      "networkConfig":{"subdomainPolicy":"Shared"}}})");
  const api::ObjectPtr revision =
      api::Object::make(*api::find_kind("apps", "ControllerRevision"),
                        api::JsonObject{{"metadata", api::JsonObject{{"name", "r"}}},
                                        {"data", lws_revision_data(document)},
                                        {"revision", 1}});
  EXPECT_EQ(api::sorted_text(lws_revision_spec(*revision)),
            R"({"leaderWorkerTemplate":{"size":3},"networkConfig":{"subdomainPolicy":"Shared"}})");
}

}  // namespace
}  // namespace muster::controllers
