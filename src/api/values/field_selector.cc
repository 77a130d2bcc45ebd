#include "api/values/field_selector.h"

#include <algorithm>

namespace muster::api {
namespace {

// Splits at commas that no backslash stands before.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

Result<std::string> unescaped(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == ',' || c == '=')
      return fail(Reason::BadRequest, "invalid field selector: unescaped character in value: {}",
                  static_cast<int>(c));
    if (c != '\\') {
      text.push_back(c);
      continue;
    }
    const std::string_view escaped = value.substr(i + 1, 1);
    if (escaped != "\\" && escaped != "," && escaped != "=")
      return fail(Reason::BadRequest, "invalid field selector: invalid escape sequence: \\{}",
                  escaped);
    text.append(escaped);
    ++i;
  }
  return text;
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text.push_back('\\');
    text.push_back(c);
  }
  return text;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  std::vector<std::string_view> parts = split_terms(text);
  std::ranges::sort(parts);
  FieldSelector selector;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    std::size_t sign = part.find('=');
    if (sign == std::string_view::npos)
      return fail(Reason::BadRequest, "invalid selector: '{}'; can't understand '{}'", text, part);
    FieldTerm term;
    std::string_view value = part.substr(sign + 1);
    if (sign > 0 && part[sign - 1] == '!') {
      --sign;
      term.equal = false;
    } else if (value.starts_with('=')) {
      value.remove_prefix(1);
    }
    term.field = part.substr(0, sign);
    term.value = TRY(unescaped(value));
    selector.terms_.push_back(std::move(term));
  }
  return selector;
}

bool FieldSelector::matches(const Lookup& text_of) const {
  // Looking a field up may mean to read a whole object, so terms of one field share it. They stand
  // together, by the order of terms_.
  const FieldTerm* before = nullptr;
  std::string text;
  for (const FieldTerm& term : terms_) {
    if (before == nullptr || before->field != term.field) text = text_of(term.field);
    if ((text == term.value) != term.equal) return false;
    before = &term;
  }
  return true;
}

const std::string* FieldSelector::required_value(std::string_view field) const {
  const auto at = std::ranges::find_if(
      terms_, [&](const FieldTerm& term) { return term.equal && term.field == field; });
  return at == terms_.end() ? nullptr : &at->value;
}

std::string FieldSelector::text() const {
  std::string text;
  for (const FieldTerm& term : terms_) {
    if (!text.empty()) text += ',';
    text += term.field;
    text += term.equal ? "=" : "!=";
    text += escaped(term.value);
  }
  return text;
}

}  // namespace muster::api
