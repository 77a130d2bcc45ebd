#include "api/decode.h"
#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/protobuf.h"
#include "api/scratch.h"
#include "fuzzing.h"

// A body, or a bare message, either stands for a document that can be written, or is refused. What
// decodes as a Pod has one canonical text, and that text decodes to itself; read as the answer of a
// server, without decoding, it has the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  using namespace muster;
  const std::string_view bytes = fuzz::text(data, size);
  const auto envelope = api::read_protobuf_envelope(bytes);
  const api::schema::Message& pod = *api::kinds::pod().message;
  const std::string_view message = envelope ? envelope->raw : bytes;
  auto parsed = api::parse_protobuf(pod, message);
  if (!parsed) return 0;
  fuzz::require(api::parse_json(api::to_text(parsed->value)).has_value());
  const auto decoded = api::decode(pod, *std::move(parsed));
  if (!decoded) return 0;
  const std::string canonical = api::canonical_text(pod, decoded->document);
  auto reread = api::parse_json(canonical);
  fuzz::require(reread.has_value());
  const auto redecoded = api::decode(pod, *std::move(reread));
  fuzz::require(redecoded.has_value() && redecoded->unknown.empty());
  fuzz::require(api::canonical_text(pod, redecoded->document) == canonical);
  api::Scratch scratch;
  const auto answered = api::parse_protobuf_kept(scratch, pod, message, {});
  fuzz::require(answered.has_value() && api::canonical_text(pod, *answered) == canonical);
  return 0;
}
