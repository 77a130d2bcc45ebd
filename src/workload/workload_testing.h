#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/yaml.h"
#include "base/result.h"
#include "workload/builder.h"

// Shorthands of this room's tests.
namespace muster::workload {

inline api::Json yaml(std::string_view text) {
  Result<api::ParsedJson> parsed = api::parse_yaml(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? std::move(parsed->value) : api::Json();
}

// The document as text, members in any order: what both sides of a comparison go through.
inline std::string text_of(const Result<api::Json>& result) {
  return result ? api::to_text(*result) : "error: " + result.error().message;
}

// Compares documents, whatever the order of their members.
inline void expect_document(const Result<api::Json>& result, std::string_view want) {
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, yaml(want)) << api::to_text(*result);
}

inline std::vector<std::string> sentences(const std::vector<Cause>& causes) {
  std::vector<std::string> out;
  out.reserve(causes.size());
  for (const Cause& cause : causes) out.push_back(cause.field + ": " + cause.message);
  return out;
}
using Sentences = std::vector<std::string>;

// Everything a test does not care about.
inline BuildOptions options() {
  return {.name = "w",
          .name_space = "ns",
          .owner = {.api_version = "batch/v1", .kind = "Job", .name = "j", .uid = "u"},
          .allowed = {.policies = {PolicyKind::Basic, PolicyKind::Gang},
                      .disruption_modes = {Disruption::Single, Disruption::All}}};
}

}  // namespace muster::workload
