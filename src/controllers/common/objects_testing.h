#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "api/json.h"
#include "api/object.h"

// For tests only.
namespace muster::controllers {

// The object as a feed shows it.
inline api::ObjectPtr make_object(const api::Kind& kind, std::string_view text,
                                  std::int64_t revision = 1) {
  auto json = api::parse_json(text);
  EXPECT_TRUE(json) << text;
  auto object = api::Object::make(kind, json->value);
  object->assign_revision({revision});
  return object;
}

}  // namespace muster::controllers
