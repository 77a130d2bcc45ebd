#include "client/https/dialect.h"

#include <algorithm>
#include <string>
#include <utility>

namespace muster::client {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// Kubernetes 1.36 serves groups and Workloads in this version, and no other.
constexpr std::string_view kAlpha2 = "v1alpha2";
constexpr std::string_view kGroup = "scheduling.k8s.io";

JsonObject* object_at(JsonObject& parent, std::string_view member) {
  Json* const found = parent.if_contains(member);
  return found == nullptr ? nullptr : found->if_object();
}

JsonArray* array_at(JsonObject& parent, std::string_view member) {
  Json* const found = parent.if_contains(member);
  return found == nullptr ? nullptr : found->if_array();
}

void rename_conditions(JsonObject& document, std::string_view from, std::string_view to) {
  JsonObject* const status = object_at(document, "status");
  JsonArray* const conditions = status == nullptr ? nullptr : array_at(*status, "conditions");
  if (conditions == nullptr) return;
  for (Json& condition : *conditions)
    if (condition.is_object() && api::find_string(condition, "type") == from)
      condition.as_object()["type"] = to;
}

constexpr std::string_view kScheduledThere = "PodGroupScheduled";
constexpr std::string_view kScheduledHere = "PodGroupInitiallyScheduled";

// "Pod" and "PodGroup" there; {single: {}} and {all: {}} here.
void disruption_in(JsonObject& group) {
  Json* const mode = group.if_contains("disruptionMode");
  if (mode == nullptr || !mode->is_string()) return;
  const bool together = mode->get_string() == "PodGroup";
  *mode = JsonObject{{together ? "all" : "single", JsonObject{}}};
}

void disruption_out(JsonObject& group) {
  Json* const mode = group.if_contains("disruptionMode");
  if (mode == nullptr || !mode->is_object()) return;
  *mode = mode->get_object().contains("all") ? "PodGroup" : "Pod";
}

// podGroupTemplateRef.workload{workloadName, podGroupTemplateName} there; workloadRef{workloadName,
// templateName} here.
void reference_in(JsonObject& spec) {
  const Json* const found = spec.if_contains("podGroupTemplateRef");
  if (found == nullptr) return;
  if (const JsonObject* workload = api::find_object(*found, "workload")) {
    const Json there = *workload;
    spec["workloadRef"] =
        JsonObject{{"workloadName", api::find_string(there, "workloadName")},
                   {"templateName", api::find_string(there, "podGroupTemplateName")}};
  }
  spec.erase("podGroupTemplateRef");
}

void reference_out(JsonObject& spec) {
  const Json* const found = spec.if_contains("workloadRef");
  if (found == nullptr || !found->is_object()) return;
  const Json here = *found;
  spec["podGroupTemplateRef"] = JsonObject{
      {"workload", JsonObject{{"workloadName", api::find_string(here, "workloadName")},
                              {"podGroupTemplateName", api::find_string(here, "templateName")}}}};
  spec.erase("workloadRef");
}

// Calls `each` with every owner reference in a document, in a patch that has its shape, and in a
// list of operations (JSON patch).
template <typename Body, typename Each>
void each_owner(Body& body, const Each& each) {
  const auto each_of = [&](auto& references) {
    if (auto* const list = references.if_array())
      for (auto& reference : *list) each(reference);
  };
  if (auto* const operations = body.if_array()) {
    for (auto& operation : *operations) {
      auto* const object = operation.if_object();
      auto* const value = object == nullptr ? nullptr : object->if_contains("value");
      if (value == nullptr ||
          !api::find_string(operation, "path").starts_with("/metadata/ownerReferences"))
        continue;
      each_of(*value);  // all of them, or
      each(*value);     // one
    }
    return;
  }
  auto* const document = body.if_object();
  auto* const found = document == nullptr ? nullptr : document->if_contains("metadata");
  auto* const metadata = found == nullptr ? nullptr : found->if_object();
  if (metadata == nullptr) return;
  if (auto* const references = metadata->if_contains("ownerReferences")) each_of(*references);
}

template <typename Each>
void each_template(JsonObject& spec, const Each& each) {
  JsonArray* const templates = array_at(spec, "podGroupTemplates");
  if (templates == nullptr) return;
  for (Json& item : *templates)
    if (JsonObject* group = item.if_object()) each(*group);
}

}  // namespace

std::vector<std::string> versions_to_ask(const api::Kind& kind) {
  std::vector<std::string> versions = kind.versions;
  if (kind.group == kGroup && (kind.kind == "PodGroup" || kind.kind == "Workload"))
    versions.emplace_back(kAlpha2);
  return versions;
}

bool is_translated(const api::Kind& kind, std::string_view version) {
  return version == kAlpha2 && kind.group == kGroup;
}

void translate_in(const api::Kind& kind, std::string_view version, Json& document) {
  if (!is_translated(kind, version) || !document.is_object()) return;
  JsonObject& object = document.get_object();
  rename_conditions(object, kScheduledThere, kScheduledHere);
  JsonObject* const spec = object_at(object, "spec");
  if (spec == nullptr) return;
  disruption_in(*spec);
  reference_in(*spec);
  each_template(*spec, disruption_in);
}

void translate_out(const api::Kind& kind, std::string_view version, Json& document) {
  if (!is_translated(kind, version) || !document.is_object()) return;
  JsonObject& object = document.get_object();
  rename_conditions(object, kScheduledHere, kScheduledThere);
  JsonObject* const spec = object_at(object, "spec");
  if (spec == nullptr) return;
  disruption_out(*spec);
  reference_out(*spec);
  each_template(*spec, disruption_out);
}

void OwnerVersions::set(const api::Kind& kind, std::string_view served) {
  if (served == kind.stored_version) return;
  spellings_.push_back(
      {kind.kind, kind.api_version(kind.stored_version), kind.api_version(served)});
}

const OwnerVersions::Spelling* OwnerVersions::find(const Json& reference) const {
  const std::string_view version = api::find_string(reference, "apiVersion");
  const std::string_view kind = api::find_string(reference, "kind");
  const auto found = std::ranges::find_if(spellings_, [&](const Spelling& spelling) {
    return spelling.ours == version && spelling.kind == kind;
  });
  return found == spellings_.end() ? nullptr : &*found;
}

bool OwnerVersions::concerns(const Json& body) const {
  bool any = false;
  if (!spellings_.empty())
    each_owner(body, [&](const Json& reference) { any = any || find(reference) != nullptr; });
  return any;
}

void OwnerVersions::translate_out(Json& body) const {
  each_owner(body, [&](Json& reference) {
    if (const Spelling* spelling = find(reference))
      reference.get_object()["apiVersion"] = spelling->theirs;
  });
}

void translate_owners_in(Json& document) {
  each_owner(document, [](Json& reference) {
    const std::string_view version = api::find_string(reference, "apiVersion");
    if (!version.starts_with(kGroup) || version.substr(kGroup.size(), 1) != "/") return;
    const api::Kind* const kind = api::find_kind(kGroup, api::find_string(reference, "kind"));
    if (kind != nullptr && version.substr(kGroup.size() + 1) != kind->stored_version)
      reference.get_object()["apiVersion"] = kind->api_version(kind->stored_version);
  });
}

}  // namespace muster::client
