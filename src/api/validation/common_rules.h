#pragma once

#include <initializer_list>
#include <string_view>

#include "api/json.h"
#include "api/validation/field_errors.h"

// Rules that many kinds share.
namespace muster::api {

inline constexpr std::string_view kImmutableField = "field is immutable";

// Whether two members mean the same; missing, null and empty are equal.
bool same_meaning(const Json* a, const Json* b);
// `field is immutable` at each member of `now` that differs from `old`.
void validate_immutable_members(const Json& now, const Json& old,
                                std::initializer_list<std::string_view> members,
                                const FieldPath& path, FieldErrors& errors);
// `must be greater than or equal to 0` for each member that is a negative number.
void not_negative(const Json& holder, std::initializer_list<std::string_view> members,
                  const FieldPath& path, FieldErrors& errors);

// A number that is not negative, or a percentage: IntOrString as rollouts and budgets use it.
void validate_amount(const Json& amount, const FieldPath& path, FieldErrors& errors);
// At most 100%; numbers are fine.
void validate_at_most_all(const Json& amount, const FieldPath& path, FieldErrors& errors);
// Its percentage or its number, if it is well-formed.
std::int64_t amount_value(const Json& amount);

// The word at `member`, which must be one of these and may not be missing.
void validate_required_word(const Json& holder, std::string_view member,
                            std::span<const std::string_view> allowed, const FieldPath& path,
                            FieldErrors& errors);

}  // namespace muster::api
