#include <algorithm>

#include "api/decode.h"
#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/yaml.h"
#include "fuzzing.h"

namespace {

using namespace muster;

// YAML 1.1 folds three line breaks that JSON writes as they are, and refuses a few characters that
// JSON allows. All of them are beyond ASCII, or DEL.
bool same_in_both(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x7f; });
}

}  // namespace

// Whatever a YAML document means can be said in JSON, and that JSON read as YAML means the same.
// What it means as a Pod is for decode() to say.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  for (const std::string_view document : api::split_yaml_documents(fuzz::text(data, size))) {
    auto parsed = api::parse_yaml(document);
    if (!parsed) continue;
    const std::string text = api::to_text(parsed->value);
    fuzz::require(api::parse_json(text).has_value());
    if (same_in_both(text)) {
      // In a list, because an object would take the short way through the JSON parser.
      const auto again = api::parse_yaml("[" + text + "]");
      fuzz::require(!again || api::to_text(again->value) == "[" + text + "]");
    }
    (void)api::decode(*api::kinds::pod().message, *std::move(parsed));
  }
  return 0;
}
