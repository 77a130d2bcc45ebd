#include "api/apply/apply.h"
#include "api/decode.h"
#include "api/json.h"
#include "api/kinds/kind.h"
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

// A live object and a configuration, separated by a zero byte. Whether or not it is forced, the
// outcome says what the configuration says: applying it again changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  std::string_view rest = fuzz::text(data, size);
  const auto live = document(fuzz::cut(rest));
  const auto config = document(rest);
  if (!live || !config) return 0;
  const api::Write write{.manager = "m",
                         .api_version = "v1",
                         .subresource = "",
                         .now = "2026-01-01T00:00:00Z",
                         .beyond = {}};
  for (const bool force : {false, true}) {
    const auto once = api::apply(pod(), write, *live, *config, force);
    if (!once) continue;
    const std::string text = api::canonical_text(pod(), *once);
    fuzz::require(api::parse_json(text).has_value());
    // Where nobody owns anything, the next apply begins a new record.
    if (api::find_path(*once, "metadata.managedFields") == nullptr) continue;
    const auto twice = api::apply(pod(), write, *once, *config, force);
    fuzz::require(twice.has_value());
    fuzz::require(api::canonical_text(pod(), *twice) == text);
  }
  return 0;
}
