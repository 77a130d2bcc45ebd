// Between the decision and the binding: volumes are held for the pod, written to the API, and
// waited for.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "client/client.h"
#include "scheduler/plugins/volume_binding.h"

namespace muster::scheduler {
namespace {

using api::ClaimView;
using api::JsonObject;
using api::ObjectPtr;
using api::VolumeView;

constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";

std::string revision_text(const api::Object& object) {
  return std::to_string(object.revision().value);
}

// The volume belongs to the claim from now on; who binds claims does the rest.
api::Request claim_volume(const api::Object& volume, const api::Object& claim) {
  const api::ObjectMeta& meta = claim.meta();
  JsonObject metadata{{"annotations", JsonObject{{kBoundByController, "yes"}}}};
  if (volume.revision().value > 0) metadata["resourceVersion"] = revision_text(volume);
  JsonObject reference{{"kind", "PersistentVolumeClaim"},
                       {"apiVersion", "v1"},
                       {"namespace", meta.name_space},
                       {"name", meta.name},
                       {"uid", meta.uid}};
  if (claim.revision().value > 0) reference["resourceVersion"] = revision_text(claim);
  return client::patch_request(
      api::kinds::persistent_volume(), "", volume.meta().name, "", api::PatchType::Merge,
      JsonObject{{"metadata", std::move(metadata)},
                 {"spec", JsonObject{{"claimRef", std::move(reference)}}}});
}

// Asks the provisioner for a volume that the node reaches.
api::Request select_node(const api::Object& claim, std::string_view node) {
  const api::ObjectMeta& meta = claim.meta();
  return client::patch_request(
      api::kinds::persistent_volume_claim(), meta.name_space, meta.name, "", api::PatchType::Merge,
      JsonObject{{"metadata", JsonObject{{"uid", meta.uid},
                                         {"annotations", JsonObject{{kSelectedNode, node}}}}}});
}

Progress failed(const std::string& why) {
  return {Progress::State::Failed, "binding volumes: " + why};
}
Progress waits() { return {Progress::State::Waits, {}}; }

class VolumePreparation final : public Preparation {
 public:
  VolumePreparation(const VolumeReservation& reservation, Duration patience)
      : reservation_(reservation), patience_(patience) {
    for (const VolumeReservation::Match& match : reservation_.matches)
      if (!match.volume->view<VolumeView>().is_for(*match.claim))
        writes_.push_back({match.volume, match.claim});
    for (const ObjectPtr& claim : reservation_.provisioned)
      if (claim->view<ClaimView>().selected_node != reservation_.node)
        writes_.push_back({nullptr, claim});
    written_.resize(writes_.size());
  }

  std::vector<api::Request> writes() const override {
    std::vector<api::Request> requests;
    for (const Write& write : writes_)
      requests.push_back(write.volume != nullptr ? claim_volume(*write.volume, *write.claim)
                                                 : select_node(*write.claim, reservation_.node));
    return requests;
  }
  void written(std::size_t index, const api::Answer& answer) override {
    if (const auto* object = std::get_if<api::ObjectAnswer>(&answer.what))
      written_[index] = object->revision;
  }

  Progress progress(const Cluster& cluster) const override {
    const VolumeBook& book = cluster.volumes();
    Progress all;
    const auto look_at = [&](const ObjectPtr& claim) {
      if (all.state == Progress::State::Failed) return;
      if (Progress one = claim_progress(*claim, cluster); one.state != Progress::State::Done)
        all = std::move(one);
    };
    for (const VolumeReservation::Match& match : reservation_.matches) look_at(match.claim);
    for (const ObjectPtr& claim : reservation_.provisioned) look_at(claim);
    if (all.state != Progress::State::Waits) return all;
    for (std::size_t i = 0; i < writes_.size(); ++i)
      if (const std::string why = undone(writes_[i], written_[i], book); !why.empty())
        return failed(why);
    return all;
  }
  Duration patience() const override { return patience_; }
  std::string context() const override { return "binding volumes: "; }
  std::vector<std::string> waits_on() const override {
    std::vector<std::string> names;
    const auto add = [&](const ObjectPtr& object) {
      names.push_back(fmt::format("{}/{}/{}", object->kind().kind, object->meta().name_space,
                                  object->meta().name));
    };
    for (const VolumeReservation::Match& match : reservation_.matches) {
      add(match.claim);
      add(match.volume);
    }
    for (const ObjectPtr& claim : reservation_.provisioned) add(claim);
    return names;
  }

