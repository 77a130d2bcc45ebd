#pragma once

#include <compare>
#include <map>
#include <string>

#include "api/apply/field_set.h"
#include "api/json.h"

// metadata.managedFields as a value: who owns which fields of an object.
namespace muster::api {

inline constexpr std::string_view kOperationApply = "Apply";
inline constexpr std::string_view kOperationUpdate = "Update";

// Who wrote, and how. One entry of managedFields per such name.
struct Manager {
  std::string name;
  std::string operation;    // Apply or Update
  std::string api_version;  // the version whose field names the set uses
  std::string subresource;

  friend auto operator<=>(const Manager&, const Manager&) = default;
};

struct Owned {
  FieldSet fields;
  std::string time;  // RFC 3339; of the last write that changed something
};

using Managers = std::map<Manager, Owned>;

// Entries that cannot be read are left out: they must not stand in the way of a write.
Managers read_managers(const Json& document);
// Replaces managedFields, in upstream's order: applies before updates, then by time and name.
// Beyond ten updaters the oldest are listed as one, "ancient-changes".
void write_managers(Json& document, Managers managers);

FieldSet owned_by_all(const Managers& managers);

}  // namespace muster::api
