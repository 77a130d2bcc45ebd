#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/validation/addresses.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"

// Services: well-formed, though nothing here routes a packet.
namespace muster::api::rules {
namespace {

constexpr std::int64_t kPortMax = 65535;
constexpr std::int64_t kStickySeconds = 10800;
constexpr std::int64_t kKubeletPort = 10250;
constexpr std::string_view kHeadless = "None";
constexpr std::string_view kProtocols[] = {"SCTP", "TCP", "UDP"};
const FieldPath kSpec("spec");

bool is_unset(const Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (const auto* text = value->if_string()) return text->empty();
  return integer_of(*value) == 0;
}

void default_member(JsonObject& object, std::string_view member, Json value) {
  if (is_unset(object.if_contains(member))) object[member] = std::move(value);
}

void validate_port_number(std::int64_t port, const FieldPath& path, FieldErrors& errors) {
  if (port < 1 || port > kPortMax) errors.invalid(path, port, inclusive_range(1, kPortMax));
}

void validate_target_port(const Json& target, const FieldPath& path, FieldErrors& errors) {
  if (const auto number = integer_of(target))
    validate_port_number(*number, path, errors);
  else
    errors.invalid_each(path, text_of(target), check_port_name(text_of(target)));
}

void validate_port(const Json& port, bool needs_name, std::set<std::string_view>& names,
                   const FieldPath& path, FieldErrors& errors) {
  const std::string_view name = find_string(port, "name");
  if (name.empty()) {
    if (needs_name) errors.required(path.child("name"));
  } else {
    errors.invalid_each(path.child("name"), name, check_dns_label(name));
    if (!names.insert(name).second) errors.duplicate(path.child("name"), name);
  }
  validate_port_number(find_integer(port, "port").value_or(0), path.child("port"), errors);
  validate_required_word(port, "protocol", kProtocols, path, errors);
  if (const Json* target = find_set(port, "targetPort"))
    validate_target_port(*target, path.child("targetPort"), errors);
  if (const Json* protocol = find_set(port, "appProtocol"))
    errors.invalid_each(path.child("appProtocol"), text_of(*protocol),
                        check_qualified_name(text_of(*protocol)));
}

void validate_ports(const Json& spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("ports");
  const JsonArray& ports = elements(spec, "ports");
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& port : ports)
    validate_port(port, ports.size() > 1, names, path.index(at++), errors);
}

// Ports of the service and of its nodes that are taken twice.
void validate_unique_ports(const Json& spec, FieldErrors& errors) {
  using Taken = std::set<std::pair<std::int64_t, std::string_view>>;
  const FieldPath path = kSpec.child("ports");
  Taken node_ports;
  std::size_t at = 0;
  for (const Json& port : elements(spec, "ports")) {
    const FieldPath here = path.index(at++);
    const std::int64_t number = find_integer(port, "nodePort").value_or(0);
    if (number == 0) continue;
    if (find_string(spec, "type") == "ClusterIP")
      errors.forbidden(here.child("nodePort"), "may not be used when `type` is 'ClusterIP'");
    if (!node_ports.emplace(number, find_string(port, "protocol")).second)
      errors.duplicate(here.child("nodePort"), number);
  }
  Taken taken;
  at = 0;
  for (const Json& port : elements(spec, "ports")) {
    const FieldPath here = path.index(at++);
    if (!taken.emplace(find_integer(port, "port").value_or(0), find_string(port, "protocol"))
             .second)
      errors.duplicate(here, port);
  }
}

// The addresses of a service; `clusterIP` alone stands for a list of one.
std::vector<std::string_view> addresses_of(const Json& spec) {
  std::vector<std::string_view> out;
  for (const Json& address : elements(spec, "clusterIPs")) out.push_back(text_of(address));
  if (const auto address = find_string(spec, "clusterIP"); out.empty() && !address.empty())
    out.push_back(address);
  return out;
}

Json shown_addresses(const Json& spec) {
  JsonArray out;
  for (const std::string_view address : addresses_of(spec)) out.emplace_back(address);
  return out;
}

bool is_headless(const Json& spec) {
  const auto addresses = addresses_of(spec);
  return addresses.size() == 1 && addresses[0] == kHeadless;
}

// What a type forbids or demands.
void validate_for_type(const Json& spec, FieldErrors& errors) {
  const std::string_view type = find_string(spec, "type");
  const FieldPath addresses = kSpec.child("clusterIPs");
  const FieldPath ports = kSpec.child("ports");
  if (elements(spec, "ports").empty() && !is_headless(spec) && type != "ExternalName")
    errors.required(ports);
  if (type == "LoadBalancer") {
    std::size_t at = 0;
    for (const Json& port : elements(spec, "ports")) {
      const FieldPath here = ports.index(at++);
      if (find_integer(port, "port") == kKubeletPort)
        errors.invalid(here, kKubeletPort,
                       "may not expose port 10250 externally since it is used by kubelet");
    }
  }
  if (is_headless(spec) && (type == "LoadBalancer" || type == "NodePort"))
    errors.invalid(addresses.index(0), kHeadless,
                   fmt::format("may not be set to 'None' for {} services", type));
  if (type != "ExternalName") return;
  constexpr std::string_view kNotHere = "may not be set for ExternalName services";
  if (!addresses_of(spec).empty()) errors.forbidden(addresses, kNotHere);
  if (!elements(spec, "ipFamilies").empty()) errors.forbidden(kSpec.child("ipFamilies"), kNotHere);
  if (find_set(spec, "ipFamilyPolicy") != nullptr)
    errors.forbidden(kSpec.child("ipFamilyPolicy"), kNotHere);
  std::string_view name = find_string(spec, "externalName");
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty())
    errors.required(kSpec.child("externalName"));
  else
    errors.invalid_each(kSpec.child("externalName"), name, check_dns_subdomain(name));
}

