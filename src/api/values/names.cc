#include "api/values/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::api {
namespace {

constexpr std::size_t kLabelLengthMax = 63;
constexpr std::size_t kSubdomainLengthMax = 253;
constexpr std::size_t kPortNameLengthMax = 15;

constexpr std::string_view kLabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainRegex =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view k1035Regex = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kQualifiedNameRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kLabelValueRegex = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr std::string_view kQualifiedNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";

// Not <cctype>: its answers depend on the locale.
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
constexpr bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

// Not empty, `ends` at both ends, `inner` everywhere.
template <typename Ends, typename Inner>
bool matches(std::string_view name, Ends ends, Inner inner) {
  return !name.empty() && ends(name.front()) && ends(name.back()) &&
         std::ranges::all_of(name, inner);
}

bool is_label(std::string_view name) {
  return matches(name, is_lower_or_digit, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_subdomain(std::string_view name) {
  while (true) {
    const std::size_t dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool is_qualified_part(std::string_view name) {
  return matches(name, is_alphanumeric,
                 [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_long(std::size_t length_max, LengthWord word) {
  return fmt::format("must be no more than {} {}", length_max,
                     word == LengthWord::Bytes ? "bytes" : "characters");
}

// The double space before "or" is upstream's.
std::string regex_message(std::string_view rule, std::string_view regex,
                          std::initializer_list<std::string_view> examples) {
  std::string message(rule);
  message += " (e.g. ";
  bool first = true;
  for (const std::string_view example : examples) {
    if (!first) message += " or ";
    message += fmt::format("'{}', ", example);
    first = false;
  }
  return message + fmt::format("regex used for validation is '{}')", regex);
}

std::string qualified_name_message() {
  return regex_message(kQualifiedNameRule, kQualifiedNameRegex, {"MyName", "my.name", "123-abc"});
}

}  // namespace

Messages check_dns_label(std::string_view name, LengthWord word) {
  Messages messages;
  if (name.size() > kLabelLengthMax) messages.push_back(too_long(kLabelLengthMax, word));
  if (is_label(name)) return messages;
  if (is_subdomain(name))
    messages.emplace_back("must not contain dots");
  else
    messages.push_back(regex_message(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character",
        kLabelRegex, {"my-name", "123-abc"}));
  return messages;
}

Messages check_dns_subdomain(std::string_view name, LengthWord word) {
  Messages messages;
  if (name.size() > kSubdomainLengthMax) messages.push_back(too_long(kSubdomainLengthMax, word));
  if (!is_subdomain(name))
    messages.push_back(regex_message(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character",
        kSubdomainRegex, {"example.com"}));
  return messages;
}

Messages check_dns_1035_label(std::string_view name) {
  Messages messages;
  if (name.size() > kLabelLengthMax)
    messages.push_back(too_long(kLabelLengthMax, LengthWord::Characters));
  if (!is_label(name) || !is_lower(name.front()))
    messages.push_back(regex_message(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        k1035Regex, {"my-name", "abc-123"}));
  return messages;
}

Messages check_qualified_name(std::string_view name) {
  const auto slashes = std::ranges::count(name, '/');
  if (slashes > 1)
    return {"a qualified name " + qualified_name_message() +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  Messages messages;
  if (slashes == 1) {
    const std::string_view prefix = name.substr(0, name.find('/'));
    name.remove_prefix(prefix.size() + 1);
    if (prefix.empty()) {
      messages.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& message : check_dns_subdomain(prefix, LengthWord::Bytes))
        messages.push_back("prefix part " + message);
    }
  }
  if (name.empty())
    messages.emplace_back("name part must be non-empty");
  else if (name.size() > kLabelLengthMax)
    messages.push_back("name part " + too_long(kLabelLengthMax, LengthWord::Bytes));
  if (!is_qualified_part(name)) messages.push_back("name part " + qualified_name_message());
  return messages;
}

Messages check_label_value(std::string_view value) {
  Messages messages;
  if (value.size() > kLabelLengthMax)
    messages.push_back(too_long(kLabelLengthMax, LengthWord::Bytes));
  if (!value.empty() && !is_qualified_part(value))
    messages.push_back(regex_message(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        kLabelValueRegex, {"MyValue", "my_value", "12345"}));
  return messages;
}

Messages check_path_segment(std::string_view name) {
  if (name == "." || name == "..") return {fmt::format("may not be '{}'", name)};
  Messages messages;
  for (const char c : {'/', '%'})
    if (name.find(c) != std::string_view::npos)
      messages.push_back(fmt::format("may not contain '{}'", c));
  return messages;
}

Messages check_port_name(std::string_view name) {
  Messages messages;
  if (name.size() > kPortNameLengthMax)
    messages.push_back(too_long(kPortNameLengthMax, LengthWord::Characters));
  if (name.empty() ||
      !std::ranges::all_of(name, [](char c) { return is_lower_or_digit(c) || c == '-'; }))
    messages.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (std::ranges::none_of(name, is_lower))
    messages.emplace_back("must contain at least one letter (a-z)");
  if (name.find("--") != std::string_view::npos)
    messages.emplace_back("must not contain consecutive hyphens");
  if (name.starts_with('-') || name.ends_with('-'))
    messages.emplace_back("must not begin or end with a hyphen");
  return messages;
}

Messages check_environment_name(std::string_view name) {
  if (name.empty()) return {"environment variable name must be non-empty"};
  if (std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than "
      "'='"};
}

Messages check_config_key(std::string_view key) {
  Messages messages;
  if (key.size() > kSubdomainLengthMax)
    messages.push_back(too_long(kSubdomainLengthMax, LengthWord::Characters));
  const auto allowed = [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  if (key.empty() || !std::ranges::all_of(key, allowed))
    messages.push_back(
        regex_message("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                      "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  if (key == "." || key == "..")
    messages.push_back(fmt::format("must not be '{}'", key));
  else if (key.starts_with(".."))
    messages.emplace_back("must not start with '..'");
  return messages;
}

std::string as_generated(std::string_view prefix) {
  if (prefix.size() < 2 || !prefix.ends_with('-')) return std::string(prefix);
  return std::string(prefix.substr(0, prefix.size() - 2)) + "a";
}

std::string inclusive_range(std::int64_t least, std::int64_t most) {
  return fmt::format("must be between {} and {}, inclusive", least, most);
}

}  // namespace muster::api
