#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/validation/field_errors.h"
#include "base/result.h"

namespace muster::scheduler {

// What is wrong with a configuration, with the lines of its text.
class ConfigErrors {
 public:
  explicit ConfigErrors(std::string_view text) : text_(text) {}

  // For rules that look at single fields.
  api::FieldErrors& fields() { return fields_; }
  // A sentence about the member at `path`.
  void add(const std::string& path, std::string sentence);

  bool empty() const { return found_.empty() && fields_.empty(); }
  // Everything in the order found: "line 7: profiles[0].schedulerName: Required value; …".
  tl::unexpected<Error> fail() const;

 private:
  std::string at_line(std::string_view path, std::string sentence) const;

  std::string_view text_;
  api::FieldErrors fields_;
  std::vector<std::string> found_;
};

}  // namespace muster::scheduler
