#include "controllers/namespace_defaults.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/log.h"

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

}  // namespace

NamespaceDefaults::NamespaceDefaults(std::string ca_certificate, client::Send send)
    : ca_certificate_(std::move(ca_certificate)), calls_(std::move(send)) {}

std::vector<const api::Kind*> NamespaceDefaults::watched_kinds() {
  return {&api::kinds::name_space(), &accounts(), &config_maps()};
}

void NamespaceDefaults::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input))
    see(*event);
  else if (const auto* called = std::get_if<client::Called>(&input))
    take_in_outcome(*called, now);
  else
    started_ = true;
}

void NamespaceDefaults::see(const client::Event& event) {
  const api::Object& object = *event.object;
  const api::ObjectMeta& meta = object.meta();
  const bool deleted = event.type == client::Event::Type::Deleted;
  if (&object.kind() == &api::kinds::name_space()) {
    homes_[meta.name].active = !deleted && !meta.deletion_time;
    work_.add(meta.name);
    return;
  }
  const bool account = &object.kind() == &accounts() && meta.name == kAccountName;
  const bool map = &object.kind() == &config_maps() && meta.name == kMapName;
  if (!account && !map) return;
  Home& home = homes_[meta.name_space];
  if (account) home.has_account = !deleted;
  if (map) see_map(event, home);
  work_.add(meta.name_space);
}

void NamespaceDefaults::see_map(const client::Event& event, Home& home) const {
  home.has_map = home.has_wrong_map = false;
  if (event.type == client::Event::Type::Deleted) return;
  const api::Json document = event.object->document();
  const api::Json* data = api::find(document, "data");
  home.has_map = data != nullptr && *data == api::Json(map_data(ca_certificate_));
  home.has_wrong_map = !home.has_map;
}

void NamespaceDefaults::decide(const std::string& name) {
  const auto at = homes_.find(name);
  if (at == homes_.end() || at->second.asked) return;
  const Home& home = at->second;
  if (!home.active) {
    // Its contents go with it; a later namespace of the name starts anew.
    if (!home.has_account && !home.has_map && !home.has_wrong_map) homes_.erase(at);
    return;
  }
  if (!home.has_account)
    return call(
        name, client::create_request(accounts(), name,
                                     JsonObject{{"metadata", JsonObject{{"name", kAccountName}}}}));
  if (ca_certificate_.empty() || home.has_map) return;
  if (home.has_wrong_map)
    return call(name,
                client::patch_request(
                    config_maps(), name, kMapName, "", api::PatchType::JsonPatch,
                    api::JsonArray{JsonObject{
                        {"op", "add"}, {"path", "/data"}, {"value", map_data(ca_certificate_)}}}));
  call(name, create_map(name, ca_certificate_));
}

void NamespaceDefaults::call(const std::string& name, api::Request request) {
  homes_.at(name).asked = true;
  calls_.send(std::move(request), name);
}

void NamespaceDefaults::take_in_outcome(const client::Called& called, Time now) {
  const std::optional<std::string> about = calls_.take(called);
  if (!about) return;
  const std::string& name = *about;
  const auto at = homes_.find(name);
  if (at == homes_.end()) return;
  Home& home = at->second;
  home.asked = false;
  if (called.outcome) {
    home.backoff = {};
    work_.add(name);
    return;
  }
  log(LogLevel::Debug, "namespace {}: cannot make its default objects: {}", name,
      called.outcome.error().message);
  work_.retry(name, home.backoff, now);
}

std::size_t NamespaceDefaults::run_once(Time now, std::size_t limit) {
  if (!started_) return 0;
  return work_.run(now, limit, [&](const std::string& key) { decide(key); });
}

std::optional<Time> NamespaceDefaults::next_deadline() const {
  return started_ ? work_.next_deadline() : std::nullopt;
}

}  // namespace muster::controllers
