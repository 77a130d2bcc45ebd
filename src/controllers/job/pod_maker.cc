#include "controllers/job/pod_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/reading.h"
#include "controllers/common/pod_template.h"
#include "controllers/job/job_pods.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::size_t kGeneratedPrefixMax = 58;  // the server adds five letters
constexpr std::string_view kIndexVariable = "JOB_COMPLETION_INDEX";

// Containers learn their index from their environment, unless they say otherwise themselves.
void add_index_variable(JsonObject& spec) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    Json* containers = spec.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      if (!container.is_object()) continue;
      JsonArray& variables = api::ensure_array(container.get_object(), "env");
      if (std::ranges::any_of(variables, [](const Json& variable) {
            return api::find_string(variable, "name") == kIndexVariable;
          }))
        continue;
      const JsonObject field{{"fieldPath", fmt::format("metadata.labels['{}']", kCompletionIndex)}};
      variables.push_back(
          JsonObject{{"name", kIndexVariable}, {"valueFrom", JsonObject{{"fieldRef", field}}}});
    }
  }
}

// "<job>-<index>-", of which the Job's name gives way.
std::string indexed_prefix(const std::string& job, std::int32_t index) {
  const std::string end = fmt::format("-{}-", index);
  return job.substr(0, kGeneratedPrefixMax - end.size()) + end;
}

}  // namespace

PodMaker::PodMaker(const api::Object& job, std::string_view group)
    : job_(job.meta().name),
      per_index_(job.view<api::JobView>().backoff_limit_per_index.has_value()) {
  pod_ = pod_from_template(job);
  JsonObject& metadata = api::ensure_object(pod_, "metadata");
  JsonArray& finalizers = api::ensure_array(metadata, "finalizers");
  if (std::ranges::find(finalizers, Json(kJobTracking)) == finalizers.end())
    finalizers.emplace_back(kJobTracking);
  JsonObject& spec = api::ensure_object(pod_, "spec");
  if (job.view<api::JobView>().is_indexed()) add_index_variable(spec);
  if (!group.empty()) spec["schedulingGroup"] = JsonObject{{"podGroupName", group}};
}

Json PodMaker::make(const NewPod& pod) const {
  JsonObject document = pod_;
  if (pod.index) add_index(pod, document);
  return document;
}

void PodMaker::add_index(const NewPod& pod, JsonObject& document) const {
  const std::string index = std::to_string(*pod.index);
  JsonObject& metadata = api::ensure_object(document, "metadata");
  metadata["generateName"] = indexed_prefix(job_, *pod.index);
  api::ensure_object(metadata, "labels")[kCompletionIndex] = index;
  JsonObject& annotations = api::ensure_object(metadata, "annotations");
  annotations[kCompletionIndex] = index;
  if (per_index_) {
    annotations[kIndexFailures] = std::to_string(pod.index_failures);
    if (pod.ignored_index_failures > 0)
      annotations[kIndexIgnoredFailures] = std::to_string(pod.ignored_index_failures);
  }
  api::ensure_object(document, "spec")["hostname"] = job_ + "-" + index;
}

}  // namespace muster::controllers
