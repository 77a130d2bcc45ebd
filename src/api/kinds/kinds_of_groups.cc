#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

Kind plain_kind(const GroupVersion& in, std::string_view name, std::string_view plural) {
  Kind kind;
  kind.group = in.group;
  kind.versions = {std::string(in.version)};
  kind.kind = name;
  kind.plural = plural;
  for (const char c : name)
    kind.singular += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  kind.message = &schema::message(in.package, name);
  return kind;
}

Subresource whole_part(const Kind& kind, std::string_view name) {
  return {.name = std::string(name),
          .kind = kind.kind,
          .body_group = {},
          .body_version = {},
          .verbs = {"get", "patch", "update"}};
}

Subresource status_part(const Kind& kind) { return whole_part(kind, "status"); }

Subresource explanation_part() {
  return {.name = "explanation",
          .kind = "Explanation",
          .body_group = "scheduling.muster.dev",
          .body_version = "v1alpha1",
          .verbs = {"create"}};
}

Subresource scale_part() {
  return {.name = "scale",
          .kind = "Scale",
          .body_group = "autoscaling",
          .body_version = "v1",
          .verbs = {"get", "patch", "update"}};
}

}  // namespace muster::api::kinds
