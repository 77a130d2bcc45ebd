#include "api/values/time_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "api/values/time_zones.h"

namespace muster::api {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kHeaderBytes = 44;
// The largest file of the database has some three hundred changes.
constexpr std::int64_t kChangesMax = 10'000;
constexpr std::int64_t kTypesMax = 256;

// The counts in the header of one of the two blocks of a file.
struct Counts {
  std::int64_t utc_flags, standard_flags, leaps, changes, types, letters;

  std::int64_t bytes(std::int64_t time_bytes) const {
    return changes * (time_bytes + 1) + types * 6 + letters + leaps * (time_bytes + 4) +
           standard_flags + utc_flags;
  }
};

std::int64_t big_endian(std::string_view bytes) {
  std::uint64_t value = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0 ? ~0ULL : 0;
  for (const char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}

std::optional<Counts> read_header(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with("TZif") || bytes[4] < '2')
    return std::nullopt;
  std::array<std::int64_t, 6> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = big_endian(bytes.substr(20 + 4 * i, 4));
    if (counts[i] < 0 || counts[i] > kChangesMax) return std::nullopt;
  }
  const Counts out{.utc_flags = counts[0],
                   .standard_flags = counts[1],
                   .leaps = counts[2],
                   .changes = counts[3],
                   .types = counts[4],
                   .letters = counts[5]};
  if (out.types < 1 || out.types > kTypesMax) return std::nullopt;
  return out;
}

// Reads of the text of a rule; each takes what it reads away.
bool skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<unsigned> read_number(std::string_view& text) {
  unsigned value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 4 && text[digits] >= '0' && text[digits] <= '9')
    value = value * 10 + static_cast<unsigned>(text[digits++] - '0');
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

// "CET" or "<+03>".
bool skip_name(std::string_view& text) {
  const bool quoted = text.starts_with('<');
  std::size_t end = 0;
  if (quoted) {
    end = text.find('>');
    if (end == std::string_view::npos) return false;
    ++end;
  } else {
    while (end < text.size() &&
           ((text[end] >= 'A' && text[end] <= 'Z') || (text[end] >= 'a' && text[end] <= 'z')))
      ++end;
  }
  text.remove_prefix(end);
  return end > 0;
}

// "-1", "5:30", "+167:59:59".
std::optional<seconds> read_time(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto whole = read_number(text);
  if (!whole) return std::nullopt;
  seconds time = hours{*whole};
  if (skip(text, ':')) {
    time += minutes{read_number(text).value_or(0)};
    if (skip(text, ':')) time += seconds{read_number(text).value_or(0)};
  }
  return negative ? -time : time;
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view bytes) {
  const auto broken = [] { return fail(Reason::BadRequest, "this is no time zone file"); };
  const std::optional<Counts> old = read_header(bytes);
  if (!old) return broken();
  // The first block has times of 32 bits, for readers of old.
  const std::size_t second = kHeaderBytes + static_cast<std::size_t>(old->bytes(4));
  if (bytes.size() < second) return broken();
  bytes.remove_prefix(second);
  const std::optional<Counts> counts = read_header(bytes);
  if (!counts) return broken();
  bytes.remove_prefix(kHeaderBytes);
  if (bytes.size() < static_cast<std::size_t>(counts->bytes(8))) return broken();

  const auto changes = static_cast<std::size_t>(counts->changes);
  const std::string_view times = bytes.substr(0, changes * 8);
  const std::string_view used = bytes.substr(changes * 8, changes);
  const std::string_view types =
      bytes.substr(changes * 9, static_cast<std::size_t>(counts->types) * 6);
  const auto offset_of = [&](std::size_t type) {
    return seconds{big_endian(types.substr(type * 6, 4))};
  };
  TimeZone zone;
  zone.first_offset_ = offset_of(0);
  for (std::size_t i = 0; i < changes; ++i) {
    const auto type = static_cast<unsigned char>(used[i]);
    if (type >= counts->types) return broken();
    // Before the Big Bang, says the database of some zones.
    const std::int64_t at =
        std::max<std::int64_t>(big_endian(times.substr(i * 8, 8)), -(1LL << 38));
    zone.changes_.push_back({.at = Time{seconds{at}}, .offset = offset_of(type)});
  }
  zone.standard_ = zone.changes_.empty() ? zone.first_offset_ : zone.changes_.back().offset;
  std::string_view rule = bytes.substr(static_cast<std::size_t>(counts->bytes(8)));
  if (skip(rule, '\n')) zone.read_rule(rule.substr(0, rule.find('\n')));
  return zone;
}

