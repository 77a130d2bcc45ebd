#include "server/core/write/service_addresses.h"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/views/service_view.h"
#include "server/core/request/errors.h"

namespace muster::server {
namespace {

constexpr std::string_view kHeadless = "None";
// 10.96.0.0/16, as kubeadm has it: .0.1 is the server itself.
constexpr std::uint32_t kHostMin = 2;
constexpr std::uint32_t kHostMax = 65534;
constexpr std::int64_t kNodePortMin = 30000;
constexpr std::int64_t kNodePortMax = 32767;

// What services of all namespaces have, without the one that is being written.
struct Taken {
  std::set<std::string, std::less<>> addresses;
  std::set<std::int64_t> ports;
  std::int64_t next_port = kNodePortMin;  // all below are taken
};

std::int64_t number_at(const Json& value, std::string_view member) {
  const Json* found = api::find(value, member);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

const JsonArray& ports_of(const Json& service) {
  static const JsonArray kNone;
  const Json* ports = api::find_path(service, "spec.ports");
  return ports != nullptr && ports->is_array() ? ports->get_array() : kNone;
}

Taken find_taken(Context& context, const api::Request& request, std::string_view own_name) {
  Taken taken;
  for (const api::ObjectPtr& object : context.staging.list(request.kind->store_prefix + "/")) {
    if (object->meta().name_space == request.name_space && object->meta().name == own_name)
      continue;
    const auto& given = object->view<api::ServiceView>();
    if (!given.cluster_ip.empty()) taken.addresses.insert(given.cluster_ip);
    taken.ports.insert(given.node_ports.begin(), given.node_ports.end());
  }
  return taken;
}

Error address_refused(const api::Request& request, const Json& service, std::string_view address,
                      std::string_view why) {
  return invalid(*request.kind, meta_text(service, "name"),
                 {{.type = "FieldValueInvalid",
                   .field = "spec.clusterIPs",
                   .message = fmt::format(R"(Invalid value: ["{}"]: failed to allocate IP {}: {})",
                                          address, address, why)}});
}

Result<std::string> free_address(const Taken& taken) {
  for (std::uint32_t host = kHostMin; host <= kHostMax; ++host) {
    std::string address = fmt::format("10.96.{}.{}", host / 256, host % 256);
    if (!taken.addresses.contains(address)) return address;
  }
  return fail(internal_error("failed to allocate a serviceIP: range is full"));
}

Result<std::int64_t> free_port(Taken& taken) {
  while (taken.next_port <= kNodePortMax)
    if (const std::int64_t port = taken.next_port++; taken.ports.insert(port).second) return port;
  return fail(internal_error("failed to allocate a nodePort: range is full"));
}

// The node ports that the ports of a service had before.
class OldNodePorts {
 public:
  // `old` may be null, and outlives this.
  explicit OldNodePorts(const Json* old) {
    if (old == nullptr) return;
    for (const Json& port : ports_of(*old))
      by_port_.emplace(key_of(port), number_at(port, "nodePort"));
  }
  // 0 if it had none.
  std::int64_t find(const Json& port) const {
    const auto found = by_port_.find(key_of(port));
    return found == by_port_.end() ? 0 : found->second;
  }

 private:
  using Key = std::pair<std::int64_t, std::string>;
  static Key key_of(const Json& port) {
    return {number_at(port, "port"), std::string(api::find_string(port, "protocol"))};
  }
  std::map<Key, std::int64_t> by_port_;
};

Result<void> assign_node_ports(JsonObject& spec, const Json* old, Taken& taken) {
  Json* ports = spec.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return {};
  const OldNodePorts before(old);
  for (Json& port : ports->get_array()) {
    if (!port.is_object() || number_at(port, "nodePort") != 0) continue;
    std::int64_t number = before.find(port);
    if (number == 0) number = TRY(free_port(taken));
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
  const std::string name(meta_text(service, "name"));
  Taken taken = find_taken(context, request, name);

  std::string address(api::find_string(*api::find(service, "spec"), "clusterIP"));
  const Json* old_address = old == nullptr ? nullptr : api::find_path(*old, "spec.clusterIP");
  const std::string before = old_address != nullptr && old_address->is_string()
                                 ? std::string(old_address->get_string())
                                 : std::string();
  if (address.empty()) address = before;
  if (address.empty()) address = TRY(free_address(taken));
  if (address != kHeadless && address != before && taken.addresses.contains(address))
    return fail(address_refused(request, service, address, "provided IP is already allocated"));
  spec["clusterIP"] = address;
  spec["clusterIPs"] = JsonArray{address};
  if (spec.if_contains("ipFamilies") == nullptr) spec["ipFamilies"] = JsonArray{"IPv4"};
  if (spec.if_contains("ipFamilyPolicy") == nullptr) spec["ipFamilyPolicy"] = "SingleStack";

  const Json* wants = spec.if_contains("allocateLoadBalancerNodePorts");
  const bool balanced = type == "LoadBalancer" && wants != nullptr && *wants == Json(true);
  if (type == "NodePort" || balanced) return assign_node_ports(spec, old, taken);
  return {};
}

}  // namespace muster::server
