#include <fmt/format.h>

#include <string>

#include "api/base64.h"
#include "api/reading.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"

// ConfigMaps and Secrets: keys, sizes, and what may not change any more.
namespace muster::api::rules {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1024} * 1024;
constexpr std::string_view kAccountAnnotation = "kubernetes.io/service-account.name";

enum class Form : std::uint8_t { Text, Base64 };

// Checks the keys of `member` and adds up the bytes its values stand for.
std::size_t validate_entries(const Json& document, std::string_view member, Form form,
                             FieldErrors& errors) {
  const FieldPath path(member);
  std::size_t bytes = 0;
  for (const auto& entry : members(document, member)) {
    errors.invalid_each(path.key(key_of(entry)), key_of(entry), check_config_key(key_of(entry)));
    const std::size_t length = text_of(entry.value()).size();
    bytes += form == Form::Text ? length : length / 4 * 3;
  }
  return bytes;
}

void validate_size(std::size_t bytes, std::string_view field, FieldErrors& errors) {
  if (bytes > kBytesMax) errors.too_long(FieldPath(field), kBytesMax);
}

// Once `immutable` is true, it and the data stay.
void validate_immutable_data(const Json& now, const Json& old,
                             std::initializer_list<std::string_view> data, FieldErrors& errors) {
  if (!find_true(old, "immutable")) return;
  constexpr std::string_view kWhy = "field is immutable when `immutable` is set";
  if (!find_true(now, "immutable")) errors.forbidden(FieldPath("immutable"), kWhy);
  for (const std::string_view member : data)
    if (!same_meaning(find(now, member), find(old, member)))
      errors.forbidden(FieldPath(member), kWhy);
}

// Keys that a secret of a well-known type must have.
void require_keys(const Json& secret, std::initializer_list<std::string_view> keys,
                  FieldErrors& errors) {
  const FieldPath path("data");
  for (const std::string_view key : keys)
    if (find(part_of(secret, "data"), key) == nullptr) errors.required(path.key(key));
}

void require_json(const Json& secret, std::string_view key, FieldErrors& errors) {
  const FieldPath path("data");
  const Json* value = find(part_of(secret, "data"), key);
  if (value == nullptr) return errors.required(path.key(key));
  const auto text = base64_decode(text_of(*value));
  if (!text || !parse_json(*text))
    errors.invalid(path.key(key), "<secret contents redacted>", "invalid character in JSON");
}

void validate_secret_type(const Json& secret, FieldErrors& errors) {
  const std::string_view type = find_string(secret, "type");
  if (type == "kubernetes.io/service-account-token") {
    const Json& annotations = part_of(part_of(secret, "metadata"), "annotations");
    const FieldPath path("metadata.annotations");
    if (find_string(annotations, kAccountAnnotation).empty())
      errors.required(path.key(kAccountAnnotation));
  } else if (type == "kubernetes.io/dockercfg") {
    require_json(secret, ".dockercfg", errors);
  } else if (type == "kubernetes.io/dockerconfigjson") {
    require_json(secret, ".dockerconfigjson", errors);
  } else if (type == "kubernetes.io/basic-auth") {
    const Json& data = part_of(secret, "data");
    const FieldPath path("data");
    if (find(data, "username") == nullptr && find(data, "password") == nullptr) {
      errors.required(path.key("username"));
      errors.required(path.key("password"));
    }
  } else if (type == "kubernetes.io/ssh-auth") {
    require_keys(secret, {"ssh-privatekey"}, errors);
  } else if (type == "kubernetes.io/tls") {
    require_keys(secret, {"tls.crt", "tls.key"}, errors);
  }
}

}  // namespace

void validate_config_map(const Json& now, const Json* old, FieldErrors& errors) {
  if (old != nullptr) validate_immutable_data(now, *old, {"data", "binaryData"}, errors);
  const FieldPath path("data");
  std::size_t bytes = validate_entries(now, "data", Form::Text, errors);
  for (const auto& entry : members(now, "data"))
    if (members(now, "binaryData").contains(entry.key()))
      errors.invalid(path.key(key_of(entry)), key_of(entry),
                     "duplicate of key present in binaryData");
  bytes += validate_entries(now, "binaryData", Form::Base64, errors);
  validate_size(bytes, "", errors);
}

// What is written as plain text is stored, and read, like all other data.
void default_secret(JsonObject& secret) {
  const Json* plain = secret.if_contains("stringData");
  if (plain == nullptr) return;
  if (plain->is_object()) {
    const JsonObject texts = plain->get_object();
    JsonObject& data = ensure_object(secret, "data");
    for (const auto& text : texts) data[text.key()] = base64_encode(text_of(text.value()));
  }
  secret.erase("stringData");
}

void validate_secret(const Json& now, const Json* old, FieldErrors& errors) {
  if (old != nullptr) {
    const std::string_view type = find_string(now, "type");
    if (type != find_string(*old, "type")) errors.invalid(FieldPath("type"), type, kImmutableField);
    validate_immutable_data(now, *old, {"data"}, errors);
  }
  validate_size(validate_entries(now, "data", Form::Base64, errors), "data", errors);
  validate_secret_type(now, errors);
}

}  // namespace muster::api::rules
