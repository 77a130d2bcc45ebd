// What stands around the objects in the answers of a server.
#include <optional>
#include <string_view>

#include "api/protobuf.h"
#include "api/protobuf_wire.h"

namespace muster::api {

// An event has no envelope, but its object has: {1 type, 2 {1 raw}}.
Result<ProtobufEvent> read_protobuf_event(std::string_view frame) {
  const auto event = wire::SmallMessage::read(frame);
  if (!event) return wire::malformed();
  const auto object = wire::SmallMessage::read(event->fields[2].bytes);
  if (!object) return wire::malformed();
  return ProtobufEvent{.type = event->fields[1].bytes, .object = object->fields[1].bytes};
}

Result<ProtobufList> read_protobuf_list(std::string_view message_bytes) {
  ProtobufList list;
  for (wire::Reader reader(message_bytes); !reader.done();) {
    const auto token = reader.next();
    if (!token) return wire::malformed();
    if (token->type != wire::Type::Bytes) continue;
    if (token->number == 1) list.metadata = token->bytes;
    if (token->number == 2) list.items.push_back(token->bytes);
  }
  return list;
}

}  // namespace muster::api
