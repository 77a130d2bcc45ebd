#pragma once

#include <fmt/format.h>

#include <string_view>

namespace muster::detail {

// Prints where and why, then ends the process.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view note);

}  // namespace muster::detail

// A bug is a broken promise between our own lines, never a property of input. CHECK is on in every
// build and ends the process: the truth is in the store, restart is recovery.
#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) ::muster::detail::check_failed(__FILE__, __LINE__, #condition, ""); \
  } while (false)

// CHECK with a note: CHECK_THAT(free >= 0, "node {} has {} free", name, free).
#define CHECK_THAT(condition, ...)                                                                \
  do {                                                                                            \
    if (!(condition))                                                                             \
      ::muster::detail::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
