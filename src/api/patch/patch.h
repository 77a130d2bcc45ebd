#pragma once

#include "api/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

// Ways to change a document. Pure functions; the caller decodes the result again.
namespace muster::api {

// RFC 7386.
Json merge_patch(Json target, const Json& patch);

// RFC 6902. Invalid if an operation fails, BadRequest if the patch is not a list of operations.
Result<Json> json_patch(Json target, const Json& patch);

// Kubernetes' strategic merge with all directives ($patch, $retainKeys, $setElementOrder,
// $deleteFromPrimitiveList), driven by the schema's merge keys.
Result<Json> strategic_merge_patch(const schema::Message& message, Json target, const Json& patch);

}  // namespace muster::api
