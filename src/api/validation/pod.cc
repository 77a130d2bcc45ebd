#include "api/validation/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string>

#include "api/reading.h"
#include "api/validation/addresses.h"
#include "api/validation/containers.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/resources.h"

namespace muster::api {
namespace {

constexpr std::int64_t kIdMax = 2147483647;
constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kRestartPolicies[] = {"Always", "OnFailure", "Never"};
constexpr std::string_view kDnsPolicies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                             "None"};
constexpr std::string_view kPreemptionPolicies[] = {"PreemptLowerPriority", "Never"};
constexpr std::string_view kSystems[] = {"linux", "windows"};
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::string_view kDeletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";

void validate_host_network(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  if (!find_true(spec, "hostNetwork")) return;
  const FieldPath containers = path.child("containers");
  std::size_t at = 0;
  for (const Json& container : elements(spec, "containers")) {
    const FieldPath here = containers.index(at++);
    const FieldPath ports = here.child("ports");
    std::size_t port_at = 0;
    for (const Json& port : elements(container, "ports")) {
      const FieldPath port_path = ports.index(port_at++);
      const std::int64_t host = find_integer(port, "hostPort").value_or(0);
      if (host != 0 && host != find_integer(port, "containerPort").value_or(0))
        errors.invalid(port_path.child("hostPort"), host,
                       "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void validate_choice(const Json& spec, std::string_view member,
                     std::span<const std::string_view> choices, const FieldPath& path,
                     FieldErrors& errors) {
  const std::string_view value = find_string(spec, member);
  if (!value.empty() && std::ranges::find(choices, value) == choices.end())
    errors.not_supported(path.child(member), value, choices);
}

void validate_security_context(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const Json& context = part_of(spec, "securityContext");
  const FieldPath here = path.child("securityContext");
  for (const std::string_view member : {"fsGroup", "runAsUser", "runAsGroup"})
    if (const auto id = find_integer(context, member); id && (*id < 0 || *id > kIdMax))
      errors.invalid(here.child(member), *id, inclusive_range(0, kIdMax));
  if (find_true(spec, "shareProcessNamespace") && find_true(spec, "hostPID"))
    errors.invalid(here.child("shareProcessNamespace"), Json(true),
                   "ShareProcessNamespace and HostPID cannot both be enabled");
}

void validate_dns_config(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  constexpr std::size_t kServersMax = 3;
  constexpr std::size_t kSearchesMax = 32;
  const Json* config = find_set(spec, "dnsConfig");
  const FieldPath here = path.child("dnsConfig");
  const bool none = find_string(spec, "dnsPolicy") == "None";
  if (config == nullptr) {
    if (none) errors.required(here, "must provide `dnsConfig` when `dnsPolicy` is None");
    return;
  }
  const JsonArray& servers = elements(*config, "nameservers");
  const FieldPath servers_path = here.child("nameservers");
  if (none && servers.empty()) {
    errors.required(servers_path,
                    "must provide at least one DNS nameserver when `dnsPolicy` is None");
    return;
  }
  if (servers.size() > kServersMax)
    errors.invalid(servers_path, *find(*config, "nameservers"),
                   fmt::format("must not have more than {} nameservers", kServersMax));
  std::size_t at = 0;
  for (const Json& server : servers) {
    const FieldPath server_path = servers_path.index(at++);
    if (ip_family(text_of(server)) == IpFamily::None)
      errors.invalid(server_path, text_of(server), kBadIp);
  }
  if (elements(*config, "searches").size() > kSearchesMax)
    errors.invalid(here.child("searches"), *find(*config, "searches"),
                   fmt::format("must not have more than {} search paths", kSearchesMax));
}

void validate_gates(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const FieldPath readiness = path.child("readinessGates");
  std::size_t at = 0;
  for (const Json& gate : elements(spec, "readinessGates")) {
    const FieldPath here = readiness.index(at++);
    const std::string_view type = find_string(gate, "conditionType");
    errors.invalid_each(here.child("conditionType"), type, check_qualified_name(type));
  }
  const FieldPath scheduling = path.child("schedulingGates");
  std::set<std::string_view> seen;
  at = 0;
  for (const Json& gate : elements(spec, "schedulingGates")) {
    const FieldPath here = scheduling.index(at++);
    const std::string_view name = find_string(gate, "name");
    errors.invalid_each(here, name, check_qualified_name(name));
    if (!seen.insert(name).second) errors.duplicate(here, name);
  }
}

void validate_scheduling_group(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const Json* group = find_set(spec, "schedulingGroup");
  if (group == nullptr) return;
  const FieldPath here = path.child("schedulingGroup");
  const FieldPath name_path = here.child("podGroupName");
  if (const Json* name = find_set(*group, "podGroupName"); name == nullptr)
    errors.invalid(name_path, ShownValue::null(), "must specify one of: `podGroupName`");
  else
    errors.invalid_each(name_path, text_of(*name),
                        check_dns_subdomain(text_of(*name), LengthWord::Bytes));
  if (!elements(spec, "evictionResponders").empty())
    errors.forbidden(here, "may not be set when evictionResponders is set");
}

// Members that hold the name of something.
void validate_names(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  for (const std::string_view member : {"serviceAccountName", "nodeName"})
    if (const std::string_view name = find_string(spec, member); !name.empty())
      errors.invalid_each(path.child(member), name, check_dns_subdomain(name));
  if (const auto seconds = find_integer(spec, "activeDeadlineSeconds");
      seconds && (*seconds < 1 || *seconds > kSecondsMax))
    errors.invalid(path.child("activeDeadlineSeconds"), *seconds, inclusive_range(1, kSecondsMax));
  for (const std::string_view member : {"hostname", "subdomain"})
    if (const std::string_view name = find_string(spec, member); !name.empty())
      errors.invalid_each(path.child(member), name, check_dns_label(name));
}

void validate_host_aliases(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& alias : elements(spec, "hostAliases")) {
    const FieldPath here = path.index(at++);
    const std::string_view ip = find_string(alias, "ip");
    if (ip_family(ip) == IpFamily::None) errors.invalid(here.child("ip"), ip, kBadIp);
    const FieldPath names = here.child("hostnames");
    std::size_t name_at = 0;
    for (const Json& name : elements(alias, "hostnames"))
      errors.invalid_each(names.index(name_at++), text_of(name),
                          check_dns_subdomain(text_of(name)));
  }
}

void validate_annotations_of_pods(const Json& document, FieldErrors& errors) {
  const FieldPath path("metadata.annotations");
  for (const auto& annotation : members(part_of(document, "metadata"), "annotations")) {
    const std::string_view value = text_of(annotation.value());
    if (key_of(annotation) == kMirrorAnnotation &&
        find_string(part_of(document, "spec"), "nodeName").empty())
      errors.invalid(path.key(kMirrorAnnotation), value,
                     "must set spec.nodeName if mirror pod annotation is set");
    if (key_of(annotation) != kDeletionCostAnnotation) continue;
    std::int32_t cost = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), cost);
    if (error != std::errc{} || end != value.data() + value.size())
      errors.invalid(path.key(kDeletionCostAnnotation), value, "must be a 32bit integer");
  }
}

// What upstream demands of pods but, for old times' sake, not of templates.
void validate_only_for_pods(const Json& spec, FieldErrors& errors) {
  const FieldPath path("spec");
  for (const std::string_view list : {"containers", "initContainers"}) {
    const FieldPath containers = path.child(list);
    std::size_t at = 0;
    for (const Json& container : elements(spec, list)) {
      const FieldPath here = containers.index(at++);
      const std::string_view image = find_string(container, "image");
      constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
      if (!image.empty() && (kWhiteSpace.find(image.front()) != std::string_view::npos ||
                             kWhiteSpace.find(image.back()) != std::string_view::npos))
        errors.invalid(here.child("image"), image, "must not have leading or trailing whitespace");
    }
  }
}

void validate_system(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const Json* system = find_set(spec, "os");
  if (system == nullptr) return;
  const FieldPath here = path.child("os");
  if (find_string(*system, "name").empty())
    errors.required(here.child("name"));
  else
    validate_choice(*system, "name", kSystems, here, errors);
}

}  // namespace

