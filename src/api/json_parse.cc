#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/json_bounds.h"
#include "api/json_error.h"
#include "api/kept.h"
#include "api/place.h"
#include "api/scratch.h"
#include "base/check.h"

namespace muster::api {
namespace {

// A parser keeps the memory of its largest document; one that grew beyond this is not kept.
constexpr std::size_t kParserBytesKept = std::size_t{1} << 20U;

class Converter {
 public:
  Converter(std::size_t values_max, boost::json::storage_ptr storage = {})
      : values_(values_max), storage_(std::move(storage)) {}

  // Whether there were more values than allowed; then the document is not whole.
  bool is_too_large() const { return is_too_large_; }
  Reports take_duplicates() { return std::move(duplicates_); }

  Json convert(simdjson::dom::element element, const Place& place) {
    if (!values_.spend(1)) {
      is_too_large_ = true;
      return Json(nullptr, storage_);
    }
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
  // What is kept of it; see Kept.
  Json convert_kept(simdjson::dom::element element, std::span<const Kept> kept) {
    simdjson::dom::array array;
    simdjson::dom::object object;
    if (kept.empty()) return convert(element, {});
    if (element.get_array().get(array) == simdjson::SUCCESS) {
      JsonArray out(storage_);
      out.reserve(std::min(array.size(), values_.left()));
      for (const simdjson::dom::element item : array) {
        if (is_too_large_) break;
        out.push_back(convert_kept(item, kept));
      }
      return out;
    }
    if (element.get_object().get(object) != simdjson::SUCCESS) return convert(element, {});
    JsonObject out(storage_);
    const bool has_others = kept.back().name == kTheOthers;
    const std::size_t members = has_others ? object.size() : std::min(object.size(), kept.size());
    out.reserve(std::min(members, values_.left()) | 1U);  // odd: as in convert_object()
    for (const auto [key, value] : object) {
      const auto at = std::ranges::find(kept, std::string_view(key), &Kept::name);
      if (at == kept.end() ? !has_others : at->dropped) continue;
      if (is_too_large_) break;
      out.insert_or_assign(to_boost(key),
                           at == kept.end() ? convert(value, {}) : convert_kept(value, at->below));
    }
    return out;
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
    out.reserve(std::min(array.size(), values_.left()));
    for (const simdjson::dom::element element : array) {
      if (is_too_large_) break;
      out.push_back(convert(element, {.up = &place, .item = out.size()}));
    }
    return out;
  }

  Json convert_object(simdjson::dom::object object, const Place& place) {
    JsonObject out(storage_);
    // Boost takes hashes modulo this. An odd number makes every bit of a hash count, and with them
    // the address that the table is salted with, which nobody outside knows: keys that all meet in
    // one bucket cannot be prepared.
    out.reserve(std::min(object.size(), values_.left()) | 1U);
    for (const auto [key, element] : object) {
      if (is_too_large_) break;
      const Place here{.up = &place, .field = key};
      const auto [member, added] = out.emplace(to_boost(key), nullptr);
      member->value() = convert(element, here);
      if (!added) duplicates_.add([&] { return here.path(); });
    }
    return out;
  }

  Budget values_;
  bool is_too_large_ = false;
  Reports duplicates_;
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

Result<ParsedJson> parse_json(std::string_view text, const Limits& limits) {
  ParsedJson parsed;
  Converter converter(limits.values);
  TRY(with_parsed(
      text, [&](simdjson::dom::element root) { parsed.value = converter.convert(root, {}); }));
  if (converter.is_too_large())
    return fail(Reason::RequestEntityTooLarge, "the JSON text holds more than {} values",
                limits.values);
  Reports duplicates = converter.take_duplicates();
  parsed.duplicates_left_out = duplicates.left_out();
  parsed.duplicates = std::move(duplicates).kept();
  return parsed;
}

Result<Json> parse_kept(Scratch& scratch, std::string_view text, std::span<const Kept> kept,
                        const Limits& limits) {
  Json document(scratch.storage());
  Converter converter(limits.values, scratch.storage());
  TRY(with_parsed(
      text, [&](simdjson::dom::element root) { document = converter.convert_kept(root, kept); }));
  if (converter.is_too_large())
    return fail(Reason::RequestEntityTooLarge, "the JSON text holds more than {} values",
                limits.values);
  return document;
}

// What is stored has been accepted once, so it is read whatever its size.

Json document_in(Scratch& scratch, const Object& object) {
  Json document(scratch.storage());
  with_bytes(object, [&](simdjson::dom::element root) {
    document = Converter(Limits::of_answers().values, scratch.storage()).convert(root, {});
  });
  return document;
}

Json members_in(Scratch& scratch, const Object& object,
                std::initializer_list<std::string_view> members) {
  Json document(scratch.storage());
  with_bytes(object, [&](simdjson::dom::element root) {
    document =
        Converter(Limits::of_answers().values, scratch.storage()).convert_members(root, members);
  });
  return document;
}

}  // namespace muster::api
