#pragma once

#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"

// Volume claims that all Jobs of a JobSet share: one for each template in spec.volumeClaimPolicies.
namespace muster::controllers {

struct SharedClaim {
  std::string volume;  // the name of its template; pods mount it by this name
  std::string name;    // <template>-<set>
  api::Request create;
};
// `document` is the set's. Claims that should go with the set are owned by it.
std::vector<SharedClaim> shared_claims(const api::Object& set, const api::Json& document);

// Gives a pod the volumes that its containers mount and that are shared claims. Volumes it has
// stay.
void add_claim_volumes(const std::vector<SharedClaim>& claims, api::JsonObject& pod);

}  // namespace muster::controllers
