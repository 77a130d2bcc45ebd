#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/validation/field_errors.h"
#include "base/result.h"

namespace muster::scheduler {

// What is wrong with a configuration, with the lines of its text. Only the first few are named:
// that is where a reader begins.
class ConfigErrors {
 public:
  explicit ConfigErrors(std::string_view text) : text_(text) {}

  // For rules that look at single fields.
  api::FieldErrors& fields() { return fields_; }
  // A sentence about the member at `path`.
  void add(const std::string& path, std::string sentence);

  bool empty() const { return found_.empty() && fields_.empty(); }
  // In the order found: "line 7: profiles[0].schedulerName: Required value; …; and 3 more".
  tl::unexpected<Error> fail() const;

 private:
  struct Found {
    std::string path;
    std::string sentence;
  };

  std::string_view text_;
  api::FieldErrors fields_;
  std::vector<Found> found_;  // no more than are named
  std::size_t left_out_ = 0;
};

}  // namespace muster::scheduler
