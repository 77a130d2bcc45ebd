#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kept.h"
#include "api/schema/schema.h"
#include "base/result.h"

// Bodies in application/vnd.kubernetes.protobuf, which generated Go clients send by default and
// Kubernetes API servers answer with if they are asked to. We read them; we never write them.
namespace muster::api {

// How every body begins. JSON never begins like this.
inline constexpr std::string_view kProtobufMagic("k8s\0", 4);
inline bool is_protobuf(std::string_view body) { return body.starts_with(kProtobufMagic); }

struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;  // the message itself; points into the body
};

// Reads "k8s\0" and the envelope behind it. BadRequest if there is none.
Result<ProtobufEnvelope> read_protobuf_envelope(std::string_view body);

// The message as the JSON document it stands for; decode() has yet to look at it. Unknown field
// numbers become members of that name, which decode() reports and drops; zero values of fields that
// are not optional mean unset and are left out.
Result<ParsedJson> parse_protobuf(const schema::Message& root, std::string_view message_bytes);

// For answers to our own requests: in `scratch`, only what is kept (empty: all of it), and as
// decode() would leave it, so decode() is not needed. What the schema does not know is left out.
Result<Json> parse_protobuf_kept(Scratch& scratch, const schema::Message& root,
                                 std::string_view message_bytes, std::span<const Kept> kept);

// One event of a watch, and its object in an envelope of its own. They point into the frame.
struct ProtobufEvent {
  std::string_view type;
  std::string_view object;
};
Result<ProtobufEvent> read_protobuf_event(std::string_view frame);

// A list of any kind: its ListMeta and its items, as messages. They point into the message.
struct ProtobufList {
  std::string_view metadata;
  std::vector<std::string_view> items;
};
Result<ProtobufList> read_protobuf_list(std::string_view message_bytes);

}  // namespace muster::api
