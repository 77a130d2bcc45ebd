#include "controllers/namespace_defaults.h"

#include <string_view>
#include <utility>

#include "base/check.h"

namespace muster::controllers {
namespace {

using api::JsonObject;

constexpr std::string_view kAccountName = "default";
constexpr std::string_view kMapName = "kube-root-ca.crt";
constexpr std::string_view kMapKey = "ca.crt";

const api::Kind& core_kind(std::string_view name) {
  const api::Kind* kind = api::find_kind("", name);
  CHECK(kind != nullptr);
  return *kind;
}

const api::Kind& accounts() {
  static const api::Kind& kKind = core_kind("ServiceAccount");
  return kKind;
}

const api::Kind& config_maps() {
  static const api::Kind& kKind = core_kind("ConfigMap");
  return kKind;
}

JsonObject map_data(const std::string& certificate) { return {{kMapKey, certificate}}; }

api::Request create_map(const std::string& name_space, const std::string& certificate) {
  return client::create_request(
      config_maps(), name_space,
      JsonObject{{"metadata",
                  JsonObject{{"name", kMapName},
                             {"annotations",
                              JsonObject{{"kubernetes.io/description",
                                          "Contains a CA bundle that can be used to verify the "
                                          "kube-apiserver when using internal endpoints such as "
                                          "the internal service IP or kubernetes.default.svc. No "
                                          "other usage is guaranteed across distributions of "
                                          "Kubernetes clusters."}}}}},
                 {"data", map_data(certificate)}});
}

api::Request correct_map(const std::string& name_space, const std::string& certificate) {
  return client::patch_request(
      config_maps(), name_space, kMapName, "", api::PatchType::JsonPatch,
      api::JsonArray{
          JsonObject{{"op", "add"}, {"path", "/data"}, {"value", map_data(certificate)}}});
}

}  // namespace

NamespaceDefaults::NamespaceDefaults(std::string ca_certificate, client::ComponentContext context)
    : Controller("namespace-defaults", std::move(context),
                 {{.kind = &api::kinds::name_space(), .mirror = &namespaces_, .keys_of = own_key},
                  {.kind = &accounts(),
                   .mirror = &accounts_,
                   .keys_of = namespace_of,
                   .only = [](const auto& account) { return account.meta().name == kAccountName; }},
                  {.kind = &config_maps(),
                   .mirror = &config_maps_,
                   .keys_of = namespace_of,
                   .only = [](const auto& map) { return map.meta().name == kMapName; }}}),
      ca_certificate_(std::move(ca_certificate)) {}

NamespaceDefaults::Keys NamespaceDefaults::namespace_of(const Change& change) {
  return {change.newest().meta().name_space};
}

void NamespaceDefaults::reconcile(const std::string& key, Time /*now*/) {
  const api::ObjectPtr name_space = namespaces_.find("", key);
  // The contents of a namespace that is being deleted go with it.
  if (name_space == nullptr || name_space->meta().deletion_time) return;
  if (accounts_.find(key, kAccountName) == nullptr)
    return call(
        key, client::create_request(accounts(), key,
                                    JsonObject{{"metadata", JsonObject{{"name", kAccountName}}}}));
  if (ca_certificate_.empty()) return;
  const api::ObjectPtr map = config_maps_.find(key, kMapName);
  if (map == nullptr) return call(key, create_map(key, ca_certificate_));
  const api::Json document = map->document();
  const api::Json* data = api::find(document, "data");
  if (data == nullptr || *data != api::Json(map_data(ca_certificate_)))
    call(key, correct_map(key, ca_certificate_));
}

}  // namespace muster::controllers
