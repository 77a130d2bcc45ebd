#include "base/time.h"

#include <fmt/format.h>

#include <cstdint>

namespace muster {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::microseconds;
using std::chrono::seconds;

// Writes `width` digits of a number, zeros first.
template <typename Number>
char* write_digits(char* at, Number number, int width) {
  for (int i = width; i-- > 0; number /= 10) at[i] = static_cast<char>('0' + number % 10);
  return at + width;
}

// By hand, not by fmt: every object has a time or two, and decoding writes each again.
std::string format_seconds(Time time) {
  const auto day = floor<days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{floor<seconds>(time - day)};
  const int year = static_cast<int>(date.year());
  if (year < 0 || year > 9999)
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year,
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  std::string text = "0000-00-00T00:00:00";
  char* at = write_digits(text.data(), year, 4) + 1;
  at = write_digits(at, static_cast<unsigned>(date.month()), 2) + 1;
  at = write_digits(at, static_cast<unsigned>(date.day()), 2) + 1;
  at = write_digits(at, clock.hours().count(), 2) + 1;
  at = write_digits(at, clock.minutes().count(), 2) + 1;
  write_digits(at, clock.seconds().count(), 2);
  return text;
}

// Reads fixed-width numbers and separators off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool number(std::size_t width, int& out) {
    if (text_.size() < width) return false;
    out = 0;
    for (const char digit : text_.substr(0, width)) {
      if (digit < '0' || digit > '9') return false;
      out = out * 10 + (digit - '0');
    }
    text_.remove_prefix(width);
    return true;
  }
  bool one_of(std::string_view letters) {
    if (text_.empty() || letters.find(text_.front()) == std::string_view::npos) return false;
    last_ = text_.front();
    text_.remove_prefix(1);
    return true;
  }
  // The digits of a fraction as microseconds; digits beyond the sixth are cut off.
  bool fraction(std::int64_t& micros) {
    micros = 0;
    std::int64_t unit = 100'000;
    std::size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
      micros += unit * (text_[digits] - '0');
      unit /= 10;
    }
    text_.remove_prefix(digits);
    return digits > 0;
  }
  char last() const { return last_; }
  bool done() const { return text_.empty(); }

 private:
  std::string_view text_;
  char last_ = 0;
};

}  // namespace

Time SystemClock::now() const {
  return std::chrono::time_point_cast<microseconds>(std::chrono::system_clock::now());
}

std::string format_time(Time time) { return format_seconds(time) + "Z"; }

std::string format_micro_time(Time time) {
  const auto micros = (time - floor<seconds>(time)).count();
  return fmt::format("{}.{:06}Z", format_seconds(time), micros);
}

std::optional<Time> parse_time(std::string_view text) {
  Scanner in(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!in.number(4, year) || !in.one_of("-") || !in.number(2, month) || !in.one_of("-") ||
      !in.number(2, day) || !in.one_of("Tt") || !in.number(2, hour) || !in.one_of(":") ||
      !in.number(2, minute) || !in.one_of(":") || !in.number(2, second))
    return std::nullopt;
  std::int64_t micros = 0;
  if (in.one_of(".") && !in.fraction(micros)) return std::nullopt;
  int offset_minutes = 0;
  if (!in.one_of("Zz")) {
    int hours = 0, minutes = 0;
    if (!in.one_of("+-")) return std::nullopt;
    const int sign = in.last() == '-' ? -1 : 1;
    if (!in.number(2, hours) || !in.one_of(":") || !in.number(2, minutes) || hours > 23 ||
        minutes > 59)
      return std::nullopt;
    offset_minutes = sign * (hours * 60 + minutes);
  }
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!in.done() || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const Time time{std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{hour} +
                  std::chrono::minutes{minute - offset_minutes} + seconds{second} +
                  microseconds{micros}};
  // An offset may lead out of the years that can be written.
  const std::chrono::year in_utc = std::chrono::year_month_day{floor<days>(time)}.year();
  if (in_utc < std::chrono::year{0} || in_utc > std::chrono::year{9999}) return std::nullopt;
  return time;
}

}  // namespace muster
