#pragma once

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// Every namespace carries its name as label kubernetes.io/metadata.name.
void default_name_space(Json& document);

FieldErrors validate_name_space(const Json& document);
FieldErrors validate_name_space_update(const Json& now, const Json& old);
FieldErrors validate_name_space_status_update(const Json& now, const Json& old);
// PUT of namespaces/finalize.
FieldErrors validate_name_space_finalize_update(const Json& now, const Json& old);

}  // namespace muster::api
