#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "sim/faults_testing.h"
#include "sim/world.h"

// Shorthands of the tests of JobSets on the whole control plane.
namespace muster::sim {

inline const api::Kind& job_set_kind() { return *api::find_kind("jobset.x-k8s.io", "JobSet"); }
inline const api::Kind& job_kind() { return *api::find_kind("batch", "Job"); }

// One of spec.replicatedJobs.
struct Replicated {
  std::string name;
  int replicas = 1;
  int pods = 1;  // parallelism and completions
  std::string run_time = "forever";
  std::string more = {};         // further members
  std::string more_job = {};     // of its Job's spec
  std::string more_pod = {};     // of its pods' spec
  std::string annotations = {};  // of its pods
  std::string cpu = "1";

  std::string text() const {
    return fmt::format(
        R"({{"name":"{}","replicas":{}{}{},"template":{{"spec":{{"parallelism":{},"completions":{},"backoffLimit":0{}{},
            "template":{{"metadata":{{"annotations":{{"muster.dev/run-time":"{}"{}{}}}}},
            "spec":{{"restartPolicy":"Never"{}{},"containers":[
            {{"name":"main","image":"app:1","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}}}}})",
        name, replicas, more.empty() ? "" : ",", more, pods, pods, more_job.empty() ? "" : ",",
        more_job, run_time, annotations.empty() ? "" : ",", annotations,
        more_pod.empty() ? "" : ",", more_pod, cpu);
  }
};

using Texts = std::vector<std::string>;

// Two blocks of two racks of two nodes with eight CPUs each, and a JobSet "js".
class JobSetWorld : public ::testing::Test {
 protected:
  explicit JobSetWorld(World::Options options = JobSetWorld::options())
      : world_(std::move(options)) {
    world_.run_until_idle();
  }

  static World::Options options() {
    World::Options options;
    options.shape.pools.push_back({.blocks_per_zone = 2,
                                   .racks_per_block = 2,
                                   .nodes_per_rack = 2,
                                   .resources = parse_resources("cpu=8,memory=16Gi").value()});
    return options;
  }

  static api::Json document(const std::vector<Replicated>& jobs, std::string_view more = "",
                            std::string_view annotations = "") {
    std::string list;
    for (const Replicated& job : jobs) list += (list.empty() ? "" : ",") + job.text();
    return parsed(fmt::format(
        R"({{"metadata":{{"name":"js","namespace":"default","annotations":{{{}}}}},"spec":{{"replicatedJobs":[{}]{}{}}}}})",
        annotations, list, more.empty() ? "" : ",", more));
  }
  void create(const std::vector<Replicated>& jobs, std::string_view more = "",
              std::string_view annotations = "") {
    const auto answer = world_.ask(
        client::create_request(job_set_kind(), "default", document(jobs, more, annotations)));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  // Why it is refused; empty if it is not.
  std::string refusal(const std::vector<Replicated>& jobs, std::string_view more = "",
                      std::string_view annotations = "") {
    const auto answer = world_.ask(
        client::create_request(job_set_kind(), "default", document(jobs, more, annotations)));
    return answer ? "" : answer.error().message;
  }
  void patch(std::string_view merge) {
    const auto answer = world_.ask(client::patch_request(job_set_kind(), "default", "js", "",
                                                         api::PatchType::Merge, parsed(merge)));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void remove(const api::Object& object, std::string_view policy = "") {
    api::Request request = client::delete_request(object, std::nullopt);
    request.remove.propagation_policy = policy;
    const auto answer = world_.ask(std::move(request));
    ASSERT_TRUE(answer) << answer.error().message;
  }

  api::Json set() const {
    const api::ObjectPtr found = world_.get(job_set_kind(), "default", "js");
    return found == nullptr ? api::Json(nullptr) : found->document();
  }
  std::string status(std::string_view member) const {
    const api::Json document = set();
    const api::Json* found = api::find(api::part_of(document, "status"), member);
    if (found == nullptr) return "";
    return found->is_string() ? std::string(api::text_of(*found)) : api::to_text(*found);
  }
  // "Completed/AllJobsCompleted", of the conditions that are True, in order.
  Texts conditions() const {
    Texts out;
    const api::Json document = set();
    for (const api::Json& condition : api::elements(api::part_of(document, "status"), "conditions"))
      if (api::find_string(condition, "status") == "True")
        out.push_back(fmt::format("{}/{}", api::find_string(condition, "type"),
                                  api::find_string(condition, "reason")));
    return out;
  }
  std::vector<api::ObjectPtr> all(const api::Kind& kind) { return world_.list(kind, "default"); }
  Texts names(const api::Kind& kind) {
    Texts out;
    for (const api::ObjectPtr& object : all(kind)) out.push_back(object->meta().name);
    return out;
  }
  std::size_t running() {
    return static_cast<std::size_t>(
        std::ranges::count_if(all(api::kinds::pod()), [](const api::ObjectPtr& pod) {
          return pod->view<api::PodView>().phase == "Running" && !pod->meta().deletion_time;
        }));
  }
  Texts events() {
    Texts out;
    for (const api::ObjectPtr& event : all(api::kinds::event())) {
      const api::Json document = event->document();
      if (api::find_string(api::part_of(document, "involvedObject"), "kind") == "JobSet")
        out.emplace_back(api::find_string(document, "reason"));
    }
    return out;
  }

  World world_;
};

}  // namespace muster::sim
