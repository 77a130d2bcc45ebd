#pragma once

#include <span>
#include <string_view>

#include "api/json.h"
#include "api/validation/field_errors.h"

// Names and words that several kinds of storage have.
namespace muster::api::rules {

bool contains(std::span<const std::string_view> words, std::string_view word);

// A word that may be left out, but must otherwise be one of these.
void validate_optional_word(const Json& holder, std::string_view member,
                            std::span<const std::string_view> allowed, const FieldPath& path,
                            FieldErrors& errors);

void validate_driver_name(std::string_view name, const FieldPath& path, FieldErrors& errors);

void validate_provisioner(std::string_view name, const FieldPath& path, FieldErrors& errors);

// Parameters that only the driver understands.
void validate_parameters(const Json& holder, FieldErrors& errors);

}  // namespace muster::api::rules
