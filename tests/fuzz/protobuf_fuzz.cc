#include "api/json.h"
#include "api/kind.h"
#include "api/protobuf.h"
#include "fuzzing.h"

// Bytes that claim to be a protobuf body either decode to a document that can be written, or are
// refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view bytes = fuzz::text(data, size);
  const auto envelope = api::read_protobuf_envelope(bytes);
  if (envelope) (void)envelope->kind.size();
  const auto parsed = api::parse_protobuf(*api::kinds::pod().message, bytes);
  if (parsed) fuzz::require(api::parse_json(api::to_text(parsed->value)).has_value());
  return 0;
}
