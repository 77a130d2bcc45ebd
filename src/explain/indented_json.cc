#include "explain/indented_json.h"

#include <utility>

namespace muster::explain {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

void write_indented(const Json& value, std::size_t depth, std::string& out) {
  const auto line = [&](std::size_t at) {
    out += '\n';
    out.append(4 * at, ' ');
  };
  bool first = true;
  if (const JsonObject* object = value.if_object(); object != nullptr && !object->empty()) {
    out += '{';
    for (const auto& member : *object) {
      if (!std::exchange(first, false)) out += ',';
      line(depth + 1);
      api::write_string(member.key(), out);
      out += ": ";
      write_indented(member.value(), depth + 1, out);
    }
    line(depth);
    out += '}';
  } else if (const JsonArray* array = value.if_array(); array != nullptr && !array->empty()) {
    out += '[';
    for (const Json& element : *array) {
      if (!std::exchange(first, false)) out += ',';
      line(depth + 1);
      write_indented(element, depth + 1, out);
    }
    line(depth);
    out += ']';
  } else {
    api::write_json(value, out);
  }
}

}  // namespace

std::string indented_json(const Json& document) {
  std::string text;
  write_indented(document, 0, text);
  return text + "\n";
}

}  // namespace muster::explain
