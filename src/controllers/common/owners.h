#pragma once

#include <string_view>

#include "api/json.h"
#include "api/object.h"

// Who owns whom.
namespace muster::controllers {

// The owner that controls the object; null if none does.
const api::OwnerReference* controller_of(const api::Object& object);
bool is_controlled_by(const api::Object& object, std::string_view uid);

// The reference by which `owner` controls what it makes.
api::JsonObject owner_reference(const api::Object& owner);

// "batch" of "batch/v1".
std::string_view group_of(std::string_view api_version);

}  // namespace muster::controllers
