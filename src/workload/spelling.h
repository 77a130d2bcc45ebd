#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/result.h"

// The proposals behind the workload API name fields that Kubernetes 1.37 has renamed. A server
// refuses them; here they are read, for people who still have such manifests.
namespace muster::workload {

struct Respelled {
  std::string from;  // "spec.scheduling.policy"
  std::string to;    // "spec.scheduling.schedulingPolicy"; empty: it no longer exists
};

// Gives the document (with apiVersion and kind) the names of 1.37 and says which it changed.
// Invalid if a field is there under both names with different values.
Result<std::vector<Respelled>> respell(api::Json& document);

}  // namespace muster::workload
