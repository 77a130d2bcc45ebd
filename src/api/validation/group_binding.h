#pragma once

#include <cstddef>

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// Each list of a GroupBinding holds at most this many items.
inline constexpr std::size_t kGroupBindingItemsMax = 10'000;

// What is wrong with a GroupBinding by itself, regardless of the pods and groups it names.
FieldErrors validate_group_binding(const Json& document);

}  // namespace muster::api