void TimeZone::read_rule(std::string_view text) {
  if (!skip_name(text)) return;
  const auto standard = read_time(text);
  if (!standard) return;
  standard_ = -*standard;  // POSIX counts westward
  if (!skip_name(text)) return;
  Summer summer{.offset = standard_ + hours{1}, .begin = {}, .end = {}};
  if (!text.starts_with(',')) {
    const auto offset = read_time(text);
    if (!offset) return;
    summer.offset = -*offset;
  }
  const auto begin = read_change(text);
  const auto end = read_change(text);
  if (!begin || !end) return;
  summer.begin = *begin;
  summer.end = *end;
  summer_ = summer;
}

std::optional<TimeZone::YearlyChange> TimeZone::read_change(std::string_view& text) {
  if (!skip(text, ',') || !skip(text, 'M')) return std::nullopt;
  const auto month = read_number(text);
  if (!month || !skip(text, '.')) return std::nullopt;
  const auto week = read_number(text);
  if (!week || !skip(text, '.')) return std::nullopt;
  const auto weekday = read_number(text);
  if (!weekday || *month < 1 || *month > 12 || *week < 1 || *week > 5 || *weekday > 6)
    return std::nullopt;
  YearlyChange change{
      .month = *month, .week = *week, .weekday = *weekday, .time = std::chrono::hours{2}};
  if (skip(text, '/')) change.time = read_time(text).value_or(change.time);
  return change;
}

Time TimeZone::YearlyChange::in(std::chrono::year year, seconds offset_before) const {
  using std::chrono::sys_days;
  const auto of_month = year / std::chrono::month{month};
  const std::chrono::weekday day{weekday};
  const sys_days date =
      week == 5 ? sys_days{of_month / day[std::chrono::last]} : sys_days{of_month / day[week]};
  return date + time - offset_before;
}

TimeZone::Span TimeZone::at(Time time) const {
  const auto after = std::ranges::upper_bound(changes_, time, {}, &Change::at);
  if (after == changes_.end()) return by_rule(time);
  return {.offset = after == changes_.begin() ? first_offset_ : std::prev(after)->offset,
          .until = after->at};
}

TimeZone::Span TimeZone::by_rule(Time time) const {
  if (!summer_) return {.offset = standard_};
  const auto year = std::chrono::year_month_day{std::chrono::floor<days>(time)}.year();
  Span span{.offset = standard_};
  Time since = Time::min();
  // The change before and the one after are in this year or beside it.
  for (const std::chrono::year each :
       {year - std::chrono::years{1}, year, year + std::chrono::years{1}})
    for (const bool begins : {true, false}) {
      const Time at =
          begins ? summer_->begin.in(each, standard_) : summer_->end.in(each, summer_->offset);
      if (at > time) {
        span.until = std::min(span.until, at);
      } else if (at > since) {
        since = at;
        span.offset = begins ? summer_->offset : standard_;
      }
    }
  return span;
}

Result<TimeZone> read_system_time_zone(const std::string& name) {
  if (name == "UTC") return TimeZone();
  // Only names of the list: none leads out of the folder.
  if (!is_time_zone(name)) return fail(Reason::NotFound, "unknown time zone {}", name);
  std::ifstream file("/usr/share/zoneinfo/" + name, std::ios::binary);
  if (!file)
    return fail(Reason::NotFound,
                "unknown time zone {}: /usr/share/zoneinfo has no file for it (package tzdata)",
                name);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return TimeZone::parse(bytes);
}

std::string format_local_time(Time time, const TimeZone& zone) {
  const seconds offset = zone.at(time).offset;
  std::string text = format_time(time + offset);
  if (offset == seconds{}) return text;
  text.pop_back();  // Z
  const std::int64_t away = std::chrono::duration_cast<minutes>(std::chrono::abs(offset)).count();
  return fmt::format("{}{}{:02}:{:02}", text, offset < seconds{} ? '-' : '+', away / 60, away % 60);
}

}  // namespace muster::api