 private:
  struct Write {
    ObjectPtr volume;  // null: the claim gets a node
    ObjectPtr claim;
  };

  Progress claim_progress(const api::Object& planned, const Cluster& cluster) const {
    const VolumeBook& book = cluster.volumes();
    const api::ObjectMeta& meta = planned.meta();
    const ObjectPtr claim = book.claim(meta.name_space, meta.name);
    if (claim == nullptr || claim->meta().uid != meta.uid)
      return failed(fmt::format("persistentvolumeclaim \"{}\" not found", meta.name));
    const auto& view = claim->view<ClaimView>();
    if (!view.is_bound()) return waits();
    const ObjectPtr volume = book.volume(view.volume_name);
    if (volume == nullptr) return waits();
    NodeId node{};
    if (!cluster.find_node(reservation_.node, node))
      return failed(fmt::format("node \"{}\" not found", reservation_.node));
    if (!reaches(volume->view<VolumeView>(), *cluster.node_object(node)))
      return failed(
          fmt::format("pv \"{}\" node affinity doesn't match node \"{}\": no matching "
                      "NodeSelectorTerms",
                      volume->meta().name, reservation_.node));
    return {};
  }

  // Why a write that was accepted is of no use any more: somebody took it back since. Empty: it
  // stands, or the watch has not shown it yet.
  std::string undone(const Write& write, api::Revision since, const VolumeBook& book) const {
    if (write.volume != nullptr) {
      const ObjectPtr volume = book.volume(write.volume->meta().name);
      if (volume == nullptr)
        return fmt::format("persistentvolume \"{}\" not found", write.volume->meta().name);
      if (volume->revision() >= since && !volume->view<VolumeView>().is_for(*write.claim))
        return fmt::format("claimRef got reset for pv \"{}\"", volume->meta().name);
      return {};
    }
    const api::ObjectMeta& meta = write.claim->meta();
    const ObjectPtr claim = book.claim(meta.name_space, meta.name);
    if (claim->revision() >= since && !claim->view<ClaimView>().is_bound() &&
        claim->view<ClaimView>().selected_node != reservation_.node)
      return fmt::format("provisioning failed for PVC \"{}\"", meta.name);
    return {};
  }

  const VolumeReservation reservation_;
  const Duration patience_;
  std::vector<Write> writes_;
  std::vector<api::Revision> written_;
};

}  // namespace

Reserve::Answer VolumeBinding::reserve(const ObjectPtr& pod, std::string_view node,
                                       Cluster& cluster) const {
  if (pod->view<api::PodView>().claims.empty()) return {};
  VolumeBook::Reserved reserved = cluster.reserve_volumes(*pod, node);
  return {std::move(reserved.refusal), reserved.reservation != nullptr};
}

void VolumeBinding::unreserve(const ObjectPtr& pod, Cluster& cluster) const {
  if (!pod->view<api::PodView>().claims.empty()) cluster.release_volumes(pod->meta().uid);
}

std::unique_ptr<Preparation> VolumeBinding::prepare_binding(const ObjectPtr& pod, std::string_view,
                                                            const Cluster& cluster) const {
  if (pod->view<api::PodView>().claims.empty()) return nullptr;
  const VolumeReservation* held = cluster.volumes().reservation(pod->meta().uid);
  if (held == nullptr) return nullptr;
  return std::make_unique<VolumePreparation>(*held, args_.bind_timeout);
}

}  // namespace muster::scheduler
