#include "scheduler/plugins/node_volume_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/framework/refusing_pass.h"
#include "scheduler/plugins/volume_events.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kTooMany = "node(s) exceed max volume count";

class NodeVolumeLimitsPass final : public FilterPass {
 public:
  NodeVolumeLimitsPass(const PodClass& pods, const Cluster& cluster)
      : volumes_(pods.volumes), cluster_(cluster) {
    for (const VolumeNeeds::Attached& wanted : volumes_->attached)
      missing_.push_back(fmt::format("{} CSI driver is not installed on the node", wanted.driver));
  }

  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  bool admits(NodeId node) const override { return cap_at(node) > 0; }
  Exactness cap(CapColumn& at_most) const override {
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      at_most.data()[row] = std::min(at_most.data()[row], cap_at(static_cast<NodeId>(row)));
    return Exactness::PerNode;
  }
  std::int32_t cap_at(NodeId node) const override {
    std::int32_t cap = kNoCap;
    for (const VolumeNeeds::Attached& wanted : volumes_->attached) {
      const Driver driver = driver_on(node, wanted);
      if (wanted.required_on_node && !driver.is_installed) return 0;
      if (driver.limit) cap = std::min(cap, room(node, wanted, *driver.limit));
    }
    return cap;
  }
  Verdict ask(NodeId node) const override {
    // A driver that is missing is named before any limit.
    for (std::size_t i = 0; i < volumes_->attached.size(); ++i)
      if (volumes_->attached[i].required_on_node &&
          !driver_on(node, volumes_->attached[i]).is_installed)
        return Verdict::refuse(missing_[i], Remedy::Eviction);
    return cap_at(node) > 0 ? Verdict::accept() : Verdict::refuse(kTooMany, Remedy::Eviction);
  }

 private:
  struct Driver {
    bool is_installed = false;
    std::optional<std::int64_t> limit;
  };
  Driver driver_on(NodeId node, const VolumeNeeds::Attached& wanted) const {
    if (cluster_.node_object(node) == nullptr) return {};
    const api::ObjectPtr csi_node = cluster_.volumes().csi_node(cluster_.node_name(node));
    if (csi_node == nullptr) return {};
    const auto& drivers = csi_node->view<api::CsiNodeView>().drivers;
    const auto at = drivers.find(wanted.driver);
    return at == drivers.end() ? Driver{} : Driver{true, at->second};
  }
  // How many more pods of the class. Pods that are expected on the node take room if they come, and
  // may not bring along what this class shares with them: the node is judged with them and without.
  std::int32_t room(NodeId node, const VolumeNeeds::Attached& wanted, std::int64_t limit) const {
    const std::int32_t as_is = room(node, wanted, limit, VolumeUse::Counting::AsIs);
    if (!cluster_.volume_use().expects_any()) return as_is;
    return std::min(as_is, room(node, wanted, limit, VolumeUse::Counting::WithExpected));
  }
  // The first pod brings along what they share.
  std::int32_t room(NodeId node, const VolumeNeeds::Attached& wanted, std::int64_t limit,
                    VolumeUse::Counting counting) const {
    const auto row = static_cast<std::uint32_t>(node);
    const VolumeUse& use = cluster_.volume_use();
    const auto shared = std::ranges::count_if(wanted.handles, [&](const std::string& handle) {
      return !use.is_attached(row, wanted.driver, handle, counting);
    });
    const std::int64_t left = limit - use.attached(row, wanted.driver, counting) - shared;
    if (wanted.own == 0 && shared == 0) return kNoCap;
    if (left < 0) return 0;
    if (wanted.own == 0) return kNoCap;
    return static_cast<std::int32_t>(std::min<std::int64_t>(left / wanted.own, kNoCap));
  }

  std::shared_ptr<const VolumeNeeds> volumes_;
  const Cluster& cluster_;
  std::vector<std::string> missing_;  // the reason, by driver
};

bool has_grown(const api::Object& before, const api::Object& after) {
  const auto& was = before.view<api::CsiNodeView>().drivers;
  return std::ranges::any_of(after.view<api::CsiNodeView>().drivers, [&](const auto& driver) {
    const auto at = was.find(driver.first);
    if (at == was.end()) return true;
    if (!at->second) return false;  // had no limit
    return !driver.second || *driver.second > *at->second;
  });
}

bool has_volumes(const api::Object& pod) {
  const auto& view = pod.view<api::PodView>();
  return !view.claims.empty() || !view.needs.disks.empty();
}

}  // namespace

std::unique_ptr<FilterPass> NodeVolumeLimits::prepare_filter(const PodClass& pods,
                                                             const Cluster& cluster) const {
  if (pods.volumes == nullptr) return nullptr;
  if (!pods.volumes->limits_refusal.empty())
    return std::make_unique<RefusingPass>(pods.volumes->limits_refusal,
                                          RefusingPass::When::AtEachNode);
  if (pods.volumes->attached.empty()) return nullptr;
  return std::make_unique<NodeVolumeLimitsPass>(pods, cluster);
}

bool NodeVolumeLimits::could_help(const api::Object& pod, const ClusterEvent& event) const {
  switch (event.resource) {
    case Resource::CSINode:
      return event.action == Action::Add ||
             (event.action == Action::Update && has_grown(*event.before, *event.after));
    case Resource::AssignedPod: {
      if (event.action != Action::Delete || event.before == nullptr) return false;
      const auto& gone = event.before->view<api::PodView>();
      return has_volumes(*event.before) &&
             (!gone.node_name.empty() || !gone.nominated_node.empty());
    }
    case Resource::PersistentVolumeClaim:
      return event.action == Action::Add && is_claim_of(pod, event);
    case Resource::VolumeAttachment: return event.action == Action::Delete && has_volumes(pod);
    default: return false;
  }
}

}  // namespace muster::scheduler
