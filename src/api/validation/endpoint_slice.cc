#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "api/reading.h"
#include "api/validation/addresses.h"
#include "api/validation/common_rules.h"
#include "api/validation/kind_rules.h"

// EndpointSlices: well-formed, though nothing here routes a packet.
namespace muster::api::rules {
namespace {

constexpr std::size_t kAddressesMax = 100;
constexpr std::size_t kEndpointsMax = 1000;
constexpr std::size_t kPortsMax = 20000;
constexpr std::size_t kZonesMax = 8;
constexpr std::string_view kTypes[] = {"FQDN", "IPv4", "IPv6"};
constexpr std::string_view kProtocols[] = {"SCTP", "TCP", "UDP"};

// A domain of at least two parts; it may end with a dot.
void validate_domain(std::string_view name, const FieldPath& path, FieldErrors& errors) {
  if (name.empty()) return errors.required(path);
  if (name.ends_with('.')) name.remove_suffix(1);
  if (const Messages messages = check_dns_subdomain(name); !messages.empty())
    errors.invalid(path, name, fmt::format("{}", fmt::join(messages, ",")));
  else if (name.find('.') == std::string_view::npos)
    errors.invalid(path, name, "should be a domain with at least two segments separated by dots");
}

void validate_address(std::string_view address, std::string_view type, const FieldPath& path,
                      FieldErrors& errors) {
  if (type == "FQDN") return validate_domain(address, path, errors);
  if (type != "IPv4" && type != "IPv6") return;
  if (ip_family(address) != (type == "IPv4" ? IpFamily::V4 : IpFamily::V6))
    errors.invalid(path, address, fmt::format("must be a valid {} address", type));
  errors.invalid_each(path, address, check_common_ip(address));
}

void validate_hints(const Json& hints, const FieldPath& path, FieldErrors& errors) {
  const FieldPath zones_path = path.child("forZones");
  const JsonArray& zones = elements(hints, "forZones");
  if (zones.size() > kZonesMax) return errors.too_many(zones_path, zones.size(), kZonesMax);
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& zone : zones) {
    const FieldPath here = zones_path.index(at++);
    const std::string_view name = find_string(zone, "name");
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    errors.invalid_each(here.child("name"), name, check_label_value(name));
  }
}

void validate_endpoint(const Json& endpoint, std::string_view type, const FieldPath& path,
                       FieldErrors& errors) {
  const FieldPath addresses_path = path.child("addresses");
  const JsonArray& addresses = elements(endpoint, "addresses");
  if (addresses.empty()) errors.required(addresses_path, "must contain at least 1 address");
  if (addresses.size() > kAddressesMax)
    errors.too_many(addresses_path, addresses.size(), kAddressesMax);
  std::size_t at = 0;
  for (const Json& address : addresses)
    validate_address(text_of(address), type, addresses_path.index(at++), errors);
  if (const Json* node = find_set(endpoint, "nodeName"))
    errors.invalid_each(path.child("nodeName"), text_of(*node),
                        check_dns_subdomain(text_of(*node)));
  if (const Json* host = find_set(endpoint, "hostname"))
    errors.invalid_each(path.child("hostname"), text_of(*host), check_dns_label(text_of(*host)));
  if (const Json* hints = find_set(endpoint, "hints"))
    validate_hints(*hints, path.child("hints"), errors);
}

void validate_endpoints(const Json& slice, FieldErrors& errors) {
  const FieldPath path("endpoints");
  const JsonArray& endpoints = elements(slice, "endpoints");
  if (endpoints.size() > kEndpointsMax)
    return errors.too_many(path, endpoints.size(), kEndpointsMax);
  std::size_t at = 0;
  for (const Json& endpoint : endpoints)
    validate_endpoint(endpoint, find_string(slice, "addressType"), path.index(at++), errors);
}

void validate_ports(const Json& slice, FieldErrors& errors) {
  const FieldPath path("ports");
  const JsonArray& ports = elements(slice, "ports");
  if (ports.size() > kPortsMax) return errors.too_many(path, ports.size(), kPortsMax);
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Json& port : ports) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(port, "name");
    if (!name.empty()) errors.invalid_each(here.child("name"), name, check_dns_label(name));
    if (!names.insert(name).second) errors.duplicate(here.child("name"), name);
    validate_required_word(port, "protocol", kProtocols, here, errors);
    if (const Json* protocol = find_set(port, "appProtocol"))
      errors.invalid_each(here.child("appProtocol"), text_of(*protocol),
                          check_qualified_name(text_of(*protocol)));
  }
}

}  // namespace

void validate_endpoint_slice(const Json& now, const Json* old, FieldErrors& errors) {
  const FieldPath path("addressType");
  const std::string_view type = find_string(now, "addressType");
  if (type.empty())
    errors.required(path);
  else if (std::ranges::find(kTypes, type) == std::ranges::end(kTypes))
    errors.not_supported(path, type, kTypes);
  validate_endpoints(now, errors);
  validate_ports(now, errors);
  if (old != nullptr && type != find_string(*old, "addressType"))
    errors.invalid(path, type, kImmutableField);
}

}  // namespace muster::api::rules
