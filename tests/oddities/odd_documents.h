#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/schema/schema.h"
#include "base/entropy.h"

namespace muster::oddities {

// Makes documents odd: here and there a member gets a value that its schema allows, is left out, or
// a list grows or shrinks. Most of what comes out is still nearly what went in, so that much of it
// is accepted and reaches every component.
class OddDocuments {
 public:
  explicit OddDocuments(std::uint64_t seed) : entropy_(seed) {}

  // One change somewhere in the value, whose schema this is.
  void change(const api::schema::Message& message, api::JsonObject& value);
  // Any value that the field may have, members of messages included.
  api::Json any_value(const api::schema::Field& field);

  std::uint64_t below(std::uint64_t bound) { return entropy_.below(bound); }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <typename Values>
  const auto& one_of(const Values& values) {
    return values[below(values.size())];
  }

 private:
  void change_list(const api::schema::Field& field, api::JsonArray& list);
  api::Json one_value(const api::schema::Field& field, int depth);
  api::Json value(const api::schema::Field& field, int depth);
  api::JsonObject object(const api::schema::Message& message, int depth);

  SeededEntropy entropy_;
};

}  // namespace muster::oddities
