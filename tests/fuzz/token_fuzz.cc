#include <chrono>
#include <string>

#include "api/json.h"
#include "fuzzing.h"
#include "server/access/token.h"

namespace {

using namespace muster;

constexpr Time kNow{std::chrono::seconds(1'800'000'000)};

// A new one for each run: no seed is a signed token, their claims are signed here.
const server::TokenKey& key() {
  static const server::TokenKey made = *server::TokenKey::read(*server::TokenKey::make_pem());
  return made;
}

void require_same(const server::TokenClaims& a, const server::TokenClaims& b) {
  fuzz::require(a.issuer == b.issuer && a.audiences == b.audiences && a.id == b.id);
  fuzz::require(a.name_space == b.name_space && a.account == b.account &&
                a.account_uid == b.account_uid);
  fuzz::require(a.bound.has_value() == b.bound.has_value());
  if (a.bound) fuzz::require(a.bound->name == b.bound->name && a.bound->uid == b.bound->uid);
  fuzz::require(a.issued_at == b.issued_at && a.not_before == b.not_before &&
                a.expires_at == b.expires_at);
}

// A token that is ours and valid is so again once its claims are signed again; with a letter
// changed it is not.
void require_round_trip(const api::Json& said, std::size_t letter) {
  const auto claims = key().check(key().sign(said), kNow);
  if (!claims) return;
  fuzz::require(claims->issued_at <= kNow && claims->not_before <= kNow &&
                kNow < claims->expires_at);
  std::string token = key().sign(*claims);
  const auto once = key().check(token, kNow);
  fuzz::require(once.has_value());
  const auto twice = key().check(key().sign(*once), kNow);
  fuzz::require(twice.has_value());
  require_same(*once, *twice);
  char& c = token[letter % token.rfind('.')];
  c = c == 'A' ? 'B' : 'A';
  fuzz::require(!key().check(token, kNow));
}

}  // namespace

// Whatever stands behind "Bearer " is refused or ours; claims that are signed are read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  const std::string_view text = fuzz::text(data, size);
  (void)key().check(text, kNow);
  const auto said = api::parse_json(text);
  // What is longer than any token is not signed.
  if (said && size < (8U << 10U)) require_round_trip(said->value, data[0]);
  return 0;
}
