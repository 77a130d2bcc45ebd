#include "app/served_gates.h"

#include <algorithm>

namespace muster::app {
namespace {

bool is_missing(const client::ServedKinds& served, const api::Kind& kind) {
  return served.version_of(kind) == nullptr;
}

api::Gates without_groups(api::Gates gates) {
  for (const api::GateFacts& facts : api::all_gates())
    if (facts.gate == api::Gate::GenericWorkload ||
        std::ranges::find(facts.needs, api::Gate::GenericWorkload) != facts.needs.end())
      gates = gates.without(facts.gate);
  return gates;
}

}  // namespace

api::Gates gates_of_scheduler(const client::ServedKinds& served, api::Gates gates) {
  if (is_missing(served, api::kinds::composite_pod_group()))
    gates = gates.without(api::Gate::CompositePodGroup);
  return is_missing(served, api::kinds::pod_group()) ? without_groups(gates) : gates;
}

api::Gates gates_of_controllers(const client::ServedKinds& served, api::Gates gates) {
  gates = gates_of_scheduler(served, gates);
  return is_missing(served, api::kinds::workload()) ? without_groups(gates) : gates;
}

}  // namespace muster::app
