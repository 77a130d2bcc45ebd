#include "server/http/http1.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <iterator>

namespace muster::server {
namespace {

constexpr std::size_t kChunkDigits = 8;

}  // namespace

std::string_view reason_phrase(int code) {
  switch (code) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 301: return "Moved Permanently";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Request Entity Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "";
  }
}

void write_head(const HttpResponse& response, const HeadOptions& options, std::string& out) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.code,
                 reason_phrase(response.code), options.date);
  const auto add = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  // 304 has no body, and its headers speak of the one the client already holds.
  if (response.code != 304) add("Content-Type", response.content_type);
  bool cache_control = false;
  for (const auto& [name, value] : response.headers) {
    add(name, value);
    cache_control = cache_control || name == "Cache-Control";
  }
  if (!cache_control) add("Cache-Control", "no-cache, private");
  if (options.streams) {
    if (!options.http_1_0) add("Transfer-Encoding", "chunked");
  } else if (response.code != 304) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", response.body.size());
  }
  if (!options.keep_alive)
    add("Connection", "close");
  else if (options.http_1_0)
    add("Connection", "keep-alive");
  out += "\r\n";
}

std::string http_date(Time time) {
  using std::chrono::floor;
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(floor<std::chrono::seconds>(time - day));
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

std::size_t open_chunk(std::string& out) {
  const std::size_t opened = out.size();
  out.append(kChunkDigits, '0').append("\r\n");
  return opened;
}

void close_chunk(std::string& out, std::size_t opened) {
  const std::size_t bytes = out.size() - opened - kChunkDigits - 2;
  if (bytes == 0) {
    out.resize(opened);
    return;
  }
  // Leading zeros are legal in a chunk size.
  fmt::format_to(out.begin() + static_cast<std::ptrdiff_t>(opened), "{:08x}", bytes);
  out += "\r\n";
}

}  // namespace muster::server
