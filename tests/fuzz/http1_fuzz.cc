#include <algorithm>
#include <optional>
#include <vector>

#include "fuzzing.h"
#include "server/http/http1_parser.h"
#include "server/http/message.h"

namespace {

using namespace muster;

constexpr std::size_t kBodyBytesMax = 32U << 10U;
// Up to here no bound on what chunking costs can be met, and those depend on what comes at once.
constexpr std::size_t kComparedMax = 8U << 10U;
constexpr std::size_t kPiecesMax = 256;

struct Reading {
  std::vector<server::HttpRequest> requests;
  bool broken = false;
  bool ends_in_message = false;
};

// Reads requests, one behind the other, from a connection that brings `at_once` bytes at a time.
Reading read(std::string_view bytes, std::size_t at_once, bool discards) {
  Reading out;
  server::HttpRequest request;
  std::optional<server::Http1Parser> parser(std::in_place, request, kBodyBytesMax);
  std::size_t used = 0;
  for (std::size_t here = 0; here < bytes.size();) {
    here += std::min(at_once, bytes.size() - here);
    while (true) {
      server::Http1Parser::error_code error;
      used += parser->parse(bytes.substr(used, here - used), error);
      fuzz::require(used <= here);
      out.broken = static_cast<bool>(error);
      if (out.broken) return out;
      if (discards && parser->is_header_done() && !parser->discards())
        parser->discard_body(kBodyBytesMax);
      if (!parser->is_done()) break;
      fuzz::require(request.body.size() <= kBodyBytesMax);
      out.requests.push_back(request);
      request.clear();
      parser.emplace(request, kBodyBytesMax);
      if (used == here) break;
    }
  }
  out.ends_in_message = used < bytes.size() || parser->got_some();
  return out;
}

void require_same(const server::HttpRequest& a, const server::HttpRequest& b) {
  fuzz::require(a.method == b.method && a.method_name == b.method_name && a.target == b.target);
  fuzz::require(a.host == b.host && a.accept == b.accept && a.authorization == b.authorization);
  fuzz::require(a.accept_encoding == b.accept_encoding && a.content_type == b.content_type);
  fuzz::require(a.if_none_match == b.if_none_match && a.user_agent == b.user_agent);
  fuzz::require(a.impersonate_user == b.impersonate_user && a.impersonate_uid == b.impersonate_uid);
  fuzz::require(a.impersonate_groups == b.impersonate_groups);
  fuzz::require(a.impersonate_extra == b.impersonate_extra);
}

}  // namespace

// A byte that says how many come at once, and what a client sends. Where it is cut on its way
// changes nothing: the same requests are read, and then the same is an error, though what is wrong
// with a message may be found out later.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  std::string_view rest = fuzz::text(data, size);
  if (rest.empty()) return 0;
  const auto wanted = static_cast<std::size_t>(static_cast<unsigned char>(rest.front()));
  rest.remove_prefix(1);
  // Beast looks again at all of a chunk's head, up to 8 KiB, with each piece of it that comes: that
  // is paid by the piece.
  const std::size_t at_once = std::max(wanted, rest.size() / kPiecesMax) + 1;
  const Reading whole = read(rest, rest.size(), false);
  const Reading pieces = read(rest, at_once, false);
  (void)read(rest, at_once, true);
  if (rest.size() > kComparedMax) return 0;
  fuzz::require(whole.broken == pieces.broken || (whole.broken ? pieces : whole).ends_in_message);
  fuzz::require(whole.requests.size() == pieces.requests.size());
  for (std::size_t i = 0; i < whole.requests.size(); ++i) {
    require_same(whole.requests[i], pieces.requests[i]);
    fuzz::require(whole.requests[i].body == pieces.requests[i].body);
  }
  return 0;
}
