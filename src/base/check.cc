#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster::detail {

void check_failed(const char* file, int line, const char* condition, std::string_view note) {
  fmt::print(stderr, "{}:{}: CHECK failed: {}{}{}\n", file, line, condition,
             note.empty() ? "" : ": ", note);
  std::fflush(stderr);
  std::abort();
}

}  // namespace muster::detail
