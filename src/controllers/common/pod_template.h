#pragma once

#include "api/json.h"
#include "api/object.h"

namespace muster::controllers {

// The document of a pod that `owner` makes: labels, annotations, finalizers and spec of the
// template, a name that the server completes, and the owner as its controller.
api::JsonObject pod_from_template(const api::Object& owner, const api::Json& pod_template);
// From spec.template of the owner.
api::JsonObject pod_from_template(const api::Object& owner);

}  // namespace muster::controllers
