#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

std::vector<Kind> discovery_kinds() {
  Kind slice = plain_kind({.group = "discovery.k8s.io", .version = "v1", .package = "discovery/v1"},
                          "EndpointSlice", "endpointslices");
  slice.keeps_generation = true;
  return {slice};
}

}  // namespace muster::api::kinds
