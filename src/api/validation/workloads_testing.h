#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/decode.h"
#include "api/schema/schema.h"
#include "api/validation/field_errors.h"
#include "api/validation/validation_testing.h"
#include "api/yaml.h"

// Shorthands of the tests of workloads, groups and Jobs.
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

}  // namespace muster::api
