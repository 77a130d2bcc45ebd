#include "server/http/http2_headers.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace muster::server {
namespace {

Method method_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Method>, 6> kMethods = {
      {{"GET", Method::Get},
       {"HEAD", Method::Head},
       {"POST", Method::Post},
       {"PUT", Method::Put},
       {"PATCH", Method::Patch},
       {"DELETE", Method::Delete}}};
  const auto* const found =
      std::ranges::find(kMethods, name, &std::pair<std::string_view, Method>::first);
  return found == kMethods.end() ? Method::Other : found->second;
}

}  // namespace

void add_header(std::string_view name, std::string_view value, HttpRequest& into) {
  if (name == ":method") {
    into.method = method_of(value);
    into.method_name = value;
  } else if (name == ":path") {
    into.target = value;
  } else if (name == ":authority" || name == "host") {
    into.host = value;
  } else if (name == "accept") {
    if (!into.accept.empty()) into.accept += ',';
    into.accept += value;
  } else if (name == "accept-encoding") {
    into.accept_encoding = value;
  } else if (name == "authorization") {
    into.authorization = value;
  } else if (name == "content-type") {
    into.content_type = value;
  } else if (name == "if-none-match") {
    into.if_none_match = value;
  } else if (name == "user-agent") {
    into.user_agent = value;
  } else {
    into.add_impersonation(name, value);
  }
}

HeaderBlock::HeaderBlock(const HttpResponse& response, std::string_view date, bool streams) {
  add(":status", std::to_string(response.code));
  add("date", date);
  // 304 has no body, and its headers speak of the one the client already holds.
  if (response.code != 304) add("content-type", response.content_type);
  bool cache_control = false;
  for (const auto& [name, value] : response.headers) {
    add(name, value);
    cache_control = cache_control || name == "Cache-Control";
  }
  if (!cache_control) add("cache-control", "no-cache, private");
  if (!streams && response.code != 304) add("content-length", std::to_string(response.body.size()));
}

std::vector<nghttp2_nv> HeaderBlock::pairs() {
  std::vector<nghttp2_nv> out;
  out.reserve(texts_.size());
  for (auto& [name, value] : texts_)
    out.push_back({.name = reinterpret_cast<std::uint8_t*>(name.data()),
                   .value = reinterpret_cast<std::uint8_t*>(value.data()),
                   .namelen = name.size(),
                   .valuelen = value.size(),
                   .flags = NGHTTP2_NV_FLAG_NONE});
  return out;
}

void HeaderBlock::add(std::string_view name, std::string_view value) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  texts_.emplace_back(std::move(lower), value);
}

}  // namespace muster::server
