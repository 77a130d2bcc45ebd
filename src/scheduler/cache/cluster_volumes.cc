// Volumes: what pods attach and use on nodes, and what objects about storage change of it.
#include "api/kinds/kind.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {
namespace {

std::uint32_t row_number(NodeId node) { return static_cast<std::uint32_t>(node); }

}  // namespace

// --- objects ---

api::ObjectPtr Cluster::put_volume_object(const api::ObjectPtr& object) {
  api::ObjectPtr before = volumes_.put(object);
  volume_object_changed(*object);
  if (&object->kind() == &api::kinds::volume_attachment()) set_attachment(*object);
  return before;
}

api::ObjectPtr Cluster::remove_volume_object(const api::Object& object) {
  api::ObjectPtr before = volumes_.remove(object);
  if (before == nullptr) return nullptr;
  volume_object_changed(*before);
  if (&object.kind() == &api::kinds::volume_attachment()) drop_attachment(object.meta().name);
  return before;
}

void Cluster::drop_attachment(const std::string& name) {
  if (const auto row = volume_use_.remove_attachment(name))
    log_.add(static_cast<NodeId>(*row), RowLog::What::Usage);
}

// Logs the rows whose answers it may change: those of pods that now attach something else, and the
// node whose drivers it describes.
void Cluster::volume_object_changed(const api::Object& object) {
  const api::Kind& kind = object.kind();
  if (&kind == &api::kinds::persistent_volume_claim()) {
    recount_users(claim_key(object.meta().name_space, object.meta().name));
  } else if (&kind == &api::kinds::persistent_volume()) {
    const auto& view = object.view<api::VolumeView>();
    recount_users(claim_key(view.claim_namespace, view.claim_name));
    for (const api::ObjectPtr& attachment : volumes_.attachments_of(object.meta().name))
      set_attachment(*attachment);
  } else if (&kind == &api::kinds::csi_node()) {
    NodeId node{};
    if (find_node(object.meta().name, node)) log_.add(node, RowLog::What::Usage);
  }
}

void Cluster::recount_users(std::string_view claim) {
  for (const VolumeUse::Row row : volume_use_.recount(claim, volumes_))
    log_.add(static_cast<NodeId>(row), RowLog::What::Usage);
}

// An attachment of a volume or to a node that is not known does not count until it is.
void Cluster::set_attachment(const api::Object& object) {
  const std::string& name = object.meta().name;
  drop_attachment(name);
  std::optional<VolumeBook::NodeAttachment> held = volumes_.attachment_of(object);
  NodeId node{};
  if (!held || !find_node(held->node, node)) return;
  volume_use_.set_attachment(name, row_number(node), std::move(held->driver),
                             std::move(held->handle));
  log_.add(node, RowLog::What::Usage);
}

// --- pods ---

void Cluster::count_volumes(const PodRecord& record, std::int64_t sign) {
  using Presence = VolumeUse::Presence;
  const Presence presence =
      record.phase == PodPhase::HoldsNode ? Presence::Present : Presence::Expected;
  if (sign > 0)
    volume_use_.add_pod(record.pod, row_number(record.node), volumes_, presence);
  else
    volume_use_.remove_pod(*record.pod, presence);
}

void Cluster::place_volumes(const PodClass& pods, NodeId node, std::int64_t sign) {
  volume_use_.place(*pods.volumes, *pods.needs, row_number(node), static_cast<int>(sign));
  if (sign < 0) return volume_draft_->unplace(*pods.volumes, row_number(node));
  volume_draft_->place(*pods.volumes, row_number(node), [&](const VolumeCandidate& candidate) {
    return node_object(node) != nullptr && reaches(*candidate.view, *node_object(node));
  });
}

std::optional<VolumeChoice> Cluster::choose_volumes(const VolumeNeeds& needs, NodeId node) const {
  return choose_on(*volume_draft_, needs, row_number(node), [&](const VolumeCandidate& candidate) {
    return reaches(*candidate.view, *node_object(node));
  });
}

VolumeBook::Reserved Cluster::reserve_volumes(const api::Object& pod, std::string_view node) {
  NodeId row{};
  if (!find_node(node, row)) return {nullptr, "node not found"};
  return volumes_.reserve(pod, *node_object(row));
}

}  // namespace muster::scheduler
