#include "server/core/read/paging.h"

#include <algorithm>
#include <utility>

#include "api/json.h"

namespace muster::server {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_base64url(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) out += kAlphabet[(bits >> (held - 6)) & 63U];
  }
  if (held > 0) out += kAlphabet[(bits << (6 - held)) & 63U];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<unsigned>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> held) & 255U);
    }
  }
  return out;
}

}  // namespace

std::string ContinueToken::text() const {
  return to_base64url(api::to_text(
      api::JsonObject{{"v", "meta.k8s.io/v1"}, {"rv", revision.value}, {"start", start}}));
}

Result<ContinueToken> ContinueToken::parse(std::string_view text) {
  const auto bad = [] {
    return fail(Reason::BadRequest,
                "invalid continue token: it was not issued by this "
                "server");
  };
  const auto json = from_base64url(text);
  if (!json) return bad();
  const auto parsed = api::parse_json(*json);
  if (!parsed || api::find_string(parsed->value, "v") != "meta.k8s.io/v1") return bad();
  const api::Json* revision = api::find(parsed->value, "rv");
  const api::Json* start = api::find(parsed->value, "start");
  if (revision == nullptr || !revision->is_int64() || revision->get_int64() == 0 ||
      start == nullptr || !start->is_string() || start->get_string().empty())
    return bad();
  return ContinueToken{.revision = {revision->get_int64()},
                       .start = std::string(start->get_string())};
}

std::string renewed_token(std::string_view token) {
  auto parsed = ContinueToken::parse(token);
  if (!parsed) return {};
  parsed->revision.value = -1;
  return parsed->text();
}

void PinnedListings::pin(const std::string& prefix, Listing listing) {
  std::list<Pin> dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  objects_ += listing->objects.size();
  pins_.push_front({.prefix = prefix, .listing = std::move(listing)});
  while (pins_.size() > 1 && (pins_.size() > limits_.listings || objects_ > limits_.objects)) {
    objects_ -= pins_.back().listing->objects.size();
    dropped.splice(dropped.end(), pins_, std::prev(pins_.end()));
  }
}

void PinnedListings::end_outdated(const watch::Window& window) {
  std::list<Pin> dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  for (auto pin = pins_.begin(); pin != pins_.end();) {
    const auto at = pin++;
    // Its kind's ring: keys are "pods/default/web".
    const std::string ring = at->prefix.substr(0, at->prefix.find('/'));
    if (window.read(ring, at->listing->revision, 0)) continue;
    objects_ -= at->listing->objects.size();
    dropped.splice(dropped.end(), pins_, at);
  }
}

PinnedListings::Listing PinnedListings::find(const std::string& prefix, api::Revision revision) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(pins_, [&](const Pin& pin) {
    return pin.prefix == prefix && pin.listing->revision == revision;
  });
  if (at == pins_.end()) return nullptr;
  pins_.splice(pins_.begin(), pins_, at);
  return at->listing;
}

}  // namespace muster::server
