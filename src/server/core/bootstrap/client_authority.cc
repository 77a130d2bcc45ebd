#include "server/core/bootstrap/client_authority.h"

#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/check.h"
#include "base/log.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonObject;

constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kName = "extension-apiserver-authentication";
constexpr std::string_view kKey = "client-ca-file";

api::Request about_map(api::Verb verb) {
  const api::Kind* const kind = api::find_kind("", "ConfigMap");
  CHECK(kind != nullptr);
  api::Request request;
  request.verb = verb;
  request.kind = kind;
  request.version = kind->stored_version;
  request.name_space = kNamespace;
  request.name = kName;
  request.user = {.name = "system:apiserver", .groups = {"system:masters"}};
  return request;
}

}  // namespace

void publish_client_authority(Registry& registry, const std::string& certificate, Time now) {
  const auto standing = registry.read(about_map(api::Verb::Get));
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
