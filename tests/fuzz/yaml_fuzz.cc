#include "api/json.h"
#include "api/yaml.h"
#include "fuzzing.h"

// Whatever a YAML document means can be said in JSON, and JSON read as YAML means the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text = fuzz::text(data, size);
  for (const std::string_view document : api::split_yaml_documents(text)) {
    const auto parsed = api::parse_yaml(document);
    if (!parsed) continue;
    fuzz::require(api::parse_json(api::to_text(parsed->value)).has_value());
  }
  return 0;
}
