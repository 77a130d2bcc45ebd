#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace muster::api {

// A regular expression in the syntax of Go, as users write it into policies. Searching takes time
// proportional to the text, whatever the expression, and bounded memory.
class Pattern {
 public:
  // BadRequest says what is wrong with it.
  static Result<Pattern> parse(std::string_view text);

  // Whether it matches anywhere in the text.
  bool found_in(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> expression);

  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace muster::api
