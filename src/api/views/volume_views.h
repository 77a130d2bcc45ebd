#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/values/label_selector.h"
#include "api/views/pod_view.h"

// The fields of storage objects that the scheduler and the binder of claims and volumes read.
namespace muster::api {

// A PersistentVolumeClaim. Its labels and annotations are in the metadata.
struct ClaimView : View {
  static std::unique_ptr<ClaimView> read(const Object& claim);

  // By spec.storageClassName, or the annotation that came before it; nullopt: none is given.
  std::optional<std::string> storage_class;
  std::string volume_name;
  std::string volume_mode = "Filesystem";
  std::string attributes_class;
  std::vector<std::string> access_modes;  // sorted
  std::int64_t request = 0;               // bytes
  std::optional<LabelSelector> selector;  // nullopt: every volume will do
  std::string phase;
  std::string selected_node;    // the annotation volume.kubernetes.io/selected-node
  bool bind_completed = false;  // the annotation pv.kubernetes.io/bind-completed
  bool is_exclusive = false;    // ReadWriteOncePod

  bool is_bound() const { return !volume_name.empty() && bind_completed; }
};

// A PersistentVolume.
struct VolumeView : View {
  static std::unique_ptr<VolumeView> read(const Object& volume);

  std::string storage_class;
  std::string volume_mode = "Filesystem";
  std::string attributes_class;
  std::string reclaim_policy;
  std::vector<std::string> access_modes;  // sorted
  std::int64_t capacity = 0;              // bytes
  std::string phase;
  // spec.claimRef: whose it is; empty name: nobody's.
  std::string claim_namespace;
  std::string claim_name;
  std::string claim_uid;
  // spec.nodeAffinity.required: the nodes that can reach it. Terms are alternatives.
  bool has_affinity = false;
  std::vector<NodeSelectorTerm> affinity;
  // Who attaches it and under which name: CSI volumes, and disks that a CSI driver has taken over.
  std::string driver;
  std::string handle;

  bool is_for(const Object& claim) const;
};

// A StorageClass.
struct StorageClassView : View {
  static std::unique_ptr<StorageClassView> read(const Object& storage_class);

  // One way to be allowed: every key has one of its values.
  using Topology = std::vector<std::pair<std::string, std::vector<std::string>>>;

  std::string provisioner;
  std::string reclaim_policy;
  std::string binding_mode;  // empty: not set
  std::vector<Topology> allowed_topologies;

  bool waits_for_consumer() const { return binding_mode == "WaitForFirstConsumer"; }
  // Somebody makes volumes of this class on demand.
  bool provisions() const;
};

// A CSINode: the drivers of one node.
struct CsiNodeView : View {
  static std::unique_ptr<CsiNodeView> read(const Object& node);

  // By driver: how many volumes may be attached; nullopt: no limit.
  std::map<std::string, std::optional<std::int64_t>, std::less<>> drivers;
};

// A CSIDriver.
struct CsiDriverView : View {
  static std::unique_ptr<CsiDriverView> read(const Object& driver);

  bool storage_capacity = false;
  bool required_on_node = false;  // preventPodSchedulingIfMissing
};

// A CSIStorageCapacity.
struct CapacityView : View {
  static std::unique_ptr<CapacityView> read(const Object& capacity);

  std::string storage_class;
  std::optional<LabelSelector> topology;  // nullopt: no node
  std::optional<std::int64_t> capacity;   // bytes
  std::optional<std::int64_t> limit;      // maximumVolumeSize, else the capacity
};

// A VolumeAttachment.
struct AttachmentView : View {
  static std::unique_ptr<AttachmentView> read(const Object& attachment);

  std::string attacher;
  std::string node_name;
  std::string volume_name;  // empty: an inline volume
};

}  // namespace muster::api
