#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/json_bounds.h"
#include "api/json_error.h"
#include "api/scratch.h"
#include "base/check.h"

namespace muster::api {
namespace {

// A parser keeps the memory of its largest document; one that grew beyond this is not kept.
constexpr std::size_t kParserBytesKept = std::size_t{1} << 20U;

// Where in the document we are; lives on the stack, written out only when a key stands twice.
struct Place {
  const Place* up = nullptr;
  std::string_view key;
  std::size_t index = 0;

  void write(std::string& out) const {
    if (up == nullptr) return;
    up->write(out);
    if (key.data() == nullptr) {
      fmt::format_to(std::back_inserter(out), "[{}]", index);
      return;
    }
    if (!out.empty()) out += '.';
    out += key;
  }
};

class Converter {
 public:
  explicit Converter(std::vector<std::string>& duplicates, boost::json::storage_ptr storage = {})
      : duplicates_(duplicates), storage_(std::move(storage)) {}

  Json convert(simdjson::dom::element element, const Place& place) {
    using simdjson::dom::element_type;
    switch (element.type()) {
      case element_type::ARRAY: return convert_array(element.get_array().value_unsafe(), place);
      case element_type::OBJECT: return convert_object(element.get_object().value_unsafe(), place);
      case element_type::INT64: return Json(element.get_int64().value_unsafe(), storage_);
      case element_type::UINT64: return Json(element.get_uint64().value_unsafe(), storage_);
      case element_type::DOUBLE: return Json(element.get_double().value_unsafe(), storage_);
      case element_type::STRING:
        return Json(to_boost(element.get_string().value_unsafe()), storage_);
      case element_type::BOOL: return Json(element.get_bool().value_unsafe(), storage_);
      case element_type::NULL_VALUE: break;
    }
    return Json(nullptr, storage_);
  }
  // Of an object, only these members.
  Json convert_members(simdjson::dom::element element,
                       std::initializer_list<std::string_view> members) {
    JsonObject out(storage_);
    simdjson::dom::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return out;
    for (const auto [key, value] : object)
      if (std::ranges::find(members, std::string_view(key)) != members.end())
        out.emplace(to_boost(key), convert(value, {}));
    return out;
  }

 private:
  static boost::json::string_view to_boost(std::string_view text) {
    return {text.data(), text.size()};
  }

  Json convert_array(simdjson::dom::array array, const Place& place) {
    JsonArray out(storage_);
    out.reserve(array.size());
    for (const simdjson::dom::element element : array)
      out.push_back(convert(element, {&place, {}, out.size()}));
    return out;
  }

  Json convert_object(simdjson::dom::object object, const Place& place) {
    JsonObject out(storage_);
    out.reserve(object.size());
    for (const auto [key, element] : object) {
      const Place here{&place, key, 0};
      const auto [member, added] = out.emplace(to_boost(key), nullptr);
      member->value() = convert(element, here);
      if (added) continue;
      std::string path;
      here.write(path);
      duplicates_.push_back(std::move(path));
    }
    return out;
  }

  std::vector<std::string>& duplicates_;
  const boost::json::storage_ptr storage_;
};

std::string refusal(std::string_view text, simdjson::error_code code) {
  if (auto syntax = json_syntax_error(text)) return *std::move(syntax);
  switch (code) {
    case simdjson::DEPTH_ERROR: return "exceeded max depth";
    case simdjson::UTF8_ERROR: return "invalid UTF-8 in JSON text";
    case simdjson::NUMBER_ERROR: return "a number is out of range";
    case simdjson::STRING_ERROR: return "invalid surrogate pair in string literal";
    default: return simdjson::error_message(code);
  }
}

// Parses, and hands the root to `use` before the parser is used again.
template <typename Use>
Result<void> with_parsed(std::string_view text, Use&& use) {
  static thread_local simdjson::dom::parser parser;
  // Sets the depth limit; parse() grows the capacity and keeps the limit. simdjson counts what is
  // innermost too, unless it is an empty list or object.
  constexpr std::size_t kLimit = kJsonDepthMax + 1;
  if (parser.max_depth() != kLimit && parser.allocate(0, kLimit) != simdjson::SUCCESS)
    return fail(Reason::InternalError, "no memory to parse JSON");
  simdjson::dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root); error)
    return fail(Reason::BadRequest, "{}", refusal(text, error));
  use(root);
  if (parser.capacity() > kParserBytesKept) parser = simdjson::dom::parser();
  return {};
}

// An object's bytes were written by us: that they parse is not a question.
template <typename Use>
void with_bytes(const Object& object, Use&& use) {
  const Result<void> parsed = with_parsed(object.bytes(), use);
  CHECK_THAT(parsed.has_value(), "{} {}: {}", object.kind().kind, key_text(object.meta()),
             parsed.error().message);
}

}  // namespace

Result<ParsedJson> parse_json(std::string_view text) {
  ParsedJson parsed;
  TRY(with_parsed(text, [&](simdjson::dom::element root) {
    parsed.value = Converter(parsed.duplicates).convert(root, {});
  }));
  return parsed;
}

Json document_in(Scratch& scratch, const Object& object) {
  std::vector<std::string> none;
  Json document(scratch.storage());
  with_bytes(object, [&](simdjson::dom::element root) {
    document = Converter(none, scratch.storage()).convert(root, {});
  });
  return document;
}

Json members_in(Scratch& scratch, const Object& object,
                std::initializer_list<std::string_view> members) {
  std::vector<std::string> none;
  Json document(scratch.storage());
  with_bytes(object, [&](simdjson::dom::element root) {
    document = Converter(none, scratch.storage()).convert_members(root, members);
  });
  return document;
}

}  // namespace muster::api
