#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/result.h"

// The proposals that the workload API grew from speak of fields that Kubernetes 1.37 calls
// otherwise. A server refuses them; here they are read, for people who have manifests of that time.
namespace muster::workload {

struct Respelled {
  std::string from;  // "spec.scheduling.policy"
  std::string to;    // "spec.scheduling.schedulingPolicy"; empty: there is no such thing any more
};

// Gives the document (with apiVersion and kind) the names of 1.37 and says which it changed.
// Invalid if a field stands there under both names with different values.
Result<std::vector<Respelled>> respell(api::Json& document);

}  // namespace muster::workload
