#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/faults_testing.h"
#include "sim/world.h"

// Shorthands of the tests of LeaderWorkerSets on the whole control plane.
namespace muster::sim {

using Texts = std::vector<std::string>;

inline const api::Kind& stateful_set_kind() { return *api::find_kind("apps", "StatefulSet"); }
inline const api::Kind& lws_kind() {
  return *api::find_kind("leaderworkerset.x-k8s.io", "LeaderWorkerSet");
}

// Two racks of nodes with 32 CPUs each, and sets in the namespace "default".
class Play : public FaultyWorld {
 public:
  explicit Play(const Trouble& trouble = {}, std::uint64_t seed = 1, int nodes = 4)
      : FaultyWorld(trouble, seed, [nodes] {
          World::Options options;
          options.shape.pools.push_back(
              {.racks_per_block = 2,
               .nodes_per_rack = nodes,
               .resources = parse_resources("cpu=32,memory=64Gi").value()});
          return options;
        }()) {}

  void create(const api::Kind& kind, std::string_view name, std::string_view spec) {
    FaultyWorld::create(
        kind, fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{}}}}})",
                          name, spec));
  }
  void kill(std::string_view pod, std::optional<std::int64_t> grace = std::nullopt) {
    const api::ObjectPtr object = world().get(api::kinds::pod(), "default", pod);
    ASSERT_NE(object, nullptr) << pod;
    ASSERT_TRUE(world().ask(client::delete_request(*object, grace)));
  }
  // A moment in which little can happen.
  void step() { world().advance(std::chrono::milliseconds{10}); }
  api::ObjectPtr pod(std::string_view name) {
    return world().get(api::kinds::pod(), "default", name);
  }
  // "name phase[ image][ in a group]" of each pod.
  std::vector<std::string> pods() {
    std::vector<std::string> out;
    for (const api::ObjectPtr& each : all(api::kinds::pod())) {
      const api::Json document = each->document();
      const auto& containers = api::elements(api::part_of(document, "spec"), "containers");
      const auto& view = each->view<api::PodView>();
      out.push_back(fmt::format("{} {} {}{}", each->meta().name, view.phase,
                                api::find_string(containers[0], "image"),
                                view.scheduling_group.empty() ? "" : " grouped"));
    }
    return out;
  }
  std::string status(const api::Kind& kind, std::string_view name,
                     std::initializer_list<std::string_view> members) {
    const api::Json document = world().get(kind, "default", name)->document();
    std::string out;
    for (const std::string_view member : members)
      out += fmt::format("{}{}", out.empty() ? "" : " ",
                         api::to_text(api::part_of(api::part_of(document, "status"), member)));
    return out;
  }
  std::string condition(std::string_view name, std::string_view type) {
    const api::Json document = world().get(lws_kind(), "default", name)->document();
    for (const api::Json& each : api::elements(api::part_of(document, "status"), "conditions"))
      if (api::find_string(each, "type") == type)
        return fmt::format("{}/{}", api::find_string(each, "status"),
                           api::find_string(each, "reason"));
    return "";
  }
  // What there is, without what differs from run to run.
  std::vector<std::string> end() {
    std::vector<std::string> out = pods();
    for (const api::ObjectPtr& set : all(lws_kind()))
      out.push_back(
          set->meta().name + " " +
          status(lws_kind(), set->meta().name, {"replicas", "readyReplicas", "updatedReplicas"}) +
          " " + condition(set->meta().name, "Available"));
    for (const api::ObjectPtr& set : all(stateful_set_kind()))
      out.push_back(set->meta().name + " " +
                    status(stateful_set_kind(), set->meta().name,
                           {"replicas", "readyReplicas", "updatedReplicas", "currentReplicas"}));
    out.push_back(fmt::format("{} groups, {} workloads", all(api::kinds::pod_group()).size(),
                              all(api::kinds::workload()).size()));
    return out;
  }
};

inline std::string lws_spec(int replicas, int size, std::string_view scheduling,
                            std::string_view more = "") {
  return fmt::format(
      R"("replicas":{},"leaderWorkerTemplate":{{"size":{},"workerTemplate":{{"spec":{{"containers":
      [{{"name":"c","image":"llm:1","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}{}{}{})",
      replicas, size, scheduling.empty() ? "" : ",\"scheduling\":", scheduling, more);
}
inline constexpr std::string_view kNewImage =
    R"({"spec":{"leaderWorkerTemplate":{"workerTemplate":{"spec":{"containers":[{"name":"c",
    "image":"llm:2","resources":{"requests":{"cpu":"1"}}}]}}}}})";

}  // namespace muster::sim
