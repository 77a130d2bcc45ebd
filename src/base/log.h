#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace muster {

enum class LogLevel { Debug, Info, Warning, Error };

// Lines below this level are dropped before they are formatted. Set once, before threads start.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view line);

// log(LogLevel::Info, "serving on {}", address). Goes to standard error; never holds a secret.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace muster
