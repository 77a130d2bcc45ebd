#include "api/validation/field_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

namespace muster::api {
namespace {

// Go's %q, for text that is valid UTF-8.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  return out + '"';
}

// Quoted, or its beginning if it is too long.
std::string shown_text(std::string_view text) {
  if (text.size() <= kLimits.text_bytes) return quoted(text);
  return fmt::format("{}... ({} bytes)", quoted(cut_utf8(text, kLimits.text_bytes)), text.size());
}

std::string shown_json(const Json& value) {
  if (const auto* text = value.if_string()) return shown_text(*text);
  std::string out = beginning_of_text(value, kLimits.text_bytes);
  if (out.size() <= kLimits.text_bytes) return out;
  out.resize(cut_utf8(out, kLimits.text_bytes).size());
  return out + "...";
}

}  // namespace

std::string FieldPath::text() const {
  std::string out = parent_ == nullptr ? std::string() : parent_->text();
  if (out.size() > kLimits.path_bytes) return out;
  switch (step_) {
    case Step::Child:
      if (!out.empty()) out += '.';
      out += shortened(name_, kLimits.path_bytes);
      break;
    case Step::Key: out += fmt::format("[{}]", shortened(name_, kLimits.path_bytes)); break;
    case Step::Index: out += fmt::format("[{}]", at_); break;
  }
  return out;
}

ShownValue ShownValue::null() {
  static const Json kNull;
  return ShownValue(kNull);
}

std::string ShownValue::text() const {
  if (const auto* text = std::get_if<std::string_view>(&value_)) return shown_text(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return std::to_string(*number);
  if (const auto* quantity = std::get_if<const Quantity*>(&value_))
    return shown_text((*quantity)->text());
  return shown_json(*std::get<const Json*>(value_));
}

bool FieldErrors::counts() {
  ++size_;
  return causes_.size() < kLimits.causes && bytes_.left() > 0;
}

void FieldErrors::add_cause(Cause cause) {
  // The one that exceeds the budget is kept too: there is always one, and none is empty.
  (void)bytes_.spend(cause.field.size() + cause.message.size());
  causes_.push_back(std::move(cause));
}

void FieldErrors::add(std::string_view type, const FieldPath& path, std::string message,
                      std::string_view detail) {
  if (!detail.empty()) {
    message += ": ";
    message += shortened(detail);
  }
  add_cause({std::string(type), path.text(), std::move(message)});
}

void FieldErrors::required(const FieldPath& path, std::string_view detail) {
  if (counts()) add("FieldValueRequired", path, "Required value", detail);
}

void FieldErrors::invalid(const FieldPath& path, const ShownValue& value, std::string_view detail) {
  if (counts()) add("FieldValueInvalid", path, "Invalid value: " + value.text(), detail);
}

void FieldErrors::invalid(const FieldPath& path, std::string_view detail) {
  if (counts()) add("FieldValueInvalid", path, "Invalid value", detail);
}

void FieldErrors::invalid_each(const FieldPath& path, std::string_view value,
                               const Messages& messages) {
  for (const std::string& message : messages) invalid(path, value, message);
}

void FieldErrors::not_supported(const FieldPath& path, const ShownValue& value,
                                std::span<const std::string_view> supported) {
  if (!counts()) return;
  std::vector<std::string> choices;
  for (const std::string_view choice : supported) choices.push_back(quoted(choice));
  add("FieldValueNotSupported", path, "Unsupported value: " + value.text(),
      fmt::format("supported values: {}", fmt::join(choices, ", ")));
}

void FieldErrors::not_found(const FieldPath& path, const ShownValue& value,
                            std::string_view detail) {
  if (counts()) add("FieldValueNotFound", path, "Not found: " + value.text(), detail);
}

void FieldErrors::duplicate(const FieldPath& path, const ShownValue& value,
                            std::string_view detail) {
  if (counts()) add("FieldValueDuplicate", path, "Duplicate value: " + value.text(), detail);
}

void FieldErrors::forbidden(const FieldPath& path, std::string_view detail) {
  if (counts()) add("FieldValueForbidden", path, "Forbidden", detail);
}

void FieldErrors::too_long(const FieldPath& path, std::size_t bytes_max) {
  if (counts())
    add("FieldValueTooLong", path, "Too long",
        fmt::format("may not be more than {} bytes", bytes_max));
}

void FieldErrors::too_many(const FieldPath& path, std::size_t count, std::size_t items_max) {
  if (counts())
    add("FieldValueTooMany", path, fmt::format("Too many: {}", count),
        fmt::format("must have at most {} {}", items_max, items_max == 1 ? "item" : "items"));
}

void FieldErrors::repeat_last(std::size_t times) {
  if (causes_.size() != size_) {  // the last one was not kept, so nor are these
    size_ += times;
    return;
  }
  for (; times > 0 && counts(); --times) add_cause(Cause(causes_.back()));
  if (times > 1) size_ += times - 1;
}

void FieldErrors::append(FieldErrors other) {
  const std::size_t left_out = other.size_ - other.causes_.size();
  for (Cause& cause : other.causes_)
    if (counts()) add_cause(std::move(cause));
  size_ += left_out;
}

std::vector<Cause> FieldErrors::causes() const {
  std::vector<Cause> out = causes_;
  if (size_ > causes_.size())
    out.push_back({.type = "FieldValueTooMany",
                   .field = "",
                   .message = fmt::format("and {} more errors", size_ - causes_.size())});
  return out;
}

std::string FieldErrors::text() const {
  // Upstream says each sentence once here, though it keeps every cause.
  std::vector<std::string> sentences;
  std::set<std::string> said;
  for (const Cause& cause : causes()) {
    std::string sentence = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (said.insert(sentence).second) sentences.push_back(std::move(sentence));
  }
  if (sentences.size() == 1) return sentences.front();
  return fmt::format("[{}]", fmt::join(sentences, ", "));
}

Error invalid_object(const Kind& kind, std::string_view name, const FieldErrors& errors) {
  Error error = make_error(Reason::Invalid, "{} \"{}\" is invalid: {}", kind.qualified_kind(), name,
                           errors.text());
  error.causes = errors.causes();
  error.name = name;
  error.group = kind.group;
  error.kind = kind.kind;
  return error;
}

}  // namespace muster::api
