#include "api/validation/containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/reading.h"
#include "api/validation/resources.h"

namespace muster::api {
namespace {

using Names = std::set<std::string_view>;

constexpr std::int64_t kIdMax = 2147483647;
constexpr std::int64_t kPortMax = 65535;
constexpr std::string_view kProtocols[] = {"SCTP", "TCP", "UDP"};
constexpr std::string_view kPullPolicies[] = {"Always", "IfNotPresent", "Never"};
constexpr std::string_view kMessagePolicies[] = {"File", "FallbackToLogsOnError"};
constexpr std::string_view kRestartPolicies[] = {"Always", "Never", "OnFailure"};
constexpr std::string_view kMoreThanOneHandler = "may not specify more than 1 handler type";

bool contains(std::span<const std::string_view> choices, std::string_view value) {
  return std::ranges::find(choices, value) != choices.end();
}

// A closed set of words; an empty one has been or will be defaulted.
void validate_choice(const Json& parent, std::string_view member,
                     std::span<const std::string_view> choices, const FieldPath& path,
                     FieldErrors& errors) {
  const std::string_view value = find_string(parent, member);
  if (!value.empty() && !contains(choices, value))
    errors.not_supported(path.child(member), value, choices);
}

void validate_port_number(std::int64_t port, const FieldPath& path, FieldErrors& errors) {
  if (port < 1 || port > kPortMax) errors.invalid(path, port, inclusive_range(1, kPortMax));
}

void validate_ports(const Json& container, const FieldPath& path, FieldErrors& errors) {
  Names names;
  std::size_t at = 0;
  for (const Json& port : elements(container, "ports")) {
    const FieldPath here = path.index(at++);
    if (const std::string_view name = find_string(port, "name"); !name.empty()) {
      const Messages messages = check_port_name(name);
      errors.invalid_each(here.child("name"), name, messages);
      if (messages.empty() && !names.insert(name).second)
        errors.duplicate(here.child("name"), name);
    }
    const std::int64_t number = find_integer(port, "containerPort").value_or(0);
    if (number == 0)
      errors.required(here.child("containerPort"));
    else
      validate_port_number(number, here.child("containerPort"), errors);
    if (const auto host = find_integer(port, "hostPort"); host && *host != 0)
      validate_port_number(*host, here.child("hostPort"), errors);
    validate_choice(port, "protocol", kProtocols, here, errors);
  }
}

std::string_view protocol_of(const Json& port) {
  const std::string_view protocol = find_string(port, "protocol");
  return protocol.empty() ? "TCP" : protocol;
}

// Host ports that two containers of a pod (or one twice) would take.
void validate_host_ports(const Json& container, std::set<std::string>& taken, const FieldPath& path,
                         FieldErrors& errors) {
  const FieldPath ports = path.child("ports");
  std::size_t at = 0;
  for (const Json& port : elements(container, "ports")) {
    const FieldPath here = ports.index(at++);
    const std::int64_t number = find_integer(port, "hostPort").value_or(0);
    if (number == 0) continue;
    std::string key =
        fmt::format("{}/{}/{}", protocol_of(port), find_string(port, "hostIP"), number);
    if (taken.contains(key))
      errors.duplicate(here.child("hostPort"), key);
    else
      taken.insert(std::move(key));
  }
}

void validate_key_reference(const Json& reference, const FieldPath& path, FieldErrors& errors) {
  const std::string_view name = find_string(reference, "name");
  errors.invalid_each(path.child("name"), name, check_dns_subdomain(name));
  const std::string_view key = find_string(reference, "key");
  if (key.empty())
    errors.required(path.child("key"));
  else
    errors.invalid_each(path.child("key"), key, check_config_key(key));
}

void validate_value_from(const Json& variable, const FieldPath& path, FieldErrors& errors) {
  const Json* source = find_set(variable, "valueFrom");
  if (source == nullptr) return;
  int sources = 0;
  for (const std::string_view member :
       {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    const Json* reference = find_set(*source, member);
    if (reference == nullptr) continue;
    ++sources;
    const FieldPath here = path.child(member);
    if (member == "fieldRef" && find_string(*reference, "fieldPath").empty())
      errors.required(here.child("fieldPath"));
    if (member == "resourceFieldRef" && find_string(*reference, "resource").empty())
      errors.required(here.child("resource"));
    if (member == "configMapKeyRef" || member == "secretKeyRef")
      validate_key_reference(*reference, here, errors);
  }
  if (sources == 0)
    errors.invalid(path, "",
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                   "`secretKeyRef`");
  else if (!find_string(variable, "value").empty())
    errors.invalid(path, "", "may not be specified when `value` is not empty");
  else if (sources > 1)
    errors.invalid(path, "", "may not have more than one field specified at a time");
}

void validate_environment(const Json& container, const FieldPath& path, FieldErrors& errors) {
  const FieldPath variables = path.child("env");
  std::size_t at = 0;
  for (const Json& variable : elements(container, "env")) {
    const FieldPath here = variables.index(at++);
    const std::string_view name = find_string(variable, "name");
    if (name.empty())
      errors.required(here.child("name"));
    else
      errors.invalid_each(here.child("name"), name, check_environment_name(name));
    validate_value_from(variable, here.child("valueFrom"), errors);
  }
  const FieldPath sources = path.child("envFrom");
  at = 0;
  for (const Json& source : elements(container, "envFrom")) {
    const FieldPath here = sources.index(at++);
    int found = 0;
    for (const std::string_view member : {"configMapRef", "secretRef"})
      if (const Json* reference = find_set(source, member)) {
        ++found;
        const FieldPath reference_path = here.child(member);
        if (find_string(*reference, "name").empty()) errors.required(reference_path.child("name"));
      }
    if (found == 0)
      errors.invalid(sources, "", "must specify one of: `configMapRef` or `secretRef`");
    if (found > 1)
      errors.invalid(sources, "", "may not have more than one field specified at a time");
  }
}

void validate_mounts(const Json& container, const PodScope& scope, const FieldPath& path,
                     FieldErrors& errors) {
  Names mount_paths;
  std::size_t at = 0;
  for (const Json& mount : elements(container, "volumeMounts")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(mount, "name");
    if (name.empty()) errors.required(here.child("name"));
    if (!scope.volumes.contains(name)) errors.not_found(here.child("name"), name);
    const std::string_view mount_path = find_string(mount, "mountPath");
    if (mount_path.empty()) errors.required(here.child("mountPath"));
    if (!mount_paths.insert(mount_path).second)
      errors.invalid(here.child("mountPath"), mount_path, "must be unique");
    const std::string_view expression = find_string(mount, "subPathExpr");
    if (!expression.empty() && !find_string(mount, "subPath").empty())
      errors.invalid(here.child("subPathExpr"), expression,
                     "subPathExpr and subPath are mutually exclusive");
  }
}

void validate_devices(const Json& container, const PodScope& scope, const FieldPath& path,
                      FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& device : elements(container, "volumeDevices")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(device, "name");
    const auto volume = scope.volumes.find(name);
    if (name.empty()) errors.required(here.child("name"));
    if (volume == scope.volumes.end())
      errors.not_found(here.child("name"), name);
    else if (find_set(*volume->second, "persistentVolumeClaim") == nullptr &&
             find_set(*volume->second, "ephemeral") == nullptr)
      errors.invalid(here.child("name"), name,
                     "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                     "block mode");
    if (find_string(device, "devicePath").empty()) errors.required(here.child("devicePath"));
  }
}

void validate_handler(const Json& probe, const FieldPath& path, FieldErrors& errors) {
  bool found = false;
  for (const std::string_view handler : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    if (find_set(probe, handler) == nullptr) continue;
    if (std::exchange(found, true)) errors.forbidden(path.child(handler), kMoreThanOneHandler);
  }
  if (!found) errors.required(path, "must specify a handler type");
}

void validate_probe(const Json& container, std::string_view member, const FieldPath& path,
                    FieldErrors& errors) {
  const Json* probe = find_set(container, member);
  if (probe == nullptr) return;
  const FieldPath here = path.child(member);
  validate_handler(*probe, here, errors);
  for (const std::string_view number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                        "successThreshold", "failureThreshold"})
    if (const auto value = find_integer(*probe, number); value && *value < 0)
      errors.invalid(here.child(number), *value, "must be greater than or equal to 0");
  const auto successes = find_integer(*probe, "successThreshold");
  if (member != "readinessProbe" && successes && *successes != 1)
    errors.invalid(here.child("successThreshold"), *successes, "must be 1");
}

void validate_lifecycle(const Json& container, const FieldPath& path, FieldErrors& errors) {
  const Json* lifecycle = find_set(container, "lifecycle");
  if (lifecycle == nullptr) return;
  const FieldPath here = path.child("lifecycle");
  for (const std::string_view hook : {"postStart", "preStop"})
    if (const Json* handler = find_set(*lifecycle, hook))
      validate_handler(*handler, here.child(hook), errors);
}

void validate_probes(const Json& container, const FieldPath& path, FieldErrors& errors) {
  validate_lifecycle(container, path, errors);
  for (const std::string_view member : {"livenessProbe", "readinessProbe", "startupProbe"})
    validate_probe(container, member, path, errors);
}

void validate_security_context(const Json& container, const FieldPath& path, FieldErrors& errors) {
  const Json* context = find_set(container, "securityContext");
  if (context == nullptr) return;
  const FieldPath here = path.child("securityContext");
  for (const std::string_view member : {"runAsUser", "runAsGroup"})
    if (const auto id = find_integer(*context, member); id && (*id < 0 || *id > kIdMax))
      errors.invalid(here.child(member), *id, inclusive_range(0, kIdMax));
  const Json* escalation = find_set(*context, "allowPrivilegeEscalation");
  const bool refused = escalation != nullptr && escalation->is_bool() && !escalation->get_bool();
  if (refused && find_true(*context, "privileged"))
    errors.invalid(here, *context,
                   "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

// The rules that hold for every container, whatever its role.
void validate_container(const Json& container, const PodScope& scope, const FieldPath& path,
                        FieldErrors& errors) {
  const std::string_view name = find_string(container, "name");
  if (name.empty())
    errors.required(path.child("name"));
  else
    errors.invalid_each(path.child("name"), name, check_dns_label(name));
  if (find_string(container, "image").empty()) errors.required(path.child("image"));
  validate_choice(container, "terminationMessagePolicy", kMessagePolicies, path, errors);
  validate_ports(container, path.child("ports"), errors);
  validate_environment(container, path, errors);
  validate_mounts(container, scope, path.child("volumeMounts"), errors);
  validate_devices(container, scope, path.child("volumeDevices"), errors);
  validate_choice(container, "imagePullPolicy", kPullPolicies, path, errors);
  if (const Json* resources = find_set(container, "resources"))
    validate_container_resources(*resources, scope.claim_names, path.child("resources"), errors);
  validate_choice(container, "restartPolicy", kRestartPolicies, path, errors);
  validate_security_context(container, path, errors);
}

void validate_regular(const Json& spec, const PodScope& scope, Names& names, const FieldPath& path,
                      FieldErrors& errors) {
  const JsonArray& containers = elements(spec, "containers");
  if (containers.empty()) errors.required(path);
  std::set<std::string> host_ports;
  std::size_t at = 0;
  for (const Json& container : containers) {
    const FieldPath here = path.index(at++);
    validate_container(container, scope, here, errors);
    const std::string_view name = find_string(container, "name");
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    validate_probes(container, here, errors);
  }
  at = 0;
  for (const Json& container : containers)
    validate_host_ports(container, host_ports, path.index(at++), errors);
}

void validate_init(const Json& spec, const PodScope& scope, Names& names, const FieldPath& path,
                   FieldErrors& errors) {
  std::size_t at = 0;
  for (const Json& container : elements(spec, "initContainers")) {
    const FieldPath here = path.index(at++);
    validate_container(container, scope, here, errors);
    const std::string_view name = find_string(container, "name");
    if (names.contains(name))
      errors.duplicate(here.child("name"), name);
    else if (!name.empty())
      names.insert(name);
    std::set<std::string> host_ports;  // init containers run one by one
    validate_host_ports(container, host_ports, here, errors);
    if (find_string(container, "restartPolicy") == "Always") {
      validate_probes(container, here, errors);
      continue;
    }
    for (const std::string_view member :
         {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})
      if (find_set(container, member) != nullptr)
        errors.forbidden(here.child(member),
                         "may not be set for init containers without restartPolicy=Always");
  }
}

void validate_ephemeral(const Json& spec, const PodScope& scope, Names& names,
                        const FieldPath& path, FieldErrors& errors) {
  const Names others = names;
  std::size_t at = 0;
  for (const Json& container : elements(spec, "ephemeralContainers")) {
    const FieldPath here = path.index(at++);
    validate_container(container, scope, here, errors);
    const std::string_view name = find_string(container, "name");
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    const std::string_view target = find_string(container, "targetContainerName");
    if (!target.empty() && !others.contains(target))
      errors.not_found(here.child("targetContainerName"), target);
    for (const std::string_view member :
         {"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
      if (find_set(container, member) != nullptr)
        errors.forbidden(here.child(member), "cannot be set for an Ephemeral Container");
  }
}

}  // namespace

void validate_containers(const Json& spec, const PodScope& scope, const FieldPath& path,
                         FieldErrors& errors) {
  Names names;
  validate_regular(spec, scope, names, path.child("containers"), errors);
  validate_init(spec, scope, names, path.child("initContainers"), errors);
  validate_ephemeral(spec, scope, names, path.child("ephemeralContainers"), errors);
}

}  // namespace muster::api
