#include "server/core/request/served.h"

namespace muster::server {
namespace {

bool is_on(const api::Kind& kind, const api::Gates& gates) {
  if (&kind == &api::kinds::workload() || &kind == &api::kinds::pod_group() ||
      &kind == &api::kinds::group_binding())
    return gates.on(api::Gate::GenericWorkload);
  if (&kind == &api::kinds::composite_pod_group()) return gates.on(api::Gate::CompositePodGroup);
  return true;
}

}  // namespace

std::vector<const api::Kind*> served_kinds(const api::Gates& gates) {
  std::vector<const api::Kind*> served;
  for (const api::Kind* kind : api::all_kinds())
    if (is_on(*kind, gates)) served.push_back(kind);
  return served;
}

}  // namespace muster::server
