#include "api/decode.h"
#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "fuzzing.h"

// JSON that parses writes back to text that parses to the same; what decodes as a Pod has one
// canonical text, and that text decodes to itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  using namespace muster;
  auto parsed = api::parse_json(fuzz::text(data, size));
  if (!parsed) return 0;
  const std::string text = api::to_text(parsed->value);
  const auto again = api::parse_json(text);
  fuzz::require(again.has_value());
  fuzz::require(api::to_text(again->value) == text);

  const api::schema::Message& pod = *api::kinds::pod().message;
  auto decoded = api::decode(pod, *std::move(parsed));
  if (!decoded) return 0;
  api::apply_defaults(pod, decoded->document);
  const std::string canonical = api::canonical_text(pod, decoded->document);
  auto reread = api::parse_json(canonical);
  fuzz::require(reread.has_value());
  auto redecoded = api::decode(pod, *std::move(reread));
  fuzz::require(redecoded.has_value());
  fuzz::require(redecoded->unknown.empty());
  fuzz::require(api::canonical_text(pod, redecoded->document) == canonical);
  return 0;
}
