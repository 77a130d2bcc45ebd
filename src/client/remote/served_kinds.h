#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds/kind.h"
#include "base/result.h"
#include "client/https/dialect.h"
#include "client/https/https_client.h"

namespace muster::client {

// Which kinds an API server serves, and which version to ask for each.
class ServedKinds {
 public:
  // Every kind we know in its preferred version: what our own server serves.
  static ServedKinds ours();
  // Asks the server, one small request for each group and version; blocks. Only what it answers 404
  // for is not served; with any other error all of it fails.
  static Result<ServedKinds> discover(HttpsClient& client,
                                      std::span<const api::Kind* const> kinds = api::all_kinds());

  // Null if the server does not serve the kind.
  const std::string* version_of(const api::Kind& kind) const;
  // How it names owners.
  OwnerVersions owner_versions() const;
  void set(const api::Kind& kind, std::string version) { versions_[&kind] = std::move(version); }
  void remove(const api::Kind& kind) { versions_.erase(&kind); }

 private:
  std::map<const api::Kind*, std::string> versions_;  // never iterated: the order is by address
};

}  // namespace muster::client
