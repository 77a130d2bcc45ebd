#include "server/core/write/service_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "api/reading.h"
#include "base/check.h"
#include "server/core/request/errors.h"

namespace muster::server {
namespace {

constexpr std::string_view kDefaultAccount = "default";
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::size_t kSuffixLength = 5;
constexpr std::int64_t kReadableMode = 0644;
// An hour, and a little, by which upstream tells these tokens from others.
constexpr std::int64_t kTokenSeconds = 3607;

const api::Kind& accounts() {
  static const api::Kind* const kKind = api::find_kind("", "ServiceAccount");
  CHECK(kKind != nullptr);
  return *kKind;
}

bool is_mirror(const Json& pod) {
  const Json* annotations = api::find(api::part_of(pod, "metadata"), "annotations");
  return annotations != nullptr && api::find(*annotations, kMirrorAnnotation) != nullptr;
}

// Whether some part of the pod names a secret: a volume of any kind, a variable, an image pull.
bool uses_secrets(const Json& value) {
  constexpr std::array<std::string_view, 6> kMembers{
      "secret",       "secretName",           "secretRef",
      "secretKeyRef", "nodePublishSecretRef", "imagePullSecrets"};
  if (const JsonArray* list = value.if_array()) return std::ranges::any_of(*list, uses_secrets);
  const JsonObject* object = value.if_object();
  return object != nullptr && std::ranges::any_of(*object, [&](const auto& member) {
           return std::ranges::find(kMembers, std::string_view(member.key())) != kMembers.end() ||
                  uses_secrets(member.value());
         });
}

bool uses_tokens(const Json& spec) {
  return std::ranges::any_of(api::elements(spec, "volumes"), [](const Json& volume) {
    return std::ranges::any_of(
        api::elements(api::part_of(volume, "projected"), "sources"),
        [](const Json& source) { return api::find(source, "serviceAccountToken") != nullptr; });
  });
}

Result<void> check_mirror(const api::Request& request, const Json& pod) {
  const Json& spec = api::part_of(pod, "spec");
  std::string_view why;
  if (!api::find_string(spec, "serviceAccountName").empty())
    why = "a mirror pod may not reference service accounts";
  else if (uses_secrets(spec))
    why = "a mirror pod may not reference secrets";
  else if (uses_tokens(spec))
    why = "a mirror pod may not use ServiceAccountToken volume projections";
  if (why.empty()) return {};
  return fail(forbidden(*request.kind, spoken_name(pod), why));
}

// The pod decides, else its account, else yes.
bool wants_token(const JsonObject& spec, const Json& account) {
  constexpr std::string_view kMember = "automountServiceAccountToken";
  if (const Json* said = spec.if_contains(kMember); said != nullptr && said->is_bool())
    return said->get_bool();
  if (const Json* said = api::find(account, kMember); said != nullptr && said->is_bool())
    return said->get_bool();
  return true;
}

// The token, the certificate to verify the server by, and the namespace.
JsonObject token_volume(const std::string& name) {
  JsonObject token{
      {"serviceAccountToken", JsonObject{{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}};
  JsonObject certificate{
      {"configMap",
       JsonObject{{"name", "kube-root-ca.crt"},
                  {"items", JsonArray{JsonObject{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}};
  JsonObject name_space{
      {"downwardAPI",
       JsonObject{{"items", JsonArray{JsonObject{
                                {"path", "namespace"},
                                {"fieldRef", JsonObject{{"apiVersion", "v1"},
                                                        {"fieldPath", "metadata.namespace"}}}}}}}}};
  return {{"name", name},
          {"projected", JsonObject{{"sources", JsonArray{std::move(token), std::move(certificate),
                                                         std::move(name_space)}},
                                   {"defaultMode", kReadableMode}}}};
}

// In all containers of a list but those that mount something there already; true if in any.
bool add_mounts(JsonObject& spec, std::string_view list, const std::string& volume) {
  Json* containers = spec.if_contains(list);
  if (containers == nullptr || !containers->is_array()) return false;
  bool added = false;
  for (Json& container : containers->get_array()) {
    const bool taken = std::ranges::any_of(
        api::elements(container, "volumeMounts"),
        [](const Json& mount) { return api::find_string(mount, "mountPath") == kMountPath; });
    if (taken || !container.is_object()) continue;
    api::ensure_array(container.get_object(), "volumeMounts")
        .push_back(JsonObject{{"name", volume}, {"readOnly", true}, {"mountPath", kMountPath}});
    added = true;
  }
  return added;
}

void mount_token(Context& context, JsonObject& spec) {
  JsonArray& volumes = api::ensure_array(spec, "volumes");
  const auto own = std::ranges::find_if(volumes, [](const Json& volume) {
    return api::find_string(volume, "name").starts_with(kVolumePrefix);
  });
  const bool has_own = own != volumes.end();
  const std::string name =
      has_own ? std::string(api::find_string(*own, "name"))
              : fmt::format("{}{}", kVolumePrefix, random_suffix(context.entropy, kSuffixLength));
  const bool in_init_containers = add_mounts(spec, "initContainers", name);
  const bool in_containers = add_mounts(spec, "containers", name);
  if (!has_own && (in_init_containers || in_containers)) volumes.push_back(token_volume(name));
  if (volumes.empty()) spec.erase("volumes");
}

}  // namespace

Result<void> admit_service_account(Context& context, const api::Request& request, Json& pod) {
  if (is_mirror(pod)) return check_mirror(request, pod);
  JsonObject& spec = api::ensure_object(pod.get_object(), "spec");
  std::string name(api::find_string(api::part_of(pod, "spec"), "serviceAccountName"));
  if (name.empty()) name = kDefaultAccount;
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;  // its old name

  const api::ObjectPtr found =
      context.staging.get(store::make_key(accounts(), request.name_space, name));
  if (!found)
    return fail(
        forbidden(*request.kind, spoken_name(pod),
                  fmt::format(R"(error looking up service account {0}/{1}: serviceaccount "{1}" )"
                              "not found",
                              request.name_space, name)));
  const Json account = found->document();
  if (wants_token(spec, account)) mount_token(context, spec);
  const JsonArray* secrets = api::find_array(account, "imagePullSecrets");
  if (secrets != nullptr && api::elements(api::part_of(pod, "spec"), "imagePullSecrets").empty())
    spec["imagePullSecrets"] = *secrets;
  return {};
}

std::optional<store::Write> default_account(Context& context, std::string_view name_space) {
  std::string key = store::make_key(accounts(), name_space, kDefaultAccount);
  if (context.staging.get(key)) return std::nullopt;
  const JsonObject document{
      {"metadata", JsonObject{{"name", kDefaultAccount},
                              {"namespace", name_space},
                              {"uid", random_uuid(context.entropy)},
                              {"creationTimestamp", format_time(context.now)}}}};
  return store::Write{
      .key = std::move(key), .object = make_object(accounts(), document), .expected = {}};
}

}  // namespace muster::server
