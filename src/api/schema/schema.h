#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The schema tables: every message of the API described once, by name, type, protobuf number, how
// lists merge, defaults and limits. Decoding, pruning, canonical order, defaulting, strategic
// merge, server-side apply, OpenAPI and protobuf all read these tables; nothing else knows a field
// list.
namespace muster::api::schema {

struct Message;

enum class Shape : std::uint8_t {
  String,
  Bool,
  Int32,
  Int64,
  Double,
  Bytes,        // base64 text in JSON
  Quantity,     // text or number in JSON, kept as canonical text
  IntOrString,  // number or text
  Time,         // RFC 3339, whole seconds, or null
  MicroTime,    // RFC 3339, six digits, or null
  Duration,     // Go duration text
  Any,          // JSON kept verbatim (fieldsV1, RawExtension)
  Message,
};

enum class Repeat : std::uint8_t { One, List, Map };  // Map: from string

enum class ListType : std::uint8_t { Atomic, Set, Map };  // for server-side apply

struct Field {
  std::string name;          // JSON name
  std::uint16_t number = 0;  // protobuf
  Shape shape = Shape::String;
  Repeat repeat = Repeat::One;
  const Message* message = nullptr;  // of Shape::Message
  bool optional = false;             // presence matters even for zero values (a pointer in Go)
  bool always = false;               // written even when empty: "status": {}
  bool inlined = false;              // members are put in the parent (Volume.volumeSource …)

  std::vector<std::string> merge_keys;  // strategic merge: exactly one, or none
  bool merges = false;  // strategic merge: list of scalars is a set, list of maps merges
  bool retain_keys = false;
  bool replaces = false;  // strategic merge: this map is replaced as a whole
  ListType list_type = ListType::Atomic;
  std::vector<std::string> list_keys;  // server-side apply
  bool atomic_map = false;             // server-side apply: this map is one value

  std::string default_text;          // JSON text of the default; empty = none
  std::vector<std::string> allowed;  // closed set of string values; empty = any
  bool required = false;
  std::string doc;  // one sentence of our own, for kubectl explain

  std::string label;  // "name": as JSON begins the member; derived
};

struct Message {
  std::string package;  // "core/v1", "meta/v1"
  std::string name;     // "PodSpec"
  std::string doc;
  bool object = false;        // a kind of its own: may have kind and apiVersion beside the fields
  std::vector<Field> fields;  // in the order they are written
  const Field* find(std::string_view json_name) const;  // null if unknown; sees inlined members

  // What follows is derived from the fields when the tables are read.

  // The fields as JSON has them: those of inlined messages replace their parent.
  std::vector<const Field*> members;
  std::vector<std::uint16_t> members_always;  // indices of members that are always written
  // A hash table of the members by name: index + 1, or 0 where it is free. Its size is a power of
  // two.
  std::vector<std::uint16_t> members_by_name;
  bool defaults_within = false;  // a default is stated here or in a message below
  // The member's index in `members`.
  std::optional<std::size_t> position(std::string_view json_name) const;
  // Set if the message is only a wrapper that JSON does not show: {"items": […]} is written as […].
  const Field* bare_list() const;
};

// All tables, parsed once at first use; a broken table is a CHECK failure (a test parses them all).
// Lives forever, so pointers into it do too.
const Message& message(std::string_view package, std::string_view name);
std::span<const Message* const> all_messages();

}  // namespace muster::api::schema
