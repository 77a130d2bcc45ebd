#pragma once

#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"

// Which objects own which.
namespace muster::controllers {

// The owner that controls the object; null if none does.
const api::OwnerReference* controller_of(const api::Object& object);
bool is_controlled_by(const api::Object& object, std::string_view uid);

// The reference by which `owner` controls what it makes.
api::JsonObject owner_reference(const api::Object& owner);

// Changes metadata alone. Names the uid, so it conflicts on another object of the same name.
api::Request patch_meta_request(const api::Object& object, api::JsonObject metadata);
// Makes `owner` control an object that nobody controls.
api::Request adopt_request(const api::Object& object, const api::Object& owner);
// Undoes it.
api::Request release_request(const api::Object& object, const api::Object& owner);

// A kind of apps/v1, by name; CHECKs that it exists.
const api::Kind& apps_kind(std::string_view name);

// "batch" of "batch/v1".
std::string_view group_of(std::string_view api_version);

}  // namespace muster::controllers
