#include "twin/naive_storage.h"

#include <algorithm>

#include "api/kinds/kind.h"

namespace muster::scheduler::twin {
namespace {

using api::ClaimView;
using api::Object;
using api::PodClaim;
using api::PodView;
using api::StorageClassView;
using api::VolumeView;

const std::vector<PodClaim>& claims_in(const Object& pod) { return pod.view<PodView>().claims; }

std::string name_of(const Object& pod, const PodClaim& claim) {
  return claim.ephemeral ? pod.meta().name + "-" + claim.name : claim.name;
}

std::string not_found(const std::string& claim) {
  return "persistentvolumeclaim \"" + claim + "\" not found";
}

NaiveVerdict everywhere(const char* plugin, std::string reason) {
  return {{std::move(reason)}, plugin, true};
}

bool disks_clash(const api::InlineDisk& a, const api::InlineDisk& b) {
  if (a.type != b.type || a.id != b.id) return false;
  if (a.type == api::InlineDisk::Type::Ebs) return true;
  if (a.type == api::InlineDisk::Type::Azure || a.type == api::InlineDisk::Type::Cinder)
    return false;
  if (a.type == api::InlineDisk::Type::Rbd &&
      std::ranges::none_of(a.monitors, [&](const std::string& monitor) {
        return std::ranges::count(b.monitors, monitor) > 0;
      }))
    return false;
  return !a.read_only || !b.read_only;
}

bool uses_claim(const Object& pod, const std::string& name_space, const std::string& claim) {
  return pod.meta().name_space == name_space &&
         std::ranges::any_of(claims_in(pod), [&](const PodClaim& used) {
           return !used.ephemeral && used.name == claim;
         });
}

std::vector<std::string> split_zones(const std::string& text) {
  std::vector<std::string> zones;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find("__", from), text.size());
    zones.push_back(text.substr(from, end - from));
    from = end + 2;
  }
  return zones;
}

const std::vector<std::pair<std::string, std::string>>& zone_labels() {
  // With what took its place.
  static const std::vector<std::pair<std::string, std::string>> kLabels{
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"topology.kubernetes.io/zone", ""},
      {"topology.kubernetes.io/region", ""}};
  return kLabels;
}

}  // namespace

bool is_owned_by(const Object& claim, const Object& pod) {
  return std::ranges::any_of(claim.meta().owners, [&](const api::OwnerReference& owner) {
    return owner.controller && owner.uid == pod.meta().uid;
  });
}

std::string claim_key_of(const Object& claim) {
  return claim.meta().name_space + "/" + claim.meta().name;
}

void NaiveStorage::put(const api::ObjectPtr& object) {
  objects_[std::string(object->kind().kind) + "/" + claim_key_of(*object)] = object;
}

void NaiveStorage::remove(const Object& object) {
  objects_.erase(std::string(object.kind().kind) + "/" + claim_key_of(object));
}

const Object* NaiveStorage::find(std::string_view kind, const std::string& name_space,
                                 const std::string& name) const {
  const auto at = objects_.find(std::string(kind) + "/" + name_space + "/" + name);
  return at == objects_.end() ? nullptr : at->second.get();
}

std::vector<const Object*> NaiveStorage::all(std::string_view kind) const {
  std::vector<const Object*> found;
  for (const auto& [key, object] : objects_)
    if (object->kind().kind == kind) found.push_back(object.get());
  return found;
}

const Object* NaiveStorage::claim_of(const Object& pod, const PodClaim& claim) const {
  return find("PersistentVolumeClaim", pod.meta().name_space, name_of(pod, claim));
}

bool NaiveStorage::waits_for_consumer(const Object& claim) const {
  const auto& view = claim.view<ClaimView>();
  const Object* storage_class = find("StorageClass", "", view.storage_class.value_or(""));
  return view.volume_name.empty() && storage_class != nullptr &&
         storage_class->view<StorageClassView>().binding_mode == "WaitForFirstConsumer";
}

// --- before any node is looked at ---

std::optional<NaiveVerdict> NaiveStorage::refuses_everywhere(const Object& pod) const {
  for (const PodClaim& claim : claims_in(pod))
    if (!claim.ephemeral && claim_of(pod, claim) == nullptr)
      return everywhere("VolumeRestrictions", not_found(claim.name));
  if (auto refusal = claims_refuse(pod)) return refusal;
  return zones_refuse(pod);
}

