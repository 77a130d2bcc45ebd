#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

enum class LogLevel { Debug, Info, Warning, Error };

// Lines below this level are dropped before they are formatted. Set once, before threads start.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view line);

// Lines quote names and messages that users chose. A longer one is cut, and says by how much.
constexpr std::size_t kLogLineMax = 4096;
// What log_line() writes: `line` as it is, if it is no longer than that and has no control
// characters, which could end the line or command a terminal.
std::string printable(std::string_view line);

// log(LogLevel::Info, "serving on {}", address). Goes to standard error; never holds a secret.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace muster
