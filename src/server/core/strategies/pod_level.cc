#include "server/core/strategies/pod_level.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/views/request_sums.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::Quantity;

const JsonObject* amounts_of(const Json& holder, std::string_view member) {
  const JsonObject* const resources = api::find_object(holder, "resources");
  const Json* const found = resources == nullptr ? nullptr : resources->if_contains(member);
  return found == nullptr ? nullptr : found->if_object();
}

bool says_any(const JsonObject* amounts) { return amounts != nullptr && !amounts->empty(); }

// Huge pages are never promised beyond what there is, so a container without a limit has none.
bool is_huge_pages(std::string_view name) { return name.starts_with("hugepages-"); }

bool is_limited_everywhere(const Json& spec, std::string_view name) {
  constexpr std::array kLists{"containers", "initContainers"};
  return std::ranges::all_of(kLists, [&](std::string_view list) {
    const JsonArray* const containers = api::find_array(spec, list);
    return containers == nullptr || std::ranges::all_of(*containers, [&](const Json& container) {
             const JsonObject* const limits = amounts_of(container, "limits");
             return limits != nullptr && limits->contains(name);
           });
  });
}

void default_limits(const Json& spec, JsonObject& resources) {
  const api::Quantities requests = api::read_quantities(amounts_of(spec, "requests"));
  for (const auto& [name, sum] :
       api::RequestSums::of_limits(spec).total({.with_pod_level = false})) {
    if (!api::is_pod_level_name(name)) continue;
    if (!is_huge_pages(name) && !is_limited_everywhere(spec, name)) continue;
    JsonObject& limits = api::ensure_object(resources, "limits");
    const Quantity* const request = api::lookup(requests, name);
    if (!limits.contains(name))
      limits[name] = request == nullptr ? sum.text() : std::max(sum, *request).text();
  }
}

void default_requests(const Json& spec, JsonObject& resources) {
  const api::Quantities sums =
      api::RequestSums::of_containers(spec).total({.with_pod_level = false});
  const JsonObject* const stated = amounts_of(spec, "limits");
  const JsonObject limits = stated == nullptr ? JsonObject() : *stated;  // requests may move them
  for (const auto& [name, sum] : sums) {
    if (!api::is_pod_level_name(name)) continue;
    JsonObject& requests = api::ensure_object(resources, "requests");
    if (!requests.contains(name)) requests[name] = sum.text();
  }
  for (const auto& limit : limits) {
    if (!api::is_pod_level_name(limit.key())) continue;
    JsonObject& requests = api::ensure_object(resources, "requests");
    if (!requests.contains(limit.key())) requests[limit.key()] = limit.value();
  }
}

}  // namespace

void default_pod_level(Json& pod) {
  Json* const spec = pod.is_object() ? pod.get_object().if_contains("spec") : nullptr;
  if (spec == nullptr || !spec->is_object()) return;
  if (!says_any(amounts_of(*spec, "limits")) && !says_any(amounts_of(*spec, "requests"))) return;
  JsonObject& resources = spec->get_object()["resources"].get_object();
  default_limits(*spec, resources);
  default_requests(*spec, resources);
}

bool has_pod_level(const Json& spec) {
  for (const std::string_view member : {"requests", "limits"})
    if (const JsonObject* const amounts = amounts_of(spec, member))
      for (const auto& amount : *amounts)
        if (api::is_pod_level_name(amount.key())) return true;
  return false;
}

}  // namespace muster::server
