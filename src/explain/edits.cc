#include "explain/edits.h"

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::explain {
namespace {

using api::ensure_array;
using api::ensure_object;
using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kCordonTaint = "node.kubernetes.io/unschedulable";

void erase_taints(JsonObject& spec, std::string_view key, std::string_view value,
                  std::string_view effect) {
  if (!spec.contains("taints")) return;
  JsonArray kept;
  for (const Json& taint : ensure_array(spec, "taints"))
    if (api::find_string(taint, "key") != key ||
        (!effect.empty() && (api::find_string(taint, "effect") != effect ||
                             api::find_string(taint, "value") != value)))
      kept.push_back(taint);
  ensure_array(spec, "taints") = std::move(kept);
}

void uncordon(JsonObject& spec) {
  spec.erase("unschedulable");
  erase_taints(spec, kCordonTaint, "", "");
}

}  // namespace

api::ObjectPtr with_minimum(const api::Object& group, std::int64_t minimum) {
  Json document = group.document();
  JsonObject& policy =
      ensure_object(ensure_object(document.as_object(), "spec"), "schedulingPolicy");
  JsonObject& gang = ensure_object(policy, "gang");
  const bool is_leaf = &group.kind() == &api::kinds::pod_group();
  gang[is_leaf ? "minCount" : "minGroupCount"] = minimum;
  return api::Object::make(group.kind(), document);
}

api::ObjectPtr with_topology(const api::Object& group, std::string_view key) {
  Json document = group.document();
  JsonObject& spec = ensure_object(document.as_object(), "spec");
  if (key.empty()) {
    ensure_object(spec, "schedulingConstraints").erase("topology");
  } else {
    JsonArray& topology = ensure_array(ensure_object(spec, "schedulingConstraints"), "topology");
    topology = JsonArray{JsonObject{{"key", key}}};
  }
  return api::Object::make(group.kind(), document);
}

api::ObjectPtr with_annotation(const api::Object& group, std::string_view key,
                               std::string_view value) {
  Json document = group.document();
  ensure_object(ensure_object(document.as_object(), "metadata"), "annotations")[key] = value;
  return api::Object::make(group.kind(), document);
}

api::ObjectPtr with_labels(const api::Object& node,
                           const std::map<std::string, std::string>& labels) {
  Json document = node.document();
  JsonObject& there = ensure_object(ensure_object(document.as_object(), "metadata"), "labels");
  for (const auto& [key, value] : labels) there[key] = value;
  return api::Object::make(node.kind(), document);
}

api::ObjectPtr node_like(const api::Object& node, const std::string& name) {
  Json document = node.document();
  JsonObject& root = document.as_object();
  JsonObject& metadata = ensure_object(root, "metadata");
  metadata["name"] = name;
  metadata["uid"] = name;
  JsonObject& labels = ensure_object(metadata, "labels");
  if (labels.contains(kHostname)) labels[kHostname] = name;
  uncordon(ensure_object(root, "spec"));
  return api::Object::make(node.kind(), document);
}

api::ObjectPtr uncordoned(const api::Object& node) {
  Json document = node.document();
  uncordon(ensure_object(document.as_object(), "spec"));
  return api::Object::make(node.kind(), document);
}

api::ObjectPtr untainted(const api::Object& node, const api::Taint& taint) {
  Json document = node.document();
  erase_taints(ensure_object(document.as_object(), "spec"), taint.key, taint.value,
               api::effect_name(taint.effect));
  return api::Object::make(node.kind(), document);
}

}  // namespace muster::explain
