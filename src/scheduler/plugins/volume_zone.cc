#include "scheduler/plugins/volume_zone.h"

#include <algorithm>
#include <array>

#include "scheduler/framework/refusing_pass.h"
#include "scheduler/plugins/volume_events.h"

namespace muster::scheduler {
namespace {

constexpr std::array<std::string_view, 4> kZoneLabels = {
    "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region", "topology.kubernetes.io/zone"};

// The label that took the place of an old one; empty: it is not an old one.
std::string_view successor(std::string_view key) {
  if (key == kZoneLabels[0]) return kZoneLabels[2];
  if (key == kZoneLabels[1]) return kZoneLabels[3];
  return {};
}

class VolumeZonePass final : public FilterPass {
 public:
  VolumeZonePass(const PodClass& pods, const Cluster& cluster) : volumes_(pods.volumes) {
    for (std::size_t i = 0; i < kZoneLabels.size(); ++i)
      columns_[i] = &cluster.label(kZoneLabels[i]);
    for (const VolumeNeeds::Zone& zone : volumes_->zones) {
      const std::string_view next = successor(zone.key);
      rules_.push_back(
          {&cluster.label(zone.key), next.empty() ? nullptr : &cluster.label(next), &zone.values});
    }
  }

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  // A node without any topology label is in no zone: it is not held against it.
  bool admits(NodeId node) const override {
    const bool has_zone = std::ranges::any_of(columns_, [&](const LabelColumn* column) {
      return column->values[node] != LabelValueId::Absent;
    });
    return !has_zone || std::ranges::all_of(rules_, [&](const Rule& rule) {
      const std::string* value = value_of(rule, node);
      return value != nullptr && std::ranges::binary_search(*rule.values, *value);
    });
  }
  Verdict ask(NodeId node) const override {
    if (admits(node)) return Verdict::accept();
    return Verdict::refuse("node(s) had no available volume zone", Remedy::None);
  }

 private:
  struct Rule {
    const LabelColumn* column;
    const LabelColumn* successor;  // null: none
    const std::vector<std::string>* values;
  };
  static const std::string* value_of(const Rule& rule, NodeId node) {
    for (const LabelColumn* column : {rule.column, rule.successor})
      if (column != nullptr && column->values[node] != LabelValueId::Absent)
        return &column->names[index_of(column->values[node])];
    return nullptr;
  }

  std::shared_ptr<const VolumeNeeds> volumes_;
  std::array<const LabelColumn*, 4> columns_{};
  std::vector<Rule> rules_;
};

bool topology_labels_differ(const api::Object& a, const api::Object& b) {
  return std::ranges::any_of(kZoneLabels, [&](std::string_view key) {
    const std::string* before = api::lookup(a.meta().labels, key);
    const std::string* after = api::lookup(b.meta().labels, key);
    return before == nullptr || after == nullptr ? before != after : *before != *after;
  });
}

}  // namespace

std::unique_ptr<FilterPass> VolumeZone::prepare_filter(const PodClass& pods,
                                                       const Cluster& cluster) const {
  if (pods.volumes == nullptr) return nullptr;
  if (!pods.volumes->zone_refusal.empty())
    return std::make_unique<RefusingPass>(pods.volumes->zone_refusal);
  if (pods.volumes->zones.empty()) return nullptr;
  return std::make_unique<VolumeZonePass>(pods, cluster);
}

bool VolumeZone::could_help(const api::Object& pod, const ClusterEvent& event) const {
  switch (event.resource) {
    case Resource::StorageClass:
      return event.action == Action::Add &&
             event.after->view<api::StorageClassView>().waits_for_consumer();
    case Resource::Node: return came_or_was_relabelled(event);
    case Resource::PersistentVolumeClaim: return is_claim_of(pod, event);
    case Resource::PersistentVolume:
      return event.action == Action::Add || (event.action == Action::Update &&
                                             topology_labels_differ(*event.before, *event.after));
    default: return false;
  }
}

}  // namespace muster::scheduler
