#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

namespace muster {
namespace {

spdlog::level::level_enum translate(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("muster");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
    return made;
  }();
  return *instance;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// U+0080 to U+009F in UTF-8, some of which end a line or begin a command as those of one byte do.
bool is_wide_control(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) >= 0x80 &&
         static_cast<unsigned char>(text[1]) < 0xa0;
}

// At most kLogLineMax bytes, and no half of a character.
std::string_view shortened(std::string_view line) {
  if (line.size() <= kLogLineMax) return line;
  std::size_t end = kLogLineMax;
  while (end > kLogLineMax - 4 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80) --end;
  return line.substr(0, end);
}

bool is_plain(std::string_view line) {
  return line.size() <= kLogLineMax && std::ranges::none_of(line, is_control) &&
         line.find('\xc2') == std::string_view::npos;
}

}  // namespace

std::string printable(std::string_view line) {
  const std::string_view shown = shortened(line);
  std::string out;
  out.reserve(shown.size() + 32);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '\n')
      out += "\\n";
    else if (is_control(shown[i]))
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(shown[i]));
    else if (is_wide_control(shown.substr(i)))
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(shown[++i]));
    else
      out += shown[i];
  }
  if (shown.size() < line.size())
    fmt::format_to(std::back_inserter(out), " … ({} more bytes)", line.size() - shown.size());
  return out;
}

void set_log_level(LogLevel level) { logger().set_level(translate(level)); }
bool log_enabled(LogLevel level) { return logger().should_log(translate(level)); }
void log_line(LogLevel level, std::string_view line) {
  if (is_plain(line)) return logger().log(translate(level), line);
  logger().log(translate(level), printable(line));
}

}  // namespace muster
