#pragma once

#include <compare>
#include <map>
#include <string>

#include "api/apply/field_set.h"
#include "api/apply/owned_fields.h"
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
  OwnedFields fields;
  std::string time;  // RFC 3339; of the last write that changed something
};

using Managers = std::map<Manager, Owned>;

// Entries that cannot be read are left out: they must not block a write.
Managers read_managers(const Json& document);
// The same, but what they own is moved out of the document, which must then be passed to
// write_managers(). If there are none the document is unchanged.
Managers take_managers(Json& document);
// Replaces managedFields, in upstream's order: applies before updates, then by time and name.
// Beyond ten updaters the oldest are listed as one, "ancient-changes".
void write_managers(Json& document, Managers managers);

FieldSet owned_by_all(const Managers& managers);

}  // namespace muster::api
