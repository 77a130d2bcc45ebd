#include "api/validation/storage_words.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/object_meta.h"

namespace muster::api::rules {
namespace {

constexpr std::size_t kDriverBytesMax = 63;
constexpr std::size_t kParametersMax = 512;
constexpr std::size_t kParameterBytesMax = std::size_t{256} * 1024;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

void validate_optional_word(const Json& holder, std::string_view member,
                            std::span<const std::string_view> allowed, const FieldPath& path,
                            FieldErrors& errors) {
  const Json* word = find_set(holder, member);
  if (word != nullptr && !contains(allowed, text_of(*word)))
    errors.not_supported(path.child(member), text_of(*word), allowed);
}

void validate_driver_name(std::string_view name, const FieldPath& path, FieldErrors& errors) {
  if (name.empty()) errors.required(path);
  if (name.size() > kDriverBytesMax) errors.too_long(path, kDriverBytesMax);
  errors.invalid_each(path, name, check_dns_subdomain(lower_case(name)));
}

void validate_provisioner(std::string_view name, const FieldPath& path, FieldErrors& errors) {
  const std::string lower = lower_case(name);
  if (lower.empty())
    errors.required(path);
  else
    errors.invalid_each(path, lower, check_qualified_name(lower));
}

void validate_parameters(const Json& holder, FieldErrors& errors) {
  const FieldPath path("parameters");
  const JsonObject& parameters = members(holder, "parameters");
  if (parameters.size() > kParametersMax) return errors.too_long(path, kParametersMax);
  std::size_t bytes = 0;
  for (const auto& parameter : parameters) {
    if (key_of(parameter).empty()) errors.invalid(path, "", "field can not be empty.");
    bytes += key_of(parameter).size() + text_of(parameter.value()).size();
  }
  if (bytes > kParameterBytesMax) errors.too_long(path, kParameterBytesMax);
}

}  // namespace muster::api::rules
