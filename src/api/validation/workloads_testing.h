#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/decode.h"
#include "api/schema/schema.h"
#include "api/validation/field_errors.h"
#include "api/yaml.h"

// Shorthands of this room's tests.
namespace muster::api {

// A document of the message as a request would bring it: parsed from YAML, decoded, pruned.
inline Json decoded(std::string_view package, std::string_view message, std::string_view yaml) {
  Result<ParsedJson> parsed = parse_yaml(yaml);
  EXPECT_TRUE(parsed) << yaml << (parsed ? "" : parsed.error().message);
  if (!parsed) return {};
  Result<Decoded> out = decode(schema::message(package, message), std::move(*parsed));
  EXPECT_TRUE(out) << yaml << (out ? "" : out.error().message);
  if (!out) return {};
  EXPECT_TRUE(out->unknown.empty()) << yaml << out->unknown.front();
  return std::move(out->document);
}

// Each error as "type field: message", the type without the FieldValue in front.
inline std::vector<std::string> causes(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const Cause& cause : errors.causes())
    out.push_back(cause.type.substr(std::string_view("FieldValue").size()) + " " + cause.field +
                  ": " + cause.message);
  return out;
}
using Causes = std::vector<std::string>;

inline const std::string kBadSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
inline const std::string kBadLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
inline const std::string kBadNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

}  // namespace muster::api
