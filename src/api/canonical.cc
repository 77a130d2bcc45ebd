#include "api/canonical.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/text_buffer.h"
#include "api/zero_value.h"

namespace muster::api {
namespace {

using schema::Field;
using schema::Message;
using schema::Repeat;
using schema::Shape;

// Go's omitempty drops these; the other shapes are structs there, and kept whenever they are
// present.
bool is_plain(Shape shape) {
  return shape == Shape::String || shape == Shape::Bool || shape == Shape::Int32 ||
         shape == Shape::Int64 || shape == Shape::Double || shape == Shape::Bytes;
}

std::string_view zero_text(Shape shape) {
  switch (shape) {
    case Shape::Bool: return "false";
    case Shape::Int32:
    case Shape::Int64:
    case Shape::IntOrString: return "0";
    case Shape::Double: return "0.0";
    case Shape::Quantity: return "\"0\"";
    case Shape::Time:
    case Shape::MicroTime:
    case Shape::Any: return "null";
    case Shape::String:
    case Shape::Bytes:
    case Shape::Duration:
    case Shape::Message: break;
  }
  return "\"\"";
}

const JsonObject kNoMembers;
constexpr std::string_view kMetadata = "metadata";

class Writer {
 public:
  Writer(TextBuffer& out, bool for_store) : out_(out), for_store_(for_store) {}

  void write_root(const Message& message, const Json& document) {
    const JsonObject* object = document.if_object();
    write_message(message, object == nullptr ? kNoMembers : *object);
  }
  // What follows metadata that stands in the text already.
  void write_rest(const Message& message, const Json& document) {
    metadata_end_ = out_.size();
    const JsonObject* object = document.if_object();
    ++depth_;
    for (const auto& [position, value] :
         ordered_members(message, object == nullptr ? kNoMembers : *object))
      if (const Field& field = *message.members[position]; field.name != kMetadata)
        write_member(field, value, 0);
    out_.put('}');
  }
  std::size_t metadata_end() const { return metadata_end_; }

 private:
  struct Member {
    std::size_t position;
    const Json* value;  // null if absent
  };
  using Members = boost::container::small_vector<Member, 24>;

  // The known members that are present or always written, in schema order. Most documents were
  // written by us and stand in that order already.
  static Members ordered_members(const Message& message, const JsonObject& object) {
    Members members;
    std::size_t next = 0;
    bool in_order = true;
    for (const auto& member : object) {
      const std::optional<std::size_t> position = message.position(member.key());
      if (!position) continue;
      in_order &= members.empty() || members.back().position < *position;
      members.push_back({*position, &member.value()});
    }
    if (!in_order) std::ranges::sort(members, {}, &Member::position);
    const std::size_t present = members.size();
    for (const std::size_t position : message.members_always) {
      while (next < present && members[next].position < position) ++next;
      if (next == present || members[next].position != position)
        members.push_back({position, nullptr});
    }
    if (members.size() != present) std::ranges::sort(members, {}, &Member::position);
    return members;
  }

  void write_message(const Message& message, const JsonObject& object) {
    const bool strip = std::exchange(strip_next_, false);
    const bool is_root = depth_++ == 0;
    out_.put('{');
    const std::size_t begin = out_.size();
    for (const auto& [position, value] : ordered_members(message, object)) {
      const Field& field = *message.members[position];
      if (strip && (field.name == "resourceVersion" || field.name == "selfLink")) continue;
      const bool is_metadata = is_root && for_store_ && field.name == kMetadata;
      strip_next_ = is_metadata;
      write_member(field, value, begin);
      if (is_metadata) metadata_end_ = out_.size();
    }
    out_.put('}');
    --depth_;
  }

