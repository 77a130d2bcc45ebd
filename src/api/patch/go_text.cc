#include "api/patch/go_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "api/budget.h"

namespace muster::api {
namespace {

bool is_full(const std::string& out) { return out.size() > kLimits.text_bytes; }

void write_go(const Json& value, std::string& out) {
  if (is_full(out)) return;
  if (const JsonObject* object = value.if_object()) {
    std::vector<std::string_view> keys;
    for (const auto& member : *object) keys.push_back(member.key());
    std::ranges::sort(keys);
    out += "map[";
    for (std::size_t i = 0; i < keys.size() && !is_full(out); ++i) {
      if (i != 0) out += ' ';
      out += keys[i];
      out += ':';
      write_go(object->at(keys[i]), out);
    }
    out += ']';
  } else if (const JsonArray* array = value.if_array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size() && !is_full(out); ++i) {
      if (i != 0) out += ' ';
      write_go((*array)[i], out);
    }
    out += ']';
  } else if (value.is_string()) {
    out += std::string_view(value.get_string());
  } else if (value.is_null()) {
    out += "<nil>";
  } else {
    write_json(value, out);
  }
}

}  // namespace

std::string go_text(const Json& value) {
  std::string out;
  write_go(value, out);
  if (!is_full(out)) return out;
  out.resize(cut_utf8(out, kLimits.text_bytes).size());
  return out + "...";
}

}  // namespace muster::api
