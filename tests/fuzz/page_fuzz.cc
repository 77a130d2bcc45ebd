#include <algorithm>
#include <string>

#include "api/base64.h"
#include "api/json.h"
#include "fuzzing.h"
#include "server/core/read/paging.h"

namespace {

using namespace muster;

std::string url64(std::string_view text) {
  std::string out = api::base64_encode(text);
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  out.erase(std::min(out.find('='), out.size()));
  return out;
}

void require_round_trip(std::string_view text) {
  const auto token = server::ContinueToken::parse(text);
  const std::string renewed = server::renewed_token(text);
  fuzz::require(token.has_value() == !renewed.empty());
  if (!token) return;
  const auto again = server::ContinueToken::parse(token->text());
  fuzz::require(again && again->revision == token->revision && again->start == token->start);
  const auto newest = server::ContinueToken::parse(renewed);
  fuzz::require(newest && newest->revision.value == -1 && newest->start == token->start);
}

}  // namespace

// The continue token of a list, as it is sent and as what it stands for: refused, or the same place
// once it is written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  const std::string_view text = fuzz::text(data, size);
  require_round_trip(text);
  require_round_trip(url64(text));
  return 0;
}
