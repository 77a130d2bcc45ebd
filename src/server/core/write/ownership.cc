#include "server/core/write/ownership.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/core/strategies/document.h"

namespace muster::server {

void drop_duplicate_owners(Json& document, std::vector<std::string>& warnings) {
  const Json* owners = api::find_path(document, "metadata.ownerReferences");
  if (owners == nullptr || !owners->is_array() || owners->get_array().size() < 2) return;
  JsonArray kept;
  std::vector<std::string> doubled;  // UIDs
  for (const Json& owner : owners->get_array()) {
    if (std::ranges::find(kept, owner) == kept.end())
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
