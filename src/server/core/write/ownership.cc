#include "server/core/write/ownership.h"

#include <fmt/format.h>

#include <algorithm>
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

// All that an owner reference says, first what differs between most.
using OwnerKey = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                            std::optional<bool>, std::optional<bool>>;
OwnerKey owner_key(const Json& owner) {
  return {api::find_string(owner, "uid"),  api::find_string(owner, "name"),
          api::find_string(owner, "kind"), api::find_string(owner, "apiVersion"),
          flag(owner, "controller"),       flag(owner, "blockOwnerDeletion")};
}

}  // namespace

void drop_duplicate_owners(Json& document, std::vector<std::string>& warnings) {
  const Json* owners = api::find_path(document, "metadata.ownerReferences");
  if (owners == nullptr || !owners->is_array() || owners->get_array().size() < 2) return;
  std::set<OwnerKey> seen;
  const auto is_first = [&](const Json& owner) { return seen.insert(owner_key(owner)).second; };
  if (std::ranges::all_of(owners->get_array(), is_first)) return;

  JsonArray kept;
  std::vector<std::string> doubled;  // UIDs
  seen.clear();
  for (const Json& owner : owners->get_array()) {
    if (is_first(owner))
      kept.push_back(owner);
    else
      doubled.emplace_back(api::find_string(owner, "uid"));
  }
  metadata(document)["ownerReferences"] = std::move(kept);
  warnings.push_back(
      fmt::format(".metadata.ownerReferences contains duplicate entries; API server dedups owner "
                  "references in 1.20+, and may reject such requests as early as 1.24; please fix "
                  "your requests; duplicate UID(s) observed: {}",
                  fmt::join(doubled, ", ")));
}

}  // namespace muster::server
