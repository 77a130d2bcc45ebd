#include "server/core/bootstrap/client_authority.h"

#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/check.h"
#include "base/log.h"

namespace muster::server {
namespace {

using api::JsonObject;

constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kName = "extension-apiserver-authentication";
constexpr std::string_view kKey = "client-ca-file";

const api::Kind& config_maps() {
  const api::Kind* const kind = api::find_kind("", "ConfigMap");
  CHECK(kind != nullptr);
  return *kind;
}

api::Request about_map(api::Verb verb) {
  api::Request request;
  request.verb = verb;
  request.kind = &config_maps();
  request.version = request.kind->stored_version;
  request.name_space = kNamespace;
  request.name = kName;
  request.user = {.name = "system:apiserver", .groups = {"system:masters"}};
  return request;
}

}  // namespace

void publish_client_authority(Registry& registry, const store::Store& store,
                              const std::string& certificate, Time now) {
  const api::ObjectPtr standing = store.get(store::make_key(config_maps(), kNamespace, kName));
  JsonObject data{{kKey, certificate}};
  api::Request request = about_map(standing ? api::Verb::Patch : api::Verb::Create);
  request.body = JsonObject{{"data", std::move(data)}};
  if (!standing) {
    request.name.clear();
    request.body.as_object().emplace("metadata", JsonObject{{"name", kName}});
  }
  registry.submit(std::move(request), now, [](const Result<api::Answer>& answer) {
    if (!answer) log(LogLevel::Error, "publishing the authority: {}", answer.error().message);
  });
  registry.flush();
}

}  // namespace muster::server
