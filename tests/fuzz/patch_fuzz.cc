#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/patch/patch.h"
#include "fuzzing.h"

// A document and a patch, separated by a zero byte: every kind of patch ends in a document that can
// be written, or in an error; a merge patch applied twice changes nothing the second time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  using namespace muster;
  std::string_view rest = fuzz::text(data, size);
  const auto target = api::parse_json(fuzz::cut(rest));
  const auto patch = api::parse_json(rest);
  if (!target || !patch) return 0;
  const auto writable = [](const api::Json& document) {
    fuzz::require(api::parse_json(api::to_text(document)).has_value());
  };
  if (const auto result = api::json_patch(target->value, patch->value)) writable(*result);
  if (!patch->value.is_object()) return 0;
  const api::Json merged = api::merge_patch(target->value, patch->value);
  writable(merged);
  fuzz::require(api::merge_patch(merged, patch->value) == merged);
  if (!target->value.is_object()) return 0;
  if (const auto result =
          api::strategic_merge_patch(*api::kinds::pod().message, target->value, patch->value))
    writable(*result);
  return 0;
}
