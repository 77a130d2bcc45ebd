#pragma once

#include "api/json.h"
#include "api/schema/schema.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// What the tables themselves demand of a document: required members are given, and words are among
// those allowed. For kinds that only the scheduler and storage drivers read, there are no other
// rules. Metadata and pod templates are left out: they have rules of their own.
void validate_by_schema(const schema::Message& message, const Json& document, FieldErrors& errors);
// The same for a part of a document.
void validate_by_schema(const schema::Message& message, const Json& value, const FieldPath& path,
                        FieldErrors& errors);

}  // namespace muster::api
