#include "api/apply/apply.h"
#include "api/apply/typed.h"
#include "api/decode.h"
#include "api/json.h"
#include "api/kind.h"
#include "fuzzing.h"

namespace {

using namespace muster;

const api::schema::Message& pod() { return *api::kinds::pod().message; }

std::optional<api::Json> document(std::string_view text) {
  auto parsed = api::parse_json(text);
  if (!parsed) return std::nullopt;
  auto decoded = api::decode(pod(), *std::move(parsed));
  if (!decoded) return std::nullopt;
  return std::move(decoded->document);
}

}  // namespace

// A live object and a configuration, separated by a zero byte. Applied by force, the outcome says
// what the configuration says, and applying it again changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text(data, size);
  const auto live = document(fuzz::cut(rest));
  const auto config = document(rest);
  if (!live || !config) return 0;
  const api::Write write{.manager = "m",
                         .api_version = "v1",
                         .subresource = "",
                         .now = "2026-01-01T00:00:00Z",
                         .beyond = {}};
  const auto once = api::apply(pod(), write, *live, *config, true);
  if (!once) return 0;
  const auto twice = api::apply(pod(), write, *once, *config, true);
  fuzz::require(twice.has_value());
  fuzz::require(api::canonical_text(pod(), *twice) == api::canonical_text(pod(), *once));
  return 0;
}
