#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"

// What pods ask of nodes, compared one by one.
namespace muster::scheduler::twin {

inline const api::PodNeeds& needs_of(const api::Object& pod) {
  return pod.view<api::PodView>().needs;
}

inline bool tolerated(const api::Taint& taint, const std::vector<api::Toleration>& tolerations,
                      bool soft_only) {
  for (const api::Toleration& t : tolerations) {
    if (soft_only && !t.effect.empty() && t.effect != "PreferNoSchedule") continue;
    if (!t.effect.empty() && t.effect != api::effect_name(taint.effect)) continue;
    if (!t.key.empty() && t.key != taint.key) continue;
    if (t.op == api::TolerationOperator::Exists) return true;
    if (t.op == api::TolerationOperator::Equal && t.value == taint.value) return true;
  }
  return false;
}

inline bool term_matches(const api::NodeSelectorTerm& term, const api::Object& node) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  for (const api::NodeRequirement& r : term.expressions) {
    const std::string* value = api::lookup(node.meta().labels, r.key);
    const bool listed = value != nullptr && std::ranges::count(r.values, *value) > 0;
    bool ok = false;
    switch (r.op) {
      case api::SelectorOperator::In: ok = listed; break;
      case api::SelectorOperator::NotIn: ok = !listed; break;
      case api::SelectorOperator::Exists: ok = value != nullptr; break;
      case api::SelectorOperator::DoesNotExist: ok = value == nullptr; break;
      case api::SelectorOperator::Gt:
        ok = value != nullptr && std::stoll(*value) > std::stoll(r.values[0]);
        break;
      case api::SelectorOperator::Lt:
        ok = value != nullptr && std::stoll(*value) < std::stoll(r.values[0]);
        break;
      case api::SelectorOperator::Invalid: break;
    }
    if (!ok) return false;
  }
  for (const api::NodeRequirement& r : term.fields)
    if ((node.meta().name == r.values[0]) != (r.op == api::SelectorOperator::In)) return false;
  return true;
}

}  // namespace muster::scheduler::twin
