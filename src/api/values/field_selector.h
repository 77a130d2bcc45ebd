#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::api {

// One condition on a field: its text equals, or differs from, a value.
struct FieldTerm {
  std::string field;
  std::string value;
  bool equal = true;

  friend bool operator==(const FieldTerm&, const FieldTerm&) = default;
};

// Terms that must all hold: "spec.nodeName=n1,status.phase!=Succeeded". Which fields a kind knows
// is the server's business.
class FieldSelector {
 public:
  using Lookup = std::function<std::string(std::string_view field)>;

  FieldSelector() = default;  // selects everything
  // In values '\' escapes '\', ',' and '='. BadRequest on bad syntax.
  static Result<FieldSelector> parse(std::string_view text);

  // An unset field reads as "".
  bool matches(const Lookup& text_of) const;
  bool selects_everything() const { return terms_.empty(); }
  const std::vector<FieldTerm>& terms() const { return terms_; }
  // The value the selector requires for `field`, or null: lets a list be served as a get.
  const std::string* required_value(std::string_view field) const;
  std::string text() const;

 private:
  std::vector<FieldTerm> terms_;  // in the order of their text, as upstream keeps them
};

}  // namespace muster::api