  // Writes the member, or nothing if it is empty and may be left out.
  void write_member(const Field& field, const Json* value, std::size_t begin) {
    if (value != nullptr && value->is_null()) value = nullptr;
    if (!field.always && (value == nullptr || is_left_out(field, *value))) return;
    const std::size_t rollback = out_.size();
    if (rollback != begin) out_.put(',');
    out_.put(field.label);
    const std::size_t value_begin = out_.size();
    write_value(field, value);
    // A message may turn out empty only once its own empty members have been left out.
    const bool is_message = field.shape == Shape::Message && field.repeat == Repeat::One;
    if (is_message && !field.always && !field.optional && out_.size() == value_begin + 2)
      out_.cut(rollback);
  }

  static bool is_left_out(const Field& field, const Json& value) {
    if (field.repeat == Repeat::List) return value.is_array() && value.get_array().empty();
    if (field.repeat == Repeat::Map) return value.is_object() && value.get_object().empty();
    return !field.optional && is_plain(field.shape) && is_zero_scalar(value);
  }

  void write_value(const Field& field, const Json* value) {
    if (field.repeat == Repeat::List) {
      // Go writes null for a list that is always written, even for one that was sent empty.
      const JsonArray* items = value == nullptr ? nullptr : value->if_array();
      if (items != nullptr && !(field.always && items->empty()))
        write_items(field, *items);
      else
        out_.put(field.always ? "null" : "[]");
    } else if (field.repeat == Repeat::Map) {
      if (value != nullptr && value->is_object())
        write_map(field, value->get_object());
      else
        out_.put("{}");
    } else if (value == nullptr && field.optional) {
      out_.put("null");
    } else {
      write_one(field, value);
    }
  }

  void write_items(const Field& field, const JsonArray& items) {
    out_.put('[');
    bool first = true;
    for (const Json& item : items) {
      if (!std::exchange(first, false)) out_.put(',');
      write_one(field, &item);
    }
    out_.put(']');
  }

  void write_map(const Field& field, const JsonObject& map) {
    using Entry = std::pair<std::string_view, const Json*>;
    boost::container::small_vector<Entry, 16> entries;
    for (const auto& member : map) entries.emplace_back(member.key(), &member.value());
    std::ranges::sort(entries, {}, &Entry::first);
    out_.put('{');
    bool first = true;
    for (const auto& [key, value] : entries) {
      if (!std::exchange(first, false)) out_.put(',');
      write_string(key, out_);
      out_.put(':');
      write_one(field, value);
    }
    out_.put('}');
  }

  void write_one(const Field& field, const Json* value) {
    if (field.shape == Shape::Message) {
      if (const Field* items = field.message->bare_list())
        write_value(*items, value);
      else
        write_message(*field.message,
                      value != nullptr && value->is_object() ? value->get_object() : kNoMembers);
    } else if (value == nullptr || (value->is_null() && field.shape != Shape::Any)) {
      out_.put(zero_text(field.shape));
    } else {
      write_json(*value, out_);
    }
  }

  TextBuffer& out_;
  const bool for_store_;
  std::size_t depth_ = 0;
  bool strip_next_ = false;  // the next message is the metadata of a stored object
  std::size_t metadata_end_ = 0;
};

TextBuffer& buffer() {
  static thread_local TextBuffer buffer;
  buffer.cut(0);
  return buffer;
}

}  // namespace

// The strings are exactly as large as their texts: most of what is written here is kept.

std::string canonical_text(const Message& message, const Json& document) {
  TextBuffer& out = buffer();
  Writer(out, false).write_root(message, document);
  return std::string(out.view());
}

StoredText stored_text(const Message& message, const Json& document) {
  TextBuffer& out = buffer();
  Writer writer(out, true);
  writer.write_root(message, document);
  return {.text = std::string(out.view()), .metadata_end = writer.metadata_end()};
}

StoredText stored_text(const Message& message, std::string_view beginning, const Json& document) {
  TextBuffer& out = buffer();
  out.put(beginning);
  Writer writer(out, true);
  writer.write_rest(message, document);
  return {.text = std::string(out.view()), .metadata_end = writer.metadata_end()};
}

}  // namespace muster::api
