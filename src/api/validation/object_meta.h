#pragma once

#include <cstdint>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/validation/field_errors.h"

namespace muster::api {

enum class NameRule : std::uint8_t { DnsSubdomain, DnsLabel, Dns1035Label, PathSegment };

// The rules for the metadata of a kind.
struct MetaRules {
  NameRule name = NameRule::DnsSubdomain;
  bool namespaced = true;
  bool known_finalizers = false;  // core kinds: a finalizer without prefix must be a known one
};
MetaRules meta_rules(const Kind& kind);

Messages check_name(NameRule rule, std::string_view name);

// The metadata of a document on create: after a name was generated, uid and timestamps were set.
void validate_object_meta(const Json& document, const MetaRules& rules, FieldErrors& errors);
// What an update may not change, and what it sets. `old` is what is stored.
void validate_object_meta_update(const Json& now, const Json& old, FieldErrors& errors);

// Also used by pod templates and selectors.
void validate_labels(const JsonObject& labels, const FieldPath& path, FieldErrors& errors);
void validate_annotations(const JsonObject& annotations, const FieldPath& path,
                          FieldErrors& errors);

}  // namespace muster::api
