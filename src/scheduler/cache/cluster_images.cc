// Container images: which nodes have them.
#include <algorithm>

#include "base/check.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {
namespace {

// The names a node reports, each once.
std::vector<std::pair<std::string_view, std::int64_t>> names_of(const api::NodeView* node) {
  std::vector<std::pair<std::string_view, std::int64_t>> names;
  if (node == nullptr) return names;
  for (const api::ContainerImage& image : node->images)
    for (const std::string& name : image.names) names.emplace_back(name, image.size_bytes);
  std::ranges::stable_sort(names, {}, [](const auto& entry) { return entry.first; });
  const auto repeated =
      std::ranges::unique(names, {}, [](const auto& entry) { return entry.first; });
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace

// An image that both versions report keeps its size while another node has it.
void Cluster::set_images(NodeId node, const api::NodeView* before, const api::NodeView* after) {
  const auto old_names = names_of(before);
  const auto new_names = names_of(after);
  const auto is_in = [](const auto& names, std::string_view name) {
    return std::ranges::binary_search(names, name, {},
                                      [](const auto& entry) { return entry.first; });
  };
  for (const auto& [name, size] : new_names) {
    if (!is_in(old_names, name)) {
      add_image(std::string(name), size, node);
    } else if (Image& known = images_.at(image_ids_.find(name)->second);
               known.nodes.size() == 1 && known.size != size) {
      known.size = size;
      known.changed = ++image_changes_;
    }
  }
  for (const auto& [name, size] : old_names)
    if (!is_in(new_names, name)) remove_image(std::string(name), node);
}

void Cluster::add_image(const std::string& name, std::int64_t size, NodeId node) {
  const auto [at, is_new] = image_ids_.try_emplace(name, ImageId{next_image_});
  if (is_new) images_[ImageId{next_image_++}].size = size;
  Image& image = images_.at(at->second);
  image.nodes.insert(std::ranges::lower_bound(image.nodes, node), node);
  image.changed = ++image_changes_;
}

void Cluster::remove_image(const std::string& name, NodeId node) {
  const auto at = image_ids_.find(name);
  CHECK(at != image_ids_.end());
  Image& image = images_.at(at->second);
  image.nodes.erase(std::ranges::lower_bound(image.nodes, node));
  image.changed = ++image_changes_;
  if (!image.nodes.empty()) return;
  images_.erase(at->second);
  image_ids_.erase(at);
}

std::vector<ImageId> Cluster::images_of(const api::PodView& pod) const {
  std::vector<ImageId> ids;
  if (image_ids_.empty()) return ids;
  for (const std::string& name : pod.images)
    if (const auto at = image_ids_.find(name); at != image_ids_.end()) ids.push_back(at->second);
  return ids;
}

}  // namespace muster::scheduler
