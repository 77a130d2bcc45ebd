#include "controllers/daemonset/daemon_pods.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/reading.h"
#include "api/views/node_selector.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "api/views/tolerations.h"
#include "controllers/common/pod_template.h"
#include "controllers/common/revisions.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kNameField = "metadata.name";

// Daemons run on nodes that are not well: others depend on them to become so.
struct Tolerated {
  std::string_view key;
  std::string_view effect;
};
constexpr std::array kTolerated{Tolerated{"node.kubernetes.io/not-ready", "NoExecute"},
                                Tolerated{"node.kubernetes.io/unreachable", "NoExecute"},
                                Tolerated{"node.kubernetes.io/disk-pressure", "NoSchedule"},
                                Tolerated{"node.kubernetes.io/memory-pressure", "NoSchedule"},
                                Tolerated{"node.kubernetes.io/pid-pressure", "NoSchedule"},
                                Tolerated{"node.kubernetes.io/unschedulable", "NoSchedule"}};
constexpr Tolerated kNoNetwork{"node.kubernetes.io/network-unavailable", "NoSchedule"};

void add_toleration(JsonArray& tolerations, const Tolerated& tolerated) {
  const JsonObject wanted{
      {"key", tolerated.key}, {"operator", "Exists"}, {"effect", tolerated.effect}};
  for (Json& toleration : tolerations)
    if (api::find_string(toleration, "key") == tolerated.key &&
        api::find_string(toleration, "effect") == tolerated.effect) {
      toleration = wanted;
      return;
    }
  tolerations.emplace_back(wanted);
}

// Whatever the template says of names of nodes gives way to this one.
void pin_to(JsonObject& spec, std::string_view node) {
  const JsonObject field{{"key", kNameField}, {"operator", "In"}, {"values", JsonArray{node}}};
  JsonObject& affinity = api::ensure_object(api::ensure_object(spec, "affinity"), "nodeAffinity");
  JsonObject& required =
      api::ensure_object(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  JsonArray& terms = api::ensure_array(required, "nodeSelectorTerms");
  if (terms.empty()) terms.emplace_back(JsonObject());
  for (Json& term : terms)
    if (term.is_object()) term.get_object()["matchFields"] = JsonArray{field};
}

}  // namespace

DaemonPods::DaemonPods(const api::Object& set, std::string_view hash)
    : hash_(hash), pod_(pod_from_template(set)) {
  api::ensure_object(api::ensure_object(pod_, "metadata"), "labels")[kPodRevision] = hash;
  JsonObject& spec = api::ensure_object(pod_, "spec");
  JsonArray& tolerations = api::ensure_array(spec, "tolerations");
  for (const Tolerated& tolerated : kTolerated) add_toleration(tolerations, tolerated);
  if (api::find_true(spec, "hostNetwork")) add_toleration(tolerations, kNoNetwork);
  view_ = api::PodView::of(Json(pod_));
}

Json DaemonPods::make(std::string_view node) const {
  JsonObject pod = pod_;
  pin_to(api::ensure_object(pod, "spec"), node);
  return pod;
}

DaemonPods::Fit DaemonPods::fit(const api::Object& node) const {
  const std::string& name = node.meta().name;
  if (!view_->node_name.empty() && view_->node_name != name) return {};
  if (!api::matches_selection(view_->needs, name, node.meta().labels)) return {};
  const auto& taints = node.view<api::NodeView>().taints;
  const auto& tolerations = view_->needs.tolerations;
  if (!api::repels(taints, tolerations)) return {.should_run = true, .may_stay = true};
  const bool evicts = std::ranges::any_of(taints, [&](const api::Taint& taint) {
    return taint.effect == api::TaintEffect::NoExecute && !api::tolerates(tolerations, taint);
  });
  return {.should_run = false, .may_stay = !evicts};
}

std::string_view node_of(const api::Object& pod) {
  const auto& view = pod.view<api::PodView>();
  if (!view.node_name.empty()) return view.node_name;
  for (const api::NodeSelectorTerm& term : view.needs.required)
    for (const api::NodeRequirement& field : term.fields)
      if (field.key == kNameField && field.op == api::SelectorOperator::In &&
          field.values.size() == 1)
        return field.values.front();
  return {};
}

}  // namespace muster::controllers
