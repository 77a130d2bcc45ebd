#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuzzing.h"
#include "server/http/http1_parser.h"
#include "server/http/http2_headers.h"
#include "server/http/message.h"

namespace {

using namespace muster;

using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

// What nghttp2 lets through, and HTTP/1.1 says in the same words.
bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '%';
  });
}
bool is_value(std::string_view text) {
  const auto is_visible = [](char c) { return c >= ' ' && c < 0x7f; };
  return !text.empty() && std::ranges::all_of(text, is_visible) && text.front() != ' ' &&
         text.back() != ' ';
}
// Lengths are not headers of HTTP/2, and a host is checked only in HTTP/1.1.
bool is_said_in_both(std::string_view name) {
  return name != "content-length" && name != "transfer-encoding" && name != "host";
}

void require_same_in_http1(const Headers& headers) {
  server::HttpRequest two;
  std::string text = "GET / HTTP/1.1\r\nhost: h\r\n";
  for (const auto& [name, value] : headers) {
    if (!is_name(name) || !is_value(value) || !is_said_in_both(name)) continue;
    server::add_header(name, value, two);
    text.append(name).append(": ").append(value).append("\r\n");
  }
  text += "\r\n";
  server::HttpRequest one;
  server::Http1Parser parser(one, 0);
  server::Http1Parser::error_code error;
  parser.parse(text, error);
  if (error || !parser.is_done()) return;
  fuzz::require(one.accept == two.accept && one.accept_encoding == two.accept_encoding);
  fuzz::require(one.authorization == two.authorization && one.content_type == two.content_type);
  fuzz::require(one.if_none_match == two.if_none_match && one.user_agent == two.user_agent);
  fuzz::require(one.impersonate_user == two.impersonate_user);
  fuzz::require(one.impersonate_uid == two.impersonate_uid);
  fuzz::require(one.impersonate_groups == two.impersonate_groups);
  fuzz::require(one.impersonate_extra == two.impersonate_extra);
}

// Names in an answer are in lower case, and point to text that is there.
void require_pairs(const Headers& headers, std::string_view type) {
  server::HttpResponse response;
  response.content_type = type;
  for (const auto& [name, value] : headers) response.headers.emplace_back(name, value);
  server::HeaderBlock block(response, "Thu, 01 Jan 1970 00:00:00 GMT", false);
  for (const nghttp2_nv& pair : block.pairs())
    for (const char c : fuzz::text(pair.name, pair.namelen)) fuzz::require(c < 'A' || c > 'Z');
}

}  // namespace

// Names and values of headers in turn, between zero bytes: a request in HTTP/2 says what the same
// headers say in HTTP/1.1, and takes no more memory than they are long.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  std::string_view rest = fuzz::text(data, size);
  Headers headers;
  while (!rest.empty()) {
    const std::string_view name = fuzz::cut(rest);
    headers.emplace_back(name, fuzz::cut(rest));
  }
  server::HttpRequest request;
  for (const auto& [name, value] : headers) server::add_header(name, value, request);
  fuzz::require(request.head_bytes() <= size + headers.size() * (2 * sizeof(std::string) + 1));
  require_same_in_http1(headers);
  require_pairs(headers, headers.empty() ? std::string_view() : headers.front().second);
  return 0;
}
