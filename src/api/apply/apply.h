#pragma once

#include <string>

#include "api/apply/field_set.h"
#include "api/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

// Server-side apply and the record of who owns which field. Pure functions over
// documents that may carry metadata.managedFields.
namespace muster::api {

// Who writes, through which door, and when.
struct Write {
  std::string manager;
  std::string api_version;
  std::string subresource;
  std::string now;  // RFC 3339
  FieldSet beyond;  // what this door cannot change (status on the main one): never recorded
};

// Whether the document asks to forget who owns which field (`managedFields: [{}]`).
bool resets_managers(const Json& document);

// Records a write other than an apply: its manager owns every field that `after` adds or changes
// compared with `before`, and nobody owns what is gone. An object that nobody tracks stays
// untracked; a new one (`before` is null) is tracked from the start.
void record_update(const schema::Message& message, const Write& write, const Json& before,
                   Json& after);

// Applies `config` (decoded, without managedFields) to `live` (null: there is no object yet).
// Sets its fields, and removes those that its manager applied before, no longer lists, and nobody
// else owns. Conflict, naming every field and owner, if another manager owns a field it would
// change; with `force` the field changes hands.
Result<Json> apply(const schema::Message& message, const Write& write, Json live,
                   const Json& config, bool force);

}  // namespace muster::api
