#include "server/core/bootstrap/config_map.h"

#include <utility>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/check.h"
#include "base/log.h"

namespace muster::server {
namespace {

using api::JsonObject;

const api::Kind& config_maps() {
  const api::Kind* const kind = api::find_kind("", "ConfigMap");
  CHECK(kind != nullptr);
  return *kind;
}

}  // namespace

void publish_config_map(Registry& registry, const store::Store& store, ConfigMapName name,
                        const std::map<std::string, std::string>& entries, Time now) {
  const api::ObjectPtr standing =
      store.get(store::make_key(config_maps(), name.name_space, name.name));
  JsonObject data;
  for (const auto& [key, value] : entries)
    if (!value.empty())
      data[key] = value;
    else if (standing != nullptr)
      data[key] = nullptr;
  api::Request request;
  request.verb = standing != nullptr ? api::Verb::Patch : api::Verb::Create;
  request.kind = &config_maps();
  request.version = request.kind->stored_version;
  request.name_space = name.name_space;
  request.user = {.name = "system:apiserver", .groups = {"system:masters"}};
  request.body = JsonObject{{"data", std::move(data)}};
  if (standing != nullptr)
    request.name = name.name;
  else
    request.body.as_object().emplace("metadata", JsonObject{{"name", name.name}});
  registry.submit(std::move(request), now,
                  [name = std::string(name.name)](const Result<api::Answer>& answer) {
                    if (!answer)
                      log(LogLevel::Error, "publishing {}: {}", name, answer.error().message);
                  });
  registry.flush();
}

}  // namespace muster::server
