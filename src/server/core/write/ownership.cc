#include "server/core/write/ownership.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "server/core/strategies/document.h"

namespace muster::server {
namespace {

// A flag that may be missing.
std::optional<bool> flag(const Json& owner, std::string_view member) {
  const Json* found = api::find(owner, member);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

// All that an owner reference says.
using OwnerKey = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                            std::optional<bool>, std::optional<bool>>;
OwnerKey owner_key(const Json& owner) {
  return {api::find_string(owner, "apiVersion"),
          api::find_string(owner, "kind"),
          api::find_string(owner, "name"),
          api::find_string(owner, "uid"),
          flag(owner, "controller"),
          flag(owner, "blockOwnerDeletion")};
}

}  // namespace

void drop_duplicate_owners(Json& document, std::vector<std::string>& warnings) {
  const Json* owners = api::find_path(document, "metadata.ownerReferences");
  if (owners == nullptr || !owners->is_array() || owners->get_array().size() < 2) return;
  JsonArray kept;
  std::vector<std::string> doubled;  // UIDs
  std::set<OwnerKey> seen;
  for (const Json& owner : owners->get_array()) {
    if (seen.insert(owner_key(owner)).second)
      kept.push_back(owner);
    else
      doubled.emplace_back(api::find_string(owner, "uid"));
  }
  if (doubled.empty()) return;
  metadata(document)["ownerReferences"] = std::move(kept);
  warnings.push_back(
      fmt::format(".metadata.ownerReferences contains duplicate entries; API server dedups owner "
                  "references in 1.20+, and may reject such requests as early as 1.24; please fix "
                  "your requests; duplicate UID(s) observed: {}",
                  fmt::join(doubled, ", ")));
}

}  // namespace muster::server
