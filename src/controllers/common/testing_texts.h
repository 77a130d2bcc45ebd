#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "base/time.h"

// What every test of a controller writes down: documents, a time, lists of words.
namespace muster::controllers {

using Texts = std::vector<std::string>;

inline api::Json parsed(std::string_view text) {
  Result<api::ParsedJson> json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  return std::move(json->value);
}

inline constexpr Time kNow{std::chrono::seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

}  // namespace muster::controllers
