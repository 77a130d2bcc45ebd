#include "api/views/controller_revision_view.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/scratch.h"

namespace muster::api {
namespace {

// Go also escapes what could end a script element of HTML.
void put_string(std::string_view text, std::string& out) {
  std::string quoted;
  write_string(text, quoted);
  for (const char c : quoted) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
}

void put_sorted(const Json& value, std::string& out) {
  if (const JsonObject* object = value.if_object()) {
    std::vector<std::pair<std::string_view, const Json*>> members;
    for (const auto& member : *object) members.emplace_back(key_of(member), &member.value());
    std::ranges::sort(members);
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i != 0) out += ',';
      put_string(members[i].first, out);
      out += ':';
      put_sorted(*members[i].second, out);
    }
    out += '}';
  } else if (const JsonArray* array = value.if_array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i != 0) out += ',';
      put_sorted((*array)[i], out);
    }
    out += ']';
  } else if (value.is_string()) {
    put_string(text_of(value), out);
  } else {
    write_json(value, out);
  }
}

}  // namespace

std::string sorted_text(const Json& value) {
  std::string out;
  put_sorted(value, out);
  return out;
}

std::unique_ptr<ControllerRevisionView> ControllerRevisionView::read(const Object& revision) {
  Scratch scratch;
  const Json document = document_in(scratch, revision);
  auto view = std::make_unique<ControllerRevisionView>();
  view->number = find_integer(document, "revision").value_or(0);
  view->data = sorted_text(part_of(document, "data"));
  return view;
}

}  // namespace muster::api
