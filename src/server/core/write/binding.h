#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"
#include "api/scratch.h"
#include "base/error.h"
#include "base/result.h"
#include "server/core/write/context.h"

namespace muster::server {

// POST pods/NAME/binding: assigns a pod to a node, in one write. Conflict if the pod is bound,
// gated or terminating. As upstream, it does not check whether the node exists.
Result<Decision> decide_binding(Context& context, const api::Request& request);

// POST bindings: the same, but the body names the pod.
Result<Decision> decide_named_binding(Context& context, api::Request& request);

// The part of a pod that a binding reads and changes. The object made from it keeps the pod's
// metadata (make_object in document.h).
api::Json without_metadata(api::Scratch& scratch, const api::Object& pod);

// Why a pod may not be assigned to a host now, in upstream's words; nullopt if it may. The type of
// the cause is for programs: AlreadyBound, Terminating, Gated.
std::optional<Cause> why_not_bindable(const api::Object& pod, const api::Json& document);

// What a binding writes: the node, PodScheduled=True, no nomination.
void assign_node(api::Json& pod, std::string_view node, Time now);

}  // namespace muster::server
