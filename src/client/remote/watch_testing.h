#pragma once

#include <string>
#include <string_view>

#include "api/json.h"
#include "api/protobuf_testing.h"

// Answers of a server in protobuf, as Kubernetes writes them.
namespace muster::client {

// A document as protobuf has it, with its kind and version around it.
inline std::string enveloped(std::string_view kind, std::string_view message) {
  std::string type;
  api::ProtobufWriter::bytes(1, "v1", type);
  api::ProtobufWriter::bytes(2, kind, type);
  std::string out("k8s\0", 4);
  api::ProtobufWriter::bytes(1, type, out);
  api::ProtobufWriter::bytes(2, message, out);
  return out;
}

inline std::string message_of(std::string_view package, std::string_view name,
                              const api::Json& value) {
  return api::ProtobufWriter::message(api::schema::message(package, name), value);
}

// A Node, a list of them, or a Status.
inline std::string to_protobuf(const api::Json& document) {
  const std::string_view kind = api::find_string(document, "kind");
  if (kind == "Status") return enveloped(kind, message_of("meta/v1", kind, document));
  if (kind == "Node") return enveloped(kind, message_of("core/v1", kind, document));
  std::string list;
  api::ProtobufWriter::bytes(1, message_of("meta/v1", "ListMeta", *api::find(document, "metadata")),
                             list);
  for (const api::Json& item : *api::find_array(document, "items"))
    api::ProtobufWriter::bytes(2, message_of("core/v1", "Node", item), list);
  return enveloped(kind, list);
}

inline std::string framed(std::string_view type, std::string_view object) {
  std::string raw;
  api::ProtobufWriter::bytes(1, object, raw);
  std::string event;
  api::ProtobufWriter::bytes(1, type, event);
  api::ProtobufWriter::bytes(2, raw, event);
  std::string out;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    out += static_cast<char>((event.size() >> shift) & 0xffU);
  return out + event;
}

}  // namespace muster::client
