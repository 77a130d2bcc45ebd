#include "api/kinds/kind.h"

#include <algorithm>
#include <initializer_list>

#include "base/check.h"

namespace muster::api {

std::string Kind::api_version(std::string_view version) const {
  return group.empty() ? std::string(version) : group + "/" + std::string(version);
}

std::string Kind::qualified_plural() const { return group.empty() ? plural : plural + "." + group; }

std::string Kind::qualified_kind() const { return group.empty() ? kind : kind + "." + group; }

const Subresource* Kind::subresource(std::string_view name) const {
  const auto found = std::ranges::find(subresources, name, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

bool Kind::serves(std::string_view version) const {
  return std::ranges::find(versions, version) != versions.end();
}

const Kind* find_resource(std::string_view group, std::string_view version,
                          std::string_view plural) {
  for (const Kind* kind : all_kinds())
    if (kind->plural == plural && kind->group == group && kind->serves(version)) return kind;
  return nullptr;
}

const Kind* find_kind(std::string_view group, std::string_view name) {
  for (const Kind* kind : all_kinds())
    if (kind->kind == name && kind->group == group) return kind;
  return nullptr;
}

namespace kinds {
namespace {

const Kind& must_find(std::string_view group, std::string_view name) {
  const Kind* kind = find_kind(group, name);
  CHECK_THAT(kind != nullptr, "no kind {} in group {:?}", name, group);
  return *kind;
}

}  // namespace

const Kind& pod() {
  static const Kind& kKind = must_find("", "Pod");
  return kKind;
}
const Kind& node() {
  static const Kind& kKind = must_find("", "Node");
  return kKind;
}
const Kind& name_space() {
  static const Kind& kKind = must_find("", "Namespace");
  return kKind;
}
const Kind& event() {
  static const Kind& kKind = must_find("", "Event");
  return kKind;
}
const Kind& priority_class() {
  static const Kind& kKind = must_find("scheduling.k8s.io", "PriorityClass");
  return kKind;
}
const Kind& lease() {
  static const Kind& kKind = must_find("coordination.k8s.io", "Lease");
  return kKind;
}
const Kind& workload() {
  static const Kind& kKind = must_find("scheduling.k8s.io", "Workload");
  return kKind;
}
const Kind& pod_group() {
  static const Kind& kKind = must_find("scheduling.k8s.io", "PodGroup");
  return kKind;
}
const Kind& composite_pod_group() {
  static const Kind& kKind = must_find("scheduling.k8s.io", "CompositePodGroup");
  return kKind;
}
const Kind& group_binding() {
  static const Kind& kKind = must_find("scheduling.muster.dev", "GroupBinding");
  return kKind;
}
const Kind& persistent_volume() {
  static const Kind& kKind = must_find("", "PersistentVolume");
  return kKind;
}
const Kind& persistent_volume_claim() {
  static const Kind& kKind = must_find("", "PersistentVolumeClaim");
  return kKind;
}
const Kind& storage_class() {
  static const Kind& kKind = must_find("storage.k8s.io", "StorageClass");
  return kKind;
}
const Kind& csi_node() {
  static const Kind& kKind = must_find("storage.k8s.io", "CSINode");
  return kKind;
}
const Kind& csi_driver() {
  static const Kind& kKind = must_find("storage.k8s.io", "CSIDriver");
  return kKind;
}
const Kind& csi_storage_capacity() {
  static const Kind& kKind = must_find("storage.k8s.io", "CSIStorageCapacity");
  return kKind;
}
const Kind& volume_attachment() {
  static const Kind& kKind = must_find("storage.k8s.io", "VolumeAttachment");
  return kKind;
}

}  // namespace kinds
}  // namespace muster::api
