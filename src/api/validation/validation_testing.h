#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/validation/field_errors.h"

// Shorthands of this room's tests.
namespace muster::api {

inline Json document(std::string_view text) {
  Result<ParsedJson> parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? std::move(parsed->value) : Json();
}

// `base` with the members of `edits` in place of its own; a null takes a member away. One level
// deep.
inline Json edited(Json base, std::string_view part, std::string_view edits) {
  JsonObject& target = ensure_object(base.get_object(), part);
  const Json changes = document(edits);
  for (const auto& change : changes.get_object()) {
    if (change.value().is_null())
      target.erase(change.key());
    else
      target[change.key()] = change.value();
  }
  return base;
}

// Each error as "field: message".
inline std::vector<std::string> sentences(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const Cause& cause : errors.causes()) out.push_back(cause.field + ": " + cause.message);
  return out;
}

using Sentences = std::vector<std::string>;

inline const std::string kBadSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
inline const std::string kBadLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
inline const std::string kBadNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with "
    "an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
inline const std::string kBadLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

}  // namespace muster::api
