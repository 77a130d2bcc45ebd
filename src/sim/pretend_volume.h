#pragma once

#include <string_view>

#include "api/object.h"
#include "api/request.h"

// The writes of pretend storage, one step each.
namespace muster::sim {

// --- claims ---
api::Request set_class(const api::Object& claim, std::string_view storage_class);
api::Request unselect_node(const api::Object& claim);
// The claim names its volume; then its status says so too.
api::Request bind_claim(const api::Object& claim, const api::Object& volume);
api::Request claim_is_bound(const api::Object& claim, const api::Object& volume);
api::Request set_claim_phase(const api::Object& claim, std::string_view phase);
// The claim of a volume that lives as long as its pod.
api::Request create_ephemeral_claim(const api::Object& pod, std::string_view volume);

// --- volumes ---
// Refused if the volume has changed since: another claim may have it.
api::Request claim_volume(const api::Object& volume, const api::Object& claim);
api::Request set_volume_phase(const api::Object& volume, std::string_view phase);
// A volume as a driver would make it: reachable where the class allows, or from the zone of the
// node that was selected; `node` may be null.
api::Request create_volume(const api::Object& claim, const api::Object& storage_class,
                           const api::Object* node);

}  // namespace muster::sim
