#include "server/core/write/service_addresses.h"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/request/errors.h"
#include "server/core/write/service_index.h"

namespace muster::server {
namespace {

constexpr std::string_view kHeadless = "None";

std::int64_t number_at(const Json& value, std::string_view member) {
  const Json* found = api::find(value, member);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

const JsonArray& ports_of(const Json& service) {
  static const JsonArray kNone;
  const Json* ports = api::find_path(service, "spec.ports");
  return ports != nullptr && ports->is_array() ? ports->get_array() : kNone;
}

Error address_refused(const api::Request& request, const Json& service, std::string_view address,
                      std::string_view why) {
  return invalid(*request.kind, meta_text(service, "name"),
                 {{.type = "FieldValueInvalid",
                   .field = "spec.clusterIPs",
                   .message = fmt::format(R"(Invalid value: ["{}"]: failed to allocate IP {}: {})",
                                          address, address, why)}});
}

Error port_refused(const api::Request& request, const Json& service, std::size_t at,
                   std::int64_t port, std::string_view why) {
  return invalid(*request.kind, meta_text(service, "name"),
                 {{.type = "FieldValueInvalid",
                   .field = fmt::format("spec.ports[{}].nodePort", at),
                   .message = fmt::format("Invalid value: {}: {}", port, why)}});
}

// The node ports that the ports of a service had before.
class OldNodePorts {
 public:
  // `old` may be null, and outlives this.
  explicit OldNodePorts(const Json* old) {
    if (old == nullptr) return;
    for (const Json& port : ports_of(*old))
      by_port_.emplace(key_of(port), number_at(port, "nodePort"));
    for (const auto& [port, number] : by_port_) numbers_.insert(number);
  }
  // 0 if it had none.
  std::int64_t find(const Json& port) const {
    const auto found = by_port_.find(key_of(port));
    return found == by_port_.end() ? 0 : found->second;
  }
  bool has(std::int64_t number) const { return numbers_.contains(number); }

 private:
  using Key = std::pair<std::int64_t, std::string>;
  static Key key_of(const Json& port) {
    return {number_at(port, "port"), std::string(api::find_string(port, "protocol"))};
  }
  std::map<Key, std::int64_t> by_port_;
  std::set<std::int64_t> numbers_;
};

// Ports that are asked for by number must be free, or the service's already.
Result<std::set<std::int64_t>> check_asked_ports(const ServiceIndex& services,
                                                 const api::Request& request, const Json& service,
                                                 const OldNodePorts& before) {
  std::set<std::int64_t> asked;
  const JsonArray& ports = ports_of(service);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t port = number_at(ports[i], "nodePort");
    if (port == 0) continue;
    asked.insert(port);
    if (before.has(port)) continue;
    if (port < kNodePortMin || port > kNodePortMax)
      return fail(port_refused(request, service, i, port,
                               fmt::format("provided port is not in the valid range. The range of "
                                           "valid ports is {}-{}",
                                           kNodePortMin, kNodePortMax)));
    if (services.has_port(port))
      return fail(port_refused(request, service, i, port, "provided port is already allocated"));
  }
  return asked;
}

Result<void> assign_node_ports(const ServiceIndex& services, JsonObject& spec,
                               const OldNodePorts& before, std::set<std::int64_t> asked) {
  Json* ports = spec.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return {};
  std::int64_t least = kNodePortMin;  // all below are taken or asked for
  for (Json& port : ports->get_array()) {
    if (!port.is_object() || number_at(port, "nodePort") != 0) continue;
    std::int64_t number = before.find(port);
    if (number == 0) {
      const std::optional<std::int64_t> free = services.free_port(least, asked);
      if (!free) return fail(internal_error("failed to allocate a nodePort: range is full"));
      number = *free;
      least = number + 1;
    }
    asked.insert(number);
    port.get_object()["nodePort"] = number;
  }
  return {};
}

std::string_view type_of(const Json& service) {
  const Json* spec = api::find(service, "spec");
  return spec == nullptr ? std::string_view() : api::find_string(*spec, "type");
}

bool has_node_ports(std::string_view type) { return type == "NodePort" || type == "LoadBalancer"; }

// Erases members that are as they were: nobody asked for them again.
void drop_unchanged(JsonObject& now, const Json& old,
                    std::initializer_list<std::string_view> members) {
  for (const std::string_view member : members) {
    const Json* value = now.if_contains(member);
    const Json* before = api::find(old, member);
    if (value != nullptr && before != nullptr && *value == *before) now.erase(member);
  }
}

// A service of another type has no use for what the old one needed, and may not have it.
void drop_what_the_old_type_needed(JsonObject& spec, std::string_view type, const Json& old) {
  const std::string_view before = type_of(old);
  if (type == before) return;
  const Json& old_spec = *api::find(old, "spec");
  if (type == "ExternalName")
    drop_unchanged(spec, old_spec, {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"});
  if (before == "LoadBalancer")
    drop_unchanged(spec, old_spec,
                   {"allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"});
  if (!has_node_ports(before) || has_node_ports(type)) return;
  drop_unchanged(spec, old_spec, {"externalTrafficPolicy"});
  Json* ports = spec.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return;
  const OldNodePorts had(&old);
  for (Json& port : ports->get_array())
    if (port.is_object() && number_at(port, "nodePort") == had.find(port))
      port.get_object().erase("nodePort");
}

}  // namespace

Result<void> assign_service_addresses(Context& context, const api::Request& request, Json& service,
                                      const Json* old) {
  JsonObject& spec = api::ensure_object(service.get_object(), "spec");
  const std::string type(type_of(service));
  if (old != nullptr) drop_what_the_old_type_needed(spec, type, *old);
  if (type == "ExternalName") return {};
  const ServiceIndex& services = context.staging.services();

  std::string address(api::find_string(*api::find(service, "spec"), "clusterIP"));
  const Json* old_address = old == nullptr ? nullptr : api::find_path(*old, "spec.clusterIP");
  const std::string before = old_address != nullptr && old_address->is_string()
                                 ? std::string(old_address->get_string())
                                 : std::string();
  if (address.empty()) address = before;
  if (address.empty()) {
    const std::optional<std::string> free = services.free_address();
    if (!free) return fail(internal_error("failed to allocate a serviceIP: range is full"));
    address = *free;
  }
  if (address != kHeadless && address != before && services.has_address(address))
    return fail(address_refused(request, service, address, "provided IP is already allocated"));
  spec["clusterIP"] = address;
  spec["clusterIPs"] = JsonArray{address};
  if (spec.if_contains("ipFamilies") == nullptr) spec["ipFamilies"] = JsonArray{"IPv4"};
  if (spec.if_contains("ipFamilyPolicy") == nullptr) spec["ipFamilyPolicy"] = "SingleStack";

  if (!has_node_ports(type)) return {};
  const OldNodePorts old_ports(old);
  std::set<std::int64_t> asked;
  if (context.validates) asked = TRY(check_asked_ports(services, request, service, old_ports));
  const Json* wants = spec.if_contains("allocateLoadBalancerNodePorts");
  const bool balanced = type == "LoadBalancer" && wants != nullptr && *wants == Json(true);
  if (type == "NodePort" || balanced)
    return assign_node_ports(services, spec, old_ports, std::move(asked));
  return {};
}

}  // namespace muster::server
