#include <algorithm>
#include <set>
#include <string>

#include "api/validation/addresses.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"
#include "api/validation/object_meta.h"
#include "api/validation/reading.h"

// Services and EndpointSlices: well-formed, though nothing here routes a packet.
namespace muster::api::rules {
namespace {

constexpr std::int64_t kPortMax = 65535;
constexpr std::int64_t kStickySeconds = 10800;
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
}

void validate_ports(const Json& spec, FieldErrors& errors) {
  const FieldPath path = kSpec.child("ports");
  const JsonArray& ports = elements(spec, "ports");
  const bool headless = find_string(spec, "clusterIP") == "None";
  if (ports.empty() && !headless && find_string(spec, "type") != "ExternalName")
    errors.required(path);
  std::set<std::string_view> names;
  std::set<std::pair<std::int64_t, std::string_view>> seen;
  std::size_t at = 0;
  for (const Json& port : ports) {
    const FieldPath here = path.index(at++);
    validate_port(port, ports.size() > 1, names, here, errors);
    if (!seen.emplace(find_integer(port, "port").value_or(0), find_string(port, "protocol")).second)
      errors.duplicate(here, port);
  }
}

void validate_addresses(const Json& spec, FieldErrors& errors) {
  const std::string_view address = find_string(spec, "clusterIP");
  if (!address.empty() && address != "None" && ip_family(address) == IpFamily::None) {
    const FieldPath path = kSpec.child("clusterIPs");
    errors.invalid(path.index(0), address, kBadIp);
  }
  const FieldPath external = kSpec.child("externalIPs");
  std::size_t at = 0;
  for (const Json& ip : elements(spec, "externalIPs")) {
    const FieldPath here = external.index(at++);
    if (ip_family(text_of(ip)) == IpFamily::None) errors.invalid(here, text_of(ip), kBadIp);
  }
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
  constexpr std::string_view kAffinities[] = {"ClientIP", "None"};
  const Json& spec = part_of(now, "spec");
  validate_ports(spec, errors);
  validate_labels(members(spec, "selector"), kSpec.child("selector"), errors);
  validate_required_word(spec, "sessionAffinity", kAffinities, kSpec, errors);
  validate_addresses(spec, errors);
  validate_required_word(spec, "type", kTypes, kSpec, errors);
  if (find_string(spec, "type") == "ExternalName") {
    const std::string_view name = find_string(spec, "externalName");
    if (name.empty())
      errors.required(kSpec.child("externalName"));
    else
      errors.invalid_each(kSpec.child("externalName"), name, check_dns_subdomain(name));
  }
  if (old == nullptr) return;
  const Json& before = part_of(*old, "spec");
  const std::string_view address = find_string(before, "clusterIP");
  const bool same_type =
      find_string(before, "type") != "ExternalName" && find_string(spec, "type") != "ExternalName";
  if (same_type && !address.empty() && find_string(spec, "clusterIP") != address) {
    const FieldPath path = kSpec.child("clusterIPs");
    errors.invalid(path.index(0), Json(JsonArray{find_string(spec, "clusterIP")}),
                   "may not change once set");
  }
}

void validate_endpoint_slice(const Json& now, const Json* old, FieldErrors& errors) {
  constexpr std::size_t kAddressesMax = 100;
  constexpr std::size_t kEndpointsMax = 1000;
  constexpr std::string_view kTypes[] = {"FQDN", "IPv4", "IPv6"};
  const std::string_view type = find_string(now, "addressType");
  if (type.empty())
    errors.required(FieldPath("addressType"));
  else if (std::ranges::find(kTypes, type) == std::ranges::end(kTypes))
    errors.not_supported(FieldPath("addressType"), type, kTypes);
  if (old != nullptr && type != find_string(*old, "addressType"))
    errors.invalid(FieldPath("addressType"), type, kImmutableField);

  const JsonArray& endpoints = elements(now, "endpoints");
  const FieldPath path("endpoints");
  if (endpoints.size() > kEndpointsMax) errors.too_many(path, endpoints.size(), kEndpointsMax);
  std::size_t at = 0;
  for (const Json& endpoint : endpoints) {
    const FieldPath here = path.index(at++);
    const FieldPath addresses_path = here.child("addresses");
    const JsonArray& addresses = elements(endpoint, "addresses");
    if (addresses.empty()) errors.required(addresses_path, "must contain at least 1 address");
    if (addresses.size() > kAddressesMax)
      errors.too_many(addresses_path, addresses.size(), kAddressesMax);
    std::size_t address_at = 0;
    for (const Json& address : addresses) {
      const FieldPath address_path = addresses_path.index(address_at++);
      const std::string_view text = text_of(address);
      if (type == "FQDN")
        errors.invalid_each(address_path, text, check_dns_subdomain(text));
      else if (ip_family(text) != (type == "IPv6" ? IpFamily::V6 : IpFamily::V4))
        errors.invalid(address_path, text, kBadIp);
    }
  }
}

}  // namespace muster::api::rules
