#include "sim/node_labels.h"

#include <utility>

namespace muster::sim {
namespace {

constexpr std::string_view kOsLabel = "kubernetes.io/os";
constexpr std::string_view kArchitectureLabel = "kubernetes.io/arch";

}  // namespace

void add_node_labels(api::JsonObject& labels, std::string_view name) {
  const std::pair<std::string_view, std::string_view> every_node[] = {
      {kHostnameLabel, name}, {kOsLabel, "linux"}, {kArchitectureLabel, "amd64"}};
  for (const auto& [label, value] : every_node)
    if (!labels.contains(label)) labels[label] = value;
}

bool lacks_node_labels(const api::Object& node) {
  for (const std::string_view label : {kHostnameLabel, kOsLabel, kArchitectureLabel})
    if (api::lookup(node.meta().labels, label) == nullptr) return true;
  return false;
}

}  // namespace muster::sim
