#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/values/string_pairs.h"
#include "api/views/amounts.h"
#include "api/views/node_requirement.h"
#include "api/views/pod_terms.h"

namespace muster::api {

enum class TolerationOperator : std::uint8_t { Equal, Exists, Other };

struct Toleration {
  std::string key;  // empty: every key
  TolerationOperator op = TolerationOperator::Equal;
  std::string value;
  std::string effect;  // empty: every effect
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

// Everything inside a term must hold; a term without requirements matches nothing.
struct NodeSelectorTerm {
  std::vector<NodeRequirement> expressions;  // over labels
  std::vector<NodeRequirement> fields;       // over metadata.name
  friend auto operator<=>(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct PreferredNodeTerm {
  std::int64_t weight = 0;
  NodeSelectorTerm term;
  friend auto operator<=>(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};

struct HostPort {
  std::string ip;        // "0.0.0.0" if none was given
  std::string protocol;  // "TCP" if none was given
  std::int32_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// A disk that a pod names itself, without a claim. It counts for the CSI driver that has taken over
// disks of its type, and two pods that name the same one may conflict on a node.
struct InlineDisk {
  enum class Type : std::uint8_t { Gce, Ebs, Iscsi, Rbd, Azure, Cinder };
  Type type = Type::Gce;
  std::string id;                     // pdName, volumeID, iqn, pool and image, or diskURI
  std::vector<std::string> monitors;  // of Rbd
  bool read_only = false;
  friend auto operator<=>(const InlineDisk&, const InlineDisk&) = default;
};
// Whether the two cannot be mounted on one node.
bool conflict(const InlineDisk& a, const InlineDisk& b);
// The CSI driver that attaches disks of this type; empty if none does.
constexpr std::string_view csi_driver_of(InlineDisk::Type type) {
  switch (type) {
    case InlineDisk::Type::Gce: return "pd.csi.storage.gke.io";
    case InlineDisk::Type::Ebs: return "ebs.csi.aws.com";
    case InlineDisk::Type::Azure: return "disk.csi.azure.com";
    case InlineDisk::Type::Cinder: return "cinder.csi.openstack.org";
    case InlineDisk::Type::Iscsi:
    case InlineDisk::Type::Rbd: break;
  }
  return {};
}

// What a pod asks of a node: the part of its spec that filters and scores read. Two pods with equal
// needs are of one class, whatever their names.
struct PodNeeds {
  std::vector<Toleration> tolerations;  // sorted: their order means nothing
  StringPairs node_selector;
  // Required node affinity: terms are alternatives. `has_required` with no terms matches no node.
  bool has_required = false;
  std::vector<NodeSelectorTerm> required;
  std::vector<PreferredNodeTerm> preferred;
  std::vector<HostPort> host_ports;  // sorted
  std::vector<InlineDisk> disks;     // sorted
  std::vector<PodTerm> pod_terms;    // inter-pod affinity
  std::vector<SpreadConstraint> spread;
  std::int32_t image_count = 0;            // see PodTemplate::images
  std::vector<std::string_view> features;  // that the node must declare (required_features.h)
  bool has_claims = false;                 // resourceClaims

  Amounts requests;  // of the spec: what Fit compares with what is free
  Amounts usage;     // what the pod counts for on a node: status resources included
  // cpu and memory where a container that names none counts 100m and 200Mi.
  std::int64_t score_cpu_milli = 0;  // for scores: pod-level requests are ignored
  std::int64_t score_memory = 0;
  // What containers request of the huge pages that the pod as a whole requests, too: for scores.
  std::vector<std::pair<std::string, std::int64_t>> score_huge_pages;
  // How much of a resource, by its API name, a score counts for the pod.
  std::int64_t scored(std::string_view resource) const;
  std::int64_t nonzero_cpu_milli = 0;  // what the pod counts for in a node's non-zero requests
  std::int64_t nonzero_memory = 0;

  friend bool operator==(const PodNeeds&, const PodNeeds&) = default;
};

// What pods of one template have in common: the larger part of a view, and equal for most pods of a
// cluster. Views that were read with one PodTemplates share it.
struct PodTemplate {
  PodNeeds needs;
  std::uint64_t needs_hash = 0;  // equal needs, equal hash; the same on every machine
  // Of every init container and container, normalized, and of image volumes; sorted. Beside the
  // needs: only images that some node has make a difference.
  std::vector<std::string> images;
  std::string scheduler_name;

  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

}  // namespace muster::api
