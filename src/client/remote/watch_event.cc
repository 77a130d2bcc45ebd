#include "client/remote/watch_event.h"

#include <array>

#include "api/protobuf.h"
#include "api/scratch.h"
#include "client/https/call.h"

namespace muster::client {
namespace {

Error error_in(const api::Json& status) {
  const api::Json* const code = api::find(status, "code");
  const bool has_code = code != nullptr && code->is_int64();
  return decode_status(status, {.code = has_code ? static_cast<int>(code->get_int64()) : 0});
}

// The Status of an event of type ERROR is not made of what is kept of objects.
Result<Error> error_in_line(std::string_view line) {
  const api::ParsedJson parsed = TRY(api::parse_json(line, api::Limits::of_answers()));
  return error_in(*api::find(parsed.value, "object"));
}

}  // namespace

Result<WatchEvent> read_json_event(api::Scratch& scratch, std::string_view line,
                                   std::span<const api::Kept> kept) {
  const std::array<api::Kept, 2> members{{{"type"}, {"object", kept}}};
  api::Json parsed = TRY(api::parse_kept(scratch, line, members, api::Limits::of_answers()));
  const std::string type(api::find_string(parsed, "type"));
  api::JsonObject* const event = parsed.if_object();
  api::Json* const object = event == nullptr ? nullptr : event->if_contains("object");
  if (object == nullptr) return fail(Reason::InternalError, "an event has no object");
  if (type == "ERROR") return WatchEvent{type, nullptr, TRY(error_in_line(line))};
  return WatchEvent{type, std::move(*object)};
}

Result<WatchEvent> read_protobuf_event(api::Scratch& scratch, std::string_view frame,
                                       const api::Kind& kind, std::span<const api::Kept> kept) {
  const api::ProtobufEvent event = TRY(api::read_protobuf_event(frame));
  const api::ProtobufEnvelope envelope = TRY(api::read_protobuf_envelope(event.object));
  std::string type(event.type);
  if (type == "ERROR") {
    const api::ParsedJson status =
        TRY(api::parse_protobuf(api::schema::message("meta/v1", "Status"), envelope.raw));
    return WatchEvent{std::move(type), nullptr, error_in(status.value)};
  }
  if (envelope.kind != kind.kind)
    return fail(Reason::InternalError, "an event is about a {}", envelope.kind);
  return WatchEvent{std::move(type),
                    TRY(api::parse_protobuf_kept(scratch, *kind.message, envelope.raw, kept))};
}

bool has_protobuf(const api::Kind& kind, std::string_view version) {
  const bool is_builtin =
      kind.group.find('.') == std::string::npos || kind.group.ends_with(".k8s.io");
  return is_builtin && version == "v1";
}

}  // namespace muster::client