void validate_pod_spec(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const PodScope scope = validate_volumes_and_claims(spec, path, errors);
  validate_containers(spec, scope, path, errors);
  if (const Json* resources = find_set(spec, "resources"))
    validate_pod_resources(*resources, path.child("resources"), errors);
  validate_host_network(spec, path, errors);
  validate_choice(spec, "restartPolicy", kRestartPolicies, path, errors);
  validate_choice(spec, "dnsPolicy", kDnsPolicies, path, errors);
  validate_labels(members(spec, "nodeSelector"), path.child("nodeSelector"), errors);
  validate_security_context(spec, path, errors);
  if (const Json* affinity = find_set(spec, "affinity"))
    validate_affinity(*affinity, path.child("affinity"), errors);
  validate_dns_config(spec, path, errors);
  validate_gates(spec, path, errors);
  validate_topology_spread(elements(spec, "topologySpreadConstraints"),
                           path.child("topologySpreadConstraints"), errors);
  validate_names(spec, path, errors);
  validate_tolerations(elements(spec, "tolerations"), path.child("tolerations"), errors);
  validate_host_aliases(spec, path.child("hostAliases"), errors);
  for (const std::string_view member : {"priorityClassName", "runtimeClassName"})
    if (const std::string_view name = find_string(spec, member); !name.empty())
      errors.invalid_each(path.child(member), name, check_dns_subdomain(name));
  validate_choice(spec, "preemptionPolicy", kPreemptionPolicies, path, errors);
  if (const Json* overhead = find_set(spec, "overhead"))
    validate_overhead(*overhead, path.child("overhead"), errors);
  validate_system(spec, path, errors);
  validate_scheduling_group(spec, path, errors);
}

void validate_pod_metadata_and_spec(const Json& document, FieldErrors& errors) {
  const Json& spec = part_of(document, "spec");
  validate_object_meta(document, {.known_finalizers = true}, errors);
  validate_annotations_of_pods(document, errors);
  validate_pod_spec(spec, FieldPath("spec"), errors);
  validate_only_for_pods(spec, errors);
}

FieldErrors validate_pod(const Json& document) {
  FieldErrors errors;
  validate_pod_metadata_and_spec(document, errors);
  const Json& spec = part_of(document, "spec");
  const FieldPath path("spec");
  if (!elements(spec, "ephemeralContainers").empty())
    errors.forbidden(path.child("ephemeralContainers"), "cannot be set on create");
  if (!find_string(spec, "nodeName").empty() && !elements(spec, "schedulingGates").empty())
    errors.forbidden(path.child("nodeName"),
                     "cannot be set until all schedulingGates have been cleared");
  return errors;
}

FieldErrors validate_binding(const Json& document) {
  constexpr std::string_view kTargets[] = {"Node", "<empty>"};
  FieldErrors errors;
  const Json& target = part_of(document, "target");
  const std::string_view kind = find_string(target, "kind");
  if (!kind.empty() && kind != "Node")
    errors.not_supported(FieldPath("target.kind"), kind, kTargets);
  if (find_string(target, "name").empty()) errors.required(FieldPath("target.name"));
  return errors;
}

}  // namespace muster::api
