#include <cstdint>

#include "api/reading.h"
#include "api/validation/pod.h"

namespace muster::api {
namespace {

// Whether an image is meant to move: tag latest, or neither tag nor digest.
bool is_latest(std::string_view image) {
  const std::size_t at = image.find('@');
  const std::string_view name = image.substr(0, at);
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  const bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  if (!tagged) return at == std::string_view::npos;
  return name.substr(colon + 1) == "latest";
}

void for_each_container(JsonObject& spec, const char* list, void (*edit)(JsonObject&)) {
  Json* containers = spec.if_contains(list);
  if (containers == nullptr || !containers->is_array()) return;
  for (Json& container : containers->get_array())
    if (container.is_object()) edit(container.get_object());
}

void default_pull_policy(JsonObject& container) {
  if (const Json* policy = container.if_contains("imagePullPolicy");
      policy != nullptr && !text_of(*policy).empty())
    return;
  const Json* image = container.if_contains("image");
  const bool latest = is_latest(image == nullptr ? std::string_view() : text_of(*image));
  container["imagePullPolicy"] = latest ? "Always" : "IfNotPresent";
}

void default_requests(JsonObject& container) {
  Json* resources = container.if_contains("resources");
  if (resources == nullptr || !resources->is_object()) return;
  Json* limits = resources->get_object().if_contains("limits");
  if (limits == nullptr || !limits->is_object() || limits->get_object().empty()) return;
  const JsonObject copy = limits->get_object();  // making requests may move the limits
  JsonObject& requests = ensure_object(resources->get_object(), "requests");
  for (const auto& limit : copy)
    if (!requests.contains(limit.key())) requests[limit.key()] = limit.value();
}

void default_host_ports(JsonObject& container) {
  Json* ports = container.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (Json& port : ports->get_array())
    if (port.is_object() && find_integer(port, "hostPort").value_or(0) == 0)
      if (const auto number = find_integer(port, "containerPort"))
        port.get_object()["hostPort"] = *number;
}

// The old name and the new one always say the same.
void default_service_account(JsonObject& spec) {
  const auto text = [&spec](const char* member) {
    const Json* found = spec.if_contains(member);
    return found == nullptr ? std::string() : std::string(text_of(*found));
  };
  std::string name = text("serviceAccountName");
  if (name.empty()) name = text("serviceAccount");
  if (name.empty()) return;
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
}

}  // namespace

void default_pod_spec(JsonObject& spec) {
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"})
    for_each_container(spec, list, default_pull_policy);
  default_service_account(spec);
}

void default_pod(Json& document) {
  if (!document.is_object()) return;
  JsonObject& spec = ensure_object(document.get_object(), "spec");
  default_pod_spec(spec);
  const Json* host_network = spec.if_contains("hostNetwork");
  const bool on_host =
      host_network != nullptr && host_network->is_bool() && host_network->get_bool();
  for (const char* list : {"containers", "initContainers"}) {
    for_each_container(spec, list, default_requests);
    if (on_host) for_each_container(spec, list, default_host_ports);
  }
}

}  // namespace muster::api