std::optional<NaiveVerdict> NaiveStorage::claims_refuse(const Object& pod) const {
  const char* plugin = "VolumeBinding";
  for (const PodClaim& used : claims_in(pod)) {
    const std::string name = name_of(pod, used);
    const Object* claim = claim_of(pod, used);
    if (claim == nullptr)
      return everywhere(
          plugin,
          used.ephemeral
              ? "waiting for ephemeral volume controller to create the persistentvolumeclaim \"" +
                    name + "\""
              : not_found(name));
    const auto& view = claim->view<ClaimView>();
    if (view.phase == "Lost")
      return everywhere(plugin, "persistentvolumeclaim \"" + name +
                                    "\" bound to non-existent persistentvolume \"" +
                                    view.volume_name + "\"");
    if (claim->meta().deletion_time)
      return everywhere(plugin, "persistentvolumeclaim \"" + name + "\" is being deleted");
    if (used.ephemeral && !is_owned_by(*claim, pod))
      return everywhere(plugin, "PVC " + claim_key_of(*claim) + " was not created for pod " +
                                    claim_key_of(pod) + " (pod is not owner)");
  }
  for (const PodClaim& used : claims_in(pod)) {
    const Object& claim = *claim_of(pod, used);
    const auto& view = claim.view<ClaimView>();
    const bool is_bound = !view.volume_name.empty() && view.bind_completed;
    if (!is_bound && !waits_for_consumer(claim))
      return everywhere(plugin, "pod has unbound immediate PersistentVolumeClaims");
  }
  return std::nullopt;
}

std::optional<NaiveVerdict> NaiveStorage::zones_refuse(const Object& pod) const {
  for (const PodClaim& used : claims_in(pod)) {
    if (used.ephemeral) continue;
    const std::string& bound = claim_of(pod, used)->view<ClaimView>().volume_name;
    if (!bound.empty() && volume(bound) == nullptr)
      return everywhere("VolumeZone", "persistentvolume \"" + bound + "\" not found");
  }
  return std::nullopt;
}

// --- filters ---

