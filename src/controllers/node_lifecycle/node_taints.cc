#include "controllers/node_lifecycle/node_taints.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "api/json_edit.h"
#include "api/reading.h"
#include "api/views/node_view.h"
#include "client/client.h"
#include "controllers/node_lifecycle/node_status.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// Which status of which condition keeps new pods away, and by which taint.
struct Rule {
  std::string_view condition, status, taint;
};
constexpr std::array kRules = {
    Rule{"Ready", "False", kNotReadyTaint},
    Rule{"Ready", "Unknown", kUnreachableTaint},
    Rule{"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    Rule{"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    Rule{"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    Rule{"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"}};
constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

constexpr std::string_view kNoSchedule = "NoSchedule";
constexpr std::string_view kNoExecute = "NoExecute";

struct Named {
  std::string_view key, effect;
  friend bool operator==(const Named&, const Named&) = default;
};

bool is_ours(const Named& taint) {
  if (taint.effect == kNoExecute)
    return taint.key == kNotReadyTaint || taint.key == kUnreachableTaint;
  return taint.effect == kNoSchedule &&
         (taint.key == kUnschedulableTaint ||
          std::ranges::find(kRules, taint.key, &Rule::taint) != kRules.end());
}

std::vector<Named> wanted_taints(const api::Object& node, Driving driving) {
  const auto& view = node.view<api::NodeView>();
  const Readiness ready = readiness(node);
  std::vector<Named> wanted;
  for (const Rule& rule : kRules) {
    const api::Condition* said = api::lookup(view.conditions, rule.condition);
    if (said != nullptr && said->status == rule.status) wanted.push_back({rule.taint, kNoSchedule});
  }
  // Nothing runs on a node before it has said that it is ready.
  if (ready == Readiness::Unsaid) wanted.push_back({kNotReadyTaint, kNoSchedule});
  if (view.unschedulable) wanted.push_back({kUnschedulableTaint, kNoSchedule});
  const bool drives =
      driving == Driving::Start || (driving == Driving::Keep && drives_pods_away(node));
  if (drives && ready == Readiness::False) wanted.push_back({kNotReadyTaint, kNoExecute});
  if (drives && ready == Readiness::Unknown) wanted.push_back({kUnreachableTaint, kNoExecute});
  return wanted;
}

}  // namespace

bool drives_pods_away(const api::Object& node) {
  return std::ranges::any_of(node.view<api::NodeView>().taints, [](const api::Taint& taint) {
    return taint.effect == api::TaintEffect::NoExecute &&
           (taint.key == kNotReadyTaint || taint.key == kUnreachableTaint);
  });
}

std::optional<api::Request> correct_taints(const api::Object& node, Driving driving, Time now) {
  std::vector<Named> missing = wanted_taints(node, driving);
  bool surplus = false;
  for (const api::Taint& taint : node.view<api::NodeView>().taints) {
    const Named name{taint.key, api::effect_name(taint.effect)};
    if (std::erase(missing, name) == 0) surplus |= is_ours(name);
  }
  if (missing.empty() && !surplus) return std::nullopt;

  const std::vector<Named> wanted = wanted_taints(node, driving);
  const Json document = node.document();
  JsonArray taints = api::elements(api::part_of(document, "spec"), "taints");
  api::erase_items(taints, [&](const Json& taint) {
    const Named name{api::find_string(taint, "key"), api::find_string(taint, "effect")};
    return is_ours(name) && std::ranges::find(wanted, name) == wanted.end();
  });
  for (const Named& taint : missing)
    taints.push_back(
        JsonObject{{"key", taint.key}, {"effect", taint.effect}, {"timeAdded", format_time(now)}});
  return client::patch_request(
      node.kind(), "", node.meta().name, "", api::PatchType::Merge,
      JsonObject{
          {"metadata", JsonObject{{"uid", node.meta().uid},
                                  {"resourceVersion", std::to_string(node.revision().value)}}},
          {"spec", JsonObject{{"taints", std::move(taints)}}}});
}

}  // namespace muster::controllers
