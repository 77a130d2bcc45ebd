#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "api/tables/printer.h"

// Services and what stands behind them.
namespace muster::api::tables {
namespace {

constexpr std::size_t kShownMax = 3;

constexpr Column kServiceColumns[] = {
    kName,
    {.name = "Type", .description = "How the service is reached."},
    {.name = "Cluster-IP", .description = "Its address inside the cluster."},
    {.name = "External-IP", .description = "Its addresses outside of it."},
    {.name = "Port(s)", .description = "Its ports."},
    kAge,
    {.name = "Selector", .description = "Labels of its pods.", .priority = 1}};
constexpr Column kEndpointsColumns[] = {
    kName, {.name = "Endpoints", .description = "Addresses and ports."}, kAge};
constexpr Column kSliceColumns[] = {kName,
                                    {.name = "AddressType", .description = "What addresses are."},
                                    {.name = "Ports", .description = "Ports of all endpoints."},
                                    {.name = "Endpoints", .description = "Their addresses."},
                                    kAge};

std::vector<std::string> texts(const JsonArray& values) {
  std::vector<std::string> out;
  for (const Json& value : values)
    if (const auto* text = value.if_string()) out.emplace_back(*text);
  return out;
}

std::string external_text(const Json& spec, const Json& status) {
  std::vector<std::string> addresses = texts(list(spec, "externalIPs"));
  const std::string_view type = find_string(spec, "type");
  if (type == "ExternalName") return std::string(find_string(spec, "externalName"));
  if (type == "LoadBalancer") {
    std::vector<std::string> balancers;
    for (const Json& ingress : list(part(status, "loadBalancer"), "ingress")) {
      const std::string_view ip = find_string(ingress, "ip");
      balancers.emplace_back(ip.empty() ? find_string(ingress, "hostname") : ip);
    }
    addresses.insert(addresses.begin(), balancers.begin(), balancers.end());
    if (addresses.empty()) return "<pending>";
  }
  return addresses.empty() ? "<none>" : fmt::format("{}", fmt::join(addresses, ","));
}

std::string ports_text(const JsonArray& ports) {
  std::vector<std::string> out;
  for (const Json& port : ports) {
    std::string text = std::to_string(integer(port, "port"));
    if (const auto node = integer(port, "nodePort"); node > 0) text += fmt::format(":{}", node);
    out.push_back(fmt::format("{}/{}", text, find_string(port, "protocol")));
  }
  return out.empty() ? "<none>" : fmt::format("{}", fmt::join(out, ","));
}

// The first few, and how many more there are.
std::string some_of(const std::vector<std::string>& all, std::string_view if_none) {
  if (all.empty()) return std::string(if_none);
  const auto shown = std::span(all).first(std::min(all.size(), kShownMax));
  std::string text = fmt::format("{}", fmt::join(shown, ","));
  if (all.size() > kShownMax) text += fmt::format(" + {} more...", all.size() - kShownMax);
  return text;
}

void print_service(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  cells.text(object.meta().name);
  cells.text(find_string(spec, "type"));
  cells.text_or(find_string(spec, "clusterIP"), "<none>");
  cells.text(external_text(spec, part(document, "status")));
  cells.text(ports_text(list(spec, "ports")));
  cells.age(object.meta().creation_time);
  cells.text(labels_text(part(spec, "selector")));
}

void print_endpoints(const Object& object, const Json& document, Cells& cells) {
  std::vector<std::string> all;
  for (const Json& subset : list(document, "subsets"))
    for (const Json& address : list(subset, "addresses")) {
      if (list(subset, "ports").empty()) all.emplace_back(find_string(address, "ip"));
      for (const Json& port : list(subset, "ports"))
        all.push_back(fmt::format("{}:{}", find_string(address, "ip"), integer(port, "port")));
    }
  cells.text(object.meta().name);
  cells.text(some_of(all, "<none>"));
  cells.age(object.meta().creation_time);
}

void print_slice(const Object& object, const Json& document, Cells& cells) {
  std::vector<std::string> ports;
  for (const Json& port : list(document, "ports"))
    ports.push_back(is_set(port, "port") ? std::to_string(integer(port, "port")) : "*");
  std::vector<std::string> addresses;
  for (const Json& endpoint : list(document, "endpoints"))
    for (std::string& address : texts(list(endpoint, "addresses")))
      addresses.push_back(std::move(address));
  cells.text(object.meta().name);
  cells.text(find_string(document, "addressType"));
  cells.text(some_of(ports, "<unset>"));
  cells.text(some_of(addresses, "<unset>"));
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> network_printers() {
  static constexpr Printer kPrinters[] = {
      {"", "Service", kServiceColumns, print_service},
      {"", "Endpoints", kEndpointsColumns, print_endpoints},
      {"discovery.k8s.io", "EndpointSlice", kSliceColumns, print_slice},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
