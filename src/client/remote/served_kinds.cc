#include "client/remote/served_kinds.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "client/https/dialect.h"

namespace muster::client {
namespace {

// The plurals of what one group and version serves; empty if it is not there. Any other answer is
// an error: a server that is busy, starting or forbids to look does not say that something is
// missing.
Result<std::set<std::string, std::less<>>> resources_of(HttpsClient& client, std::string_view group,
                                                        std::string_view version) {
  const HttpReply reply =
      TRY(client.get(group.empty() ? fmt::format("/api/{}", version)
                                   : fmt::format("/apis/{}/{}", group, version)));
  std::set<std::string, std::less<>> plurals;
  if (reply.code == 404) return plurals;
  if (reply.code != 200) {
    api::Request request;
    request.kind = &api::kinds::node();
    TRY(decode_reply(request, reply));
    return fail(Reason::InternalError, "the server answered {} when asked what it serves",
                reply.code);
  }
  const api::ParsedJson parsed = TRY(api::parse_json(reply.body, api::Limits::of_answers()));
  const api::JsonArray* const resources = api::find_array(parsed.value, "resources");
  if (resources == nullptr) return plurals;
  for (const api::Json& resource : *resources) plurals.emplace(api::find_string(resource, "name"));
  return plurals;
}

}  // namespace

ServedKinds ServedKinds::ours() {
  ServedKinds served;
  for (const api::Kind* kind : api::all_kinds()) served.set(*kind, kind->versions.front());
  return served;
}

Result<ServedKinds> ServedKinds::discover(HttpsClient& client,
                                          std::span<const api::Kind* const> kinds) {
  ServedKinds served;
  std::map<std::pair<std::string, std::string>, std::set<std::string, std::less<>>> asked;
  for (const api::Kind* kind : kinds)
    for (const std::string& version : versions_to_ask(*kind)) {
      const auto [at, is_new] = asked.try_emplace({kind->group, version});
      if (is_new) at->second = TRY(resources_of(client, kind->group, version));
      if (!at->second.contains(kind->plural)) continue;
      served.set(*kind, version);
      break;
    }
  return served;
}

const std::string* ServedKinds::version_of(const api::Kind& kind) const {
  const auto at = versions_.find(&kind);
  return at == versions_.end() ? nullptr : &at->second;
}

OwnerVersions ServedKinds::owner_versions() const {
  OwnerVersions owners;
  for (const api::Kind* kind : api::all_kinds())
    if (const std::string* version = version_of(*kind)) owners.set(*kind, *version);
  return owners;
}

}  // namespace muster::client