void validate_affinity(const Json& spec, FieldErrors& errors) {
  constexpr std::string_view kAffinities[] = {"ClientIP", "None"};
  constexpr std::int64_t kSecondsMax = 86400;
  validate_required_word(spec, "sessionAffinity", kAffinities, kSpec, errors);
  const Json* config = find_set(spec, "sessionAffinityConfig");
  const FieldPath path = kSpec.child("sessionAffinityConfig");
  if (config == nullptr) return;
  if (find_string(spec, "sessionAffinity") == "None")
    return errors.forbidden(path, "must not be set when session affinity is None");
  const auto seconds = find_integer(part_of(*config, "clientIP"), "timeoutSeconds");
  const FieldPath client = path.child("clientIP");
  if (seconds && (*seconds <= 0 || *seconds > kSecondsMax))
    errors.invalid(client.child("timeoutSeconds"), *seconds,
                   fmt::format("must be greater than 0 and less than {}", kSecondsMax));
}

void validate_addresses(const Json& spec, FieldErrors& errors) {
  const std::vector<std::string_view> addresses = addresses_of(spec);
  const FieldPath path = kSpec.child("clusterIPs");
  std::size_t at = 0;
  for (const std::string_view address : addresses) {
    const FieldPath here = path.index(at++);
    if (at == 1 && address == kHeadless) {
      if (addresses.size() > 1)
        errors.invalid(path, shown_addresses(spec), "'None' must be the first and only value");
    } else if (ip_family(address) == IpFamily::None) {
      errors.invalid(here, address, kBadIp);
    }
  }
  const FieldPath external = kSpec.child("externalIPs");
  at = 0;
  for (const Json& ip : elements(spec, "externalIPs")) {
    const FieldPath here = external.index(at++);
    if (ip_family(text_of(ip)) == IpFamily::None)
      errors.invalid(here, text_of(ip), kBadIp);
    else
      errors.invalid_each(here, text_of(ip), check_common_ip(text_of(ip)));
  }
}

// What only balanced services have.
void validate_balancing(const Json& spec, FieldErrors& errors) {
  constexpr std::string_view kOnly = "may only be used when `type` is 'LoadBalancer'";
  const bool balanced = find_string(spec, "type") == "LoadBalancer";
  // Upstream's own spelling of the path.
  const FieldPath ranges = kSpec.child("LoadBalancerSourceRanges");
  if (!balanced && !elements(spec, "loadBalancerSourceRanges").empty())
    errors.forbidden(ranges, kOnly);
  std::size_t at = 0;
  for (const Json& range : elements(spec, "loadBalancerSourceRanges")) {
    const FieldPath here = ranges.index(at++);
    if (cidr_family(text_of(range)) == IpFamily::None)
      errors.invalid(here, text_of(range), kBadCidr);
  }
  if (!balanced && find_set(spec, "allocateLoadBalancerNodePorts") != nullptr)
    errors.forbidden(kSpec.child("allocateLoadBalancerNodePorts"), kOnly);
  const Json* balancer = find_set(spec, "loadBalancerClass");
  if (balancer == nullptr) return;
  if (!balanced)
    errors.forbidden(kSpec.child("loadBalancerClass"), kOnly);
  else
    errors.invalid_each(kSpec.child("loadBalancerClass"), text_of(*balancer),
                        check_qualified_name(text_of(*balancer)));
}

