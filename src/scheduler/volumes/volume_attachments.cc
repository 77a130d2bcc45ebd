// What the book says about claims that wait, and about what pods attach.
#include <algorithm>

#include "scheduler/volumes/volume_book.h"

namespace muster::scheduler {
namespace {

using api::ClaimView;
using api::ObjectPtr;
using api::StorageClassView;
using api::VolumeView;

}  // namespace

std::vector<std::string> claim_names(const api::Object& pod) {
  std::vector<std::string> names;
  for (const api::PodClaim& claim : pod.view<api::PodView>().claims) {
    std::string name = api::claim_name(pod, claim);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

DelayedClaim VolumeBook::delay(const ObjectPtr& claim) const {
  const auto& view = claim->view<ClaimView>();
  const std::string key = claim_key(claim->meta().name_space, claim->meta().name);
  DelayedClaim delayed;
  if (is_shared(key)) delayed.key = key;
  delayed.class_name = view.storage_class.value_or("");
  delayed.request = view.request;
  delayed.selected_node = selected_node(claim);
  delayed.reserved = reserved_for(claim);
  delayed.candidates = candidates(claim);
  const ObjectPtr storage_class = this->storage_class(delayed.class_name);
  const auto& class_view = storage_class->view<StorageClassView>();
  delayed.can_provision = class_view.provisions();
  delayed.allowed = class_view.allowed_topologies;
  const ObjectPtr driver = csi_driver(class_view.provisioner);
  delayed.asks_capacity = driver != nullptr && driver->view<api::CsiDriverView>().storage_capacity;
  if (!delayed.asks_capacity) return delayed;
  for (const auto& [name, object] : capacities_) {
    const auto& capacity = object->view<api::CapacityView>();
    if (capacity.storage_class == delayed.class_name && capacity.topology &&
        capacity.limit.value_or(-1) >= view.request)
      delayed.capacities.push_back({*capacity.topology, capacity.capacity.value_or(0)});
  }
  return delayed;
}

std::string VolumeBook::state_of(const ObjectPtr& claim) const {
  const auto& view = claim->view<ClaimView>();
  return std::to_string(epoch_of(view.storage_class.value_or(""))) + '/' +
         std::to_string(drivers_epoch_) + '\n' + criteria_of(view);
}

// The same volume under two claims of one pod is attached once.
std::vector<VolumeBook::PodAttachment> VolumeBook::attachments(const api::Object& pod) const {
  const auto& view = pod.view<api::PodView>();
  std::vector<PodAttachment> all;
  for (const std::string& name : claim_names(pod)) {
    const std::string key = claim_key(pod.meta().name_space, name);
    const ObjectPtr claim = this->claim(pod.meta().name_space, name);
    if (claim == nullptr) continue;
    const auto& claim_view = claim->view<ClaimView>();
    PodAttachment attachment{.driver = {}, .handle = {}, .is_own = !is_shared(key)};
    if (const ObjectPtr volume = this->volume(claim_view.volume_name)) {
      attachment.driver = volume->view<VolumeView>().driver;
      attachment.handle = volume->view<VolumeView>().handle;
    } else if (const ObjectPtr by = storage_class(claim_view.storage_class.value_or(""))) {
      attachment.driver = by->view<StorageClassView>().provisioner;
      attachment.handle = "claim " + key;
    }
    if (!attachment.driver.empty()) all.push_back(std::move(attachment));
  }
  for (const api::InlineDisk& disk : view.needs.disks)
    if (const std::string_view driver = api::csi_driver_of(disk.type); !driver.empty())
      all.push_back({std::string(driver), disk.id, false});
  std::ranges::sort(all);
  const auto repeated =
      std::ranges::unique(all, [](const PodAttachment& a, const PodAttachment& b) {
        return a.driver == b.driver && a.handle == b.handle;
      });
  all.erase(repeated.begin(), repeated.end());
  return all;
}

std::optional<VolumeBook::NodeAttachment> VolumeBook::attachment_of(
    const api::Object& object) const {
  const auto& view = object.view<api::AttachmentView>();
  const ObjectPtr volume = this->volume(view.volume_name);
  if (volume == nullptr || volume->view<VolumeView>().driver != view.attacher) return std::nullopt;
  return NodeAttachment{view.node_name, view.attacher, volume->view<VolumeView>().handle};
}

}  // namespace muster::scheduler