NaiveVerdict NaiveStorage::restrictions(const Object& pod, const std::string& node,
                                        const NaivePods& pods) const {
  NaiveVerdict verdict{{}, "VolumeRestrictions", false};
  for (const auto& [uid, record] : pods) {
    if (record.second != node) continue;
    for (const api::InlineDisk& other : record.first->view<PodView>().needs.disks)
      for (const api::InlineDisk& wanted : pod.view<PodView>().needs.disks)
        if (disks_clash(other, wanted)) {
          verdict.reasons = {"node(s) had no available disk"};
          return verdict;
        }
  }
  // Ours: a pod whose node is gone uses its claims still.
  for (const PodClaim& used : claims_in(pod)) {
    const Object* claim = used.ephemeral ? nullptr : claim_of(pod, used);
    if (claim == nullptr || !claim->view<ClaimView>().is_exclusive) continue;
    for (const auto& [uid, record] : pods)
      if (uses_claim(*record.first, pod.meta().name_space, used.name))
        verdict.reasons = {
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod"};
  }
  return verdict;
}

// Driver by driver and handle.
std::map<std::string, std::string> NaiveStorage::attached_by(
    const Object& pod, const std::set<std::string>* claims) const {
  std::map<std::string, std::string> volumes;
  const auto add = [&](const std::string& driver, const std::string& handle) {
    if (!driver.empty()) volumes[driver + "/" + handle] = driver;
  };
  for (const PodClaim& used : claims_in(pod)) {
    const Object* claim = claim_of(pod, used);
    if (claim == nullptr || (claims != nullptr && !claims->contains(claim_key_of(*claim))))
      continue;
    const auto& view = claim->view<ClaimView>();
    const Object* bound = view.volume_name.empty() ? nullptr : volume(view.volume_name);
    const Object* storage_class = find("StorageClass", "", view.storage_class.value_or(""));
    if (bound != nullptr)
      add(bound->view<VolumeView>().driver, bound->view<VolumeView>().handle);
    else if (storage_class != nullptr)
      add(storage_class->view<StorageClassView>().provisioner, "of " + claim_key_of(*claim));
  }
  for (const api::InlineDisk& disk : pod.view<PodView>().needs.disks) {
    if (disk.type == api::InlineDisk::Type::Gce) add("pd.csi.storage.gke.io", disk.id);
    if (disk.type == api::InlineDisk::Type::Ebs) add("ebs.csi.aws.com", disk.id);
    if (disk.type == api::InlineDisk::Type::Azure) add("disk.csi.azure.com", disk.id);
    if (disk.type == api::InlineDisk::Type::Cinder) add("cinder.csi.openstack.org", disk.id);
  }
  return volumes;
}

NaiveVerdict NaiveStorage::limits(const Object& pod, const std::string& node, const NaivePods& pods,
                                  const std::set<std::string>& shared) const {
  NaiveVerdict verdict{{}, "NodeVolumeLimits", false};
  for (const PodClaim& used : claims_in(pod))
    if (claim_of(pod, used) == nullptr) {
      const std::string name = name_of(pod, used);
      verdict.reasons = {"looking up PVC " + pod.meta().name_space + "/" + name + ": " +
                         not_found(name)};
      verdict.unresolvable = true;
      return verdict;
    }
  std::map<std::string, std::string> wanted = attached_by(pod);
  const Object* csi_node = find("CSINode", "", node);
  const auto drivers = csi_node == nullptr ? decltype(api::CsiNodeView::drivers)()
                                           : csi_node->view<api::CsiNodeView>().drivers;
  for (const auto& [key, driver] : wanted) {
    const Object* known = find("CSIDriver", "", driver);
    if (known != nullptr && known->view<api::CsiDriverView>().required_on_node &&
        !drivers.contains(driver)) {
      verdict.reasons = {driver + " CSI driver is not installed on the node"};
      return verdict;
    }
  }
  std::map<std::string, std::string> attached;
  for (const auto& [uid, record] : pods)
    if (record.second == node) attached.merge(attached_by(*record.first));
  for (const auto& [key, driver] : attached) wanted.erase(key);
  for (const Object* object : all("VolumeAttachment")) {
    const auto& view = object->view<api::AttachmentView>();
    const Object* held_volume = volume(view.volume_name);
    if (view.node_name != node || held_volume == nullptr) continue;
    const auto& source = held_volume->view<VolumeView>();
    if (source.driver != view.attacher) continue;
    const std::string key = source.driver + "/" + source.handle;
    attached[key] = source.driver;
    // Ours: what others use too and is attached still takes no second place.
    if (attached_by(pod, &shared).contains(key)) wanted.erase(key);
  }
  for (const auto& [driver, limit] : drivers) {
    const auto count = [&wanted_driver =
                            driver](const std::map<std::string, std::string>& volumes) {
      return std::ranges::count(volumes, wanted_driver,
                                [](const auto& entry) { return entry.second; });
    };
    if (limit && count(wanted) > 0 && count(attached) + count(wanted) > *limit)
      verdict.reasons = {"node(s) exceed max volume count"};
  }
  return verdict;
}

NaiveVerdict NaiveStorage::zone(const Object& pod, const Object& node) const {
  NaiveVerdict verdict{{}, "VolumeZone", true};
  const api::StringPairs& labels = node.meta().labels;
  const bool is_anywhere = std::ranges::none_of(zone_labels(), [&](const auto& label) {
    return api::lookup(labels, label.first) != nullptr;
  });
  if (is_anywhere) return verdict;
  for (const PodClaim& used : claims_in(pod)) {
    const Object* claim = used.ephemeral ? nullptr : claim_of(pod, used);
    const Object* bound = claim == nullptr ? nullptr : volume(claim->view<ClaimView>().volume_name);
    if (bound == nullptr) continue;
    for (const auto& [key, successor] : zone_labels()) {
      const std::string* asked = api::lookup(bound->meta().labels, key);
      if (asked == nullptr) continue;
      const std::string* has = api::lookup(labels, key);
      if (has == nullptr && !successor.empty()) has = api::lookup(labels, successor);
      if (has == nullptr || std::ranges::count(split_zones(*asked), *has) == 0)
        verdict.reasons = {"node(s) had no available volume zone"};
    }
  }
  return verdict;
}

}  // namespace muster::scheduler::twin
