#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

#include "api/tables/printer.h"

namespace muster::api::tables {
namespace {

constexpr Column kColumns[] = {
    kName,
    {.name = "Status", .description = "Whether the node is ready and takes pods."},
    {.name = "Roles", .description = "Roles the node's labels give it."},
    kAge,
    {.name = "Version", .description = "Version of the kubelet."},
    {.name = "Internal-IP", .description = "Address inside the cluster.", .priority = 1},
    {.name = "External-IP", .description = "Address outside the cluster.", .priority = 1},
    {.name = "OS-Image", .description = "Operating system.", .priority = 1},
    {.name = "Kernel-Version", .description = "Kernel and architecture.", .priority = 1},
    {.name = "Container-Runtime", .description = "What runs containers.", .priority = 1},
};

std::string status_text(const Json& spec, const Json& status) {
  const Json* ready = condition(status, "Ready");
  std::string text = ready == nullptr                          ? "Unknown"
                     : find_string(*ready, "status") == "True" ? "Ready"
                                                               : "NotReady";
  if (truth(spec, "unschedulable")) text += ",SchedulingDisabled";
  return text;
}

std::string roles_text(const StringPairs& labels) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string_view> roles;
  for (const auto& [key, value] : labels) {
    const std::string_view name = key;
    if (name.starts_with(kPrefix) && name.size() > kPrefix.size())
      roles.insert(name.substr(kPrefix.size()));
    else if (name == "kubernetes.io/role" && !value.empty())
      roles.insert(value);
  }
  return roles.empty() ? "<none>" : fmt::format("{}", fmt::join(roles, ","));
}

std::string_view address(const Json& status, std::string_view type) {
  for (const Json& candidate : list(status, "addresses"))
    if (find_string(candidate, "type") == type) return find_string(candidate, "address");
  return {};
}

std::string kernel_text(const Json& info) {
  std::string kernel(find_string(info, "kernelVersion"));
  if (kernel.empty()) kernel = "<unknown>";
  const std::string_view architecture = find_string(info, "architecture");
  return architecture.empty() ? kernel : fmt::format("{} ({})", kernel, architecture);
}

void print_node(const Object& object, const Json& document, Cells& cells) {
  const Json& status = part(document, "status");
  const Json& info = part(status, "nodeInfo");
  cells.text(object.meta().name);
  cells.text(status_text(part(document, "spec"), status));
  cells.text(roles_text(object.meta().labels));
  cells.age(object.meta().creation_time);
  cells.text(find_string(info, "kubeletVersion"));
  cells.text_or(address(status, "InternalIP"), "<none>");
  cells.text_or(address(status, "ExternalIP"), "<none>");
  cells.text_or(find_string(info, "osImage"), "<unknown>");
  cells.text(kernel_text(info));
  cells.text_or(find_string(info, "containerRuntimeVersion"), "<unknown>");
}

}  // namespace

std::span<const Printer> node_printers() {
  static constexpr Printer kPrinters[] = {{"", "Node", kColumns, print_node}};
  return kPrinters;
}

}  // namespace muster::api::tables
