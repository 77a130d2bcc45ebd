#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"

// For tests only.
namespace muster::api {

inline Json json(std::string_view text) {
  const auto parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? parsed->value : Json();
}

// The view of an object named "x" with these members.
template <typename V>
std::unique_ptr<V> view_of(std::string_view group, std::string_view kind,
                           std::string_view members) {
  std::string text = R"({"metadata":{"name":"x"})";
  if (!members.empty()) text.append(",").append(members);
  return V::read(*Object::make(*find_kind(group, kind), json(text + "}")));
}

}  // namespace muster::api