void validate_traffic(const Json& spec, FieldErrors& errors) {
  constexpr std::string_view kPolicies[] = {"Cluster", "Local"};
  constexpr std::string_view kDistributions[] = {"PreferClose", "PreferSameNode", "PreferSameZone"};
  const std::string_view type = find_string(spec, "type");
  const std::string_view external = find_string(spec, "externalTrafficPolicy");
  const bool reachable = type == "LoadBalancer" || type == "NodePort" ||
                         (type == "ClusterIP" && !elements(spec, "externalIPs").empty());
  const FieldPath path = kSpec.child("externalTrafficPolicy");
  if (!external.empty() && !reachable)
    errors.invalid(path, external, "may only be set for externally-accessible services");
  else if (!external.empty() && std::ranges::find(kPolicies, external) == std::end(kPolicies))
    errors.not_supported(path, external, kPolicies);
  const std::int64_t health = find_integer(spec, "healthCheckNodePort").value_or(0);
  const FieldPath health_path = kSpec.child("healthCheckNodePort");
  if (type == "LoadBalancer" && external == "Local") {
    if (health != 0) validate_port_number(health, health_path, errors);
  } else if (health != 0) {
    errors.invalid(health_path, health,
                   "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                   "'Local'");
  }
  if (find_set(spec, "internalTrafficPolicy") != nullptr)
    validate_required_word(spec, "internalTrafficPolicy", kPolicies, kSpec, errors);
  if (find_set(spec, "trafficDistribution") != nullptr)
    validate_required_word(spec, "trafficDistribution", kDistributions, kSpec, errors);
}

// Addresses stay, except where there are none before or after.
void validate_addresses_update(const Json& spec, const Json& before, FieldErrors& errors) {
  for (const Json* each : {&spec, &before})
    if (find_string(*each, "type") == "ExternalName") return;
  const std::vector<std::string_view> now = addresses_of(spec);
  const std::vector<std::string_view> old = addresses_of(before);
  const FieldPath path = kSpec.child("clusterIPs");
  if (old.empty() || now == old) return;
  if (now.empty())
    errors.invalid(path.index(0), shown_addresses(spec), "primary clusterIP can not be unset");
  else if (now[0] != old[0])
    errors.invalid(path.index(0), shown_addresses(spec), "may not change once set");
}

void validate_balancer_class_update(const Json& spec, const Json& before, FieldErrors& errors) {
  for (const Json* each : {&spec, &before})
    if (find_string(*each, "type") != "LoadBalancer") return;
  const Json* now = find_set(spec, "loadBalancerClass");
  if (!same_meaning(now, find_set(before, "loadBalancerClass")))
    errors.invalid(kSpec.child("loadBalancerClass"),
                   now == nullptr ? ShownValue::null() : ShownValue(*now),
                   "may not change once set");
}

}  // namespace

void default_service(JsonObject& service) {
  JsonObject& spec = ensure_object(service, "spec");
  const auto text = [&spec](std::string_view member) {
    const Json* found = spec.if_contains(member);
    return found == nullptr ? std::string() : std::string(text_of(*found));
  };
  const std::string type = text("type");
  if (Json* ports = spec.if_contains("ports"); ports != nullptr && ports->is_array())
    for (Json& port : ports->get_array())
      if (port.is_object() && is_unset(find(port, "targetPort")))
        if (const auto number = find_integer(port, "port"))
          port.get_object()["targetPort"] = *number;
  if (text("sessionAffinity") == "ClientIP")
    default_member(ensure_object(ensure_object(spec, "sessionAffinityConfig"), "clientIP"),
                   "timeoutSeconds", kStickySeconds);
  if (type != "ExternalName") default_member(spec, "internalTrafficPolicy", "Cluster");
  if (type == "NodePort" || type == "LoadBalancer")
    default_member(spec, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer" && spec.if_contains("allocateLoadBalancerNodePorts") == nullptr)
    spec["allocateLoadBalancerNodePorts"] = true;
}

void validate_service(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::string_view kTypes[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"};
  const Json& spec = part_of(now, "spec");
  if (old != nullptr) {
    validate_addresses_update(spec, part_of(*old, "spec"), errors);
    validate_balancer_class_update(spec, part_of(*old, "spec"), errors);
  }
  validate_for_type(spec, errors);
  validate_ports(spec, errors);
  validate_labels(members(spec, "selector"), kSpec.child("selector"), errors);
  validate_affinity(spec, errors);
  if (find_string(spec, "type") != "ExternalName") validate_addresses(spec, errors);
  validate_required_word(spec, "type", kTypes, kSpec, errors);
  validate_unique_ports(spec, errors);
  validate_balancing(spec, errors);
  validate_traffic(spec, errors);
}

}  // namespace muster::api::rules
