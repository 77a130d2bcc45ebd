#include "api/validation/field_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

}  // namespace

std::string FieldPath::text() const {
  std::string out = parent_ == nullptr ? std::string() : parent_->text();
  switch (step_) {
    case Step::Child:
      if (!out.empty()) out += '.';
      out += name_;
      break;
    case Step::Key: out += fmt::format("[{}]", name_); break;
    case Step::Index: out += fmt::format("[{}]", at_); break;
  }
  return out;
}

ShownValue::ShownValue(std::string_view value) : text_(quoted(value)) {}

ShownValue::ShownValue(const Json& value) {
  if (const auto* text = value.if_string())
    text_ = quoted({text->data(), text->size()});
  else
    text_ = to_text(value);
}

void FieldErrors::add(std::string_view type, const FieldPath& path, std::string message,
                      std::string_view detail) {
  if (!detail.empty()) {
    message += ": ";
    message += detail;
  }
  causes_.push_back({std::string(type), path.text(), std::move(message)});
}

void FieldErrors::required(const FieldPath& path, std::string_view detail) {
  add("FieldValueRequired", path, "Required value", detail);
}

void FieldErrors::invalid(const FieldPath& path, const ShownValue& value, std::string_view detail) {
  add("FieldValueInvalid", path, "Invalid value: " + value.text(), detail);
}

void FieldErrors::invalid(const FieldPath& path, std::string_view detail) {
  add("FieldValueInvalid", path, "Invalid value", detail);
}

void FieldErrors::invalid_each(const FieldPath& path, std::string_view value,
                               const Messages& messages) {
  for (const std::string& message : messages) invalid(path, value, message);
}

void FieldErrors::not_supported(const FieldPath& path, const ShownValue& value,
                                std::span<const std::string_view> supported) {
  std::vector<std::string> choices;
  for (const std::string_view choice : supported) choices.push_back(quoted(choice));
  add("FieldValueNotSupported", path, "Unsupported value: " + value.text(),
      fmt::format("supported values: {}", fmt::join(choices, ", ")));
}

void FieldErrors::not_found(const FieldPath& path, const ShownValue& value,
                            std::string_view detail) {
  add("FieldValueNotFound", path, "Not found: " + value.text(), detail);
}

void FieldErrors::duplicate(const FieldPath& path, const ShownValue& value,
                            std::string_view detail) {
  add("FieldValueDuplicate", path, "Duplicate value: " + value.text(), detail);
}

void FieldErrors::forbidden(const FieldPath& path, std::string_view detail) {
  add("FieldValueForbidden", path, "Forbidden", detail);
}

void FieldErrors::too_long(const FieldPath& path, std::size_t bytes_max) {
  add("FieldValueTooLong", path, "Too long",
      fmt::format("may not be more than {} bytes", bytes_max));
}

void FieldErrors::too_many(const FieldPath& path, std::size_t count, std::size_t items_max) {
  add("FieldValueTooMany", path, fmt::format("Too many: {}", count),
      fmt::format("must have at most {} {}", items_max, items_max == 1 ? "item" : "items"));
}

void FieldErrors::append(FieldErrors other) {
  std::ranges::move(other.causes_, std::back_inserter(causes_));
}

std::string FieldErrors::text() const {
  // Upstream says each sentence once here, though it keeps every cause.
  std::vector<std::string> sentences;
  for (const Cause& cause : causes_) {
    std::string sentence = cause.field + ": " + cause.message;
    if (std::ranges::find(sentences, sentence) == sentences.end())
      sentences.push_back(std::move(sentence));
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
