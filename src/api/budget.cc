#include "api/budget.h"

#include <fmt/format.h>

namespace muster::api {

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  // The bytes of a character after its first have the form 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end);
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  return fmt::format("{}... ({} bytes)", cut_utf8(text, bytes_max), text.size());
}

std::vector<std::string> Reports::finish() && {
  if (left_out_ > 0) kept_.push_back(fmt::format("and {} more", left_out_));
  return std::move(kept_);
}

}  // namespace muster::api
