#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/views/volume_views.h"
#include "scheduler/volumes/volume_needs.h"

namespace muster::scheduler {

// What a pod that was given a node holds until its claims are bound.
struct VolumeReservation {
  std::string node;
  struct Match {
    api::ObjectPtr claim;
    api::ObjectPtr volume;
  };
  std::vector<Match> matches;               // volumes to be bound to claims
  std::vector<api::ObjectPtr> provisioned;  // claims for which a provisioner is to be asked
};

// Claims, volumes and what describes them, as the scheduler knows them: from the watch, plus the
// reservations of pods that are not bound yet. It knows nothing of rows; a copy shares the
// objects.
//
//   resolve(pod) ──▶ VolumeNeeds ──▶ class of pods ──▶ passes of the volume plugins
//   reserve(pod) ──▶ others see the volumes as taken ──▶ release(pod) when all is bound, or failed
class VolumeBook {
 public:
  // The kinds it keeps.
  static const std::vector<const api::Kind*>& kinds();
  static bool keeps(const api::Kind& kind);

  // --- from the watch ---
  // Returns what it knew before; null: nothing.
  api::ObjectPtr put(const api::ObjectPtr& object);
  api::ObjectPtr remove(const api::Object& object);
  // A pod that names claims was added, or is gone: pods that share a claim are judged differently.
  void count_users(const api::Object& pod, int sign);

  // --- lookups; null: there is none ---
  api::ObjectPtr claim(std::string_view name_space, std::string_view name) const;
  api::ObjectPtr volume(std::string_view name) const;
  api::ObjectPtr storage_class(std::string_view name) const;
  api::ObjectPtr csi_node(std::string_view name) const;
  api::ObjectPtr csi_driver(std::string_view name) const;
  // The VolumeAttachments to a node, and of a volume.
  std::vector<api::ObjectPtr> attachments_to(std::string_view node) const;
  std::vector<api::ObjectPtr> attachments_of(std::string_view volume) const;
  // Every object, by kind and name.
  std::vector<api::ObjectPtr> objects() const;

  // --- needs ---
  // `claims`, if given, gets the claim of each delayed one, in the same order.
  std::shared_ptr<const VolumeNeeds> resolve(const api::Object& pod,
                                             std::vector<api::ObjectPtr>* claims = nullptr) const;
  // What a pod attaches: driver and handle of each of its volumes, each once. A claim without a
  // volume counts under its own name.
  struct PodAttachment {
    std::string driver;
    std::string handle;
    bool is_own = false;  // no other pod uses it
    friend auto operator<=>(const PodAttachment&, const PodAttachment&) = default;
  };
  std::vector<PodAttachment> attachments(const api::Object& pod) const;
  // What a VolumeAttachment holds; nullopt: nothing that counts.
  struct NodeAttachment {
    std::string node;
    std::string driver;
    std::string handle;
  };
  std::optional<NodeAttachment> attachment_of(const api::Object& attachment) const;

  // --- our own decisions ---
  // Chooses volumes for the pod on the node, or says why there are none. It holds them until
  // release().
  struct Reserved {
    std::shared_ptr<const VolumeReservation> reservation;  // null: nothing to hold
    std::string refusal;                                   // not empty: it cannot run there
  };
  Reserved reserve(const api::Object& pod, const api::Object& node);
  void release(std::string_view uid);
  const VolumeReservation* reservation(std::string_view uid) const;

 private:
  using Objects = std::map<std::string, api::ObjectPtr, std::less<>>;
  using Names = std::set<std::string, std::less<>>;

  Objects* table_of(const api::Kind& kind);
  void index(const api::ObjectPtr& object, bool is_there);
  void index_volume(const api::ObjectPtr& volume, bool is_there);
  std::vector<api::ObjectPtr> named(const std::map<std::string, Names, std::less<>>& index,
                                    std::string_view key) const;
  void changed(const api::Object& object);
  void touch(const std::string& class_name);
  std::uint64_t epoch_of(const std::string& class_name) const;
  void hold(const VolumeReservation& reservation, bool is_held);
  bool is_shared(const std::string& claim) const;

  // Volumes as others see them: reserved ones belong to a claim already.
  bool is_open(const api::ObjectPtr& volume) const;
  std::string selected_node(const api::ObjectPtr& claim) const;
  VolumeCandidate reserved_for(const api::ObjectPtr& claim) const;
  std::shared_ptr<const VolumeCandidates> candidates(const api::ObjectPtr& claim) const;
  DelayedClaim delay(const api::ObjectPtr& claim) const;
  // What decides about the volumes a claim could get, in a few bytes.
  std::string state_of(const api::ObjectPtr& claim) const;

  friend class NeedsResolver;

  Objects claims_, volumes_, classes_, csi_nodes_, csi_drivers_, capacities_, attachments_;
  std::map<std::string, Names, std::less<>> volumes_by_class_;  // those without a claimRef
  std::map<std::string, Names, std::less<>> volumes_by_claim_;  // by namespace/name of the claimRef
  std::map<std::string, Names, std::less<>> attachments_by_node_, attachments_by_volume_;
  std::map<std::string, int, std::less<>> users_;  // pods that name a claim
  // Grows with every change of what a storage class offers to those that wait.
  std::map<std::string, std::uint64_t, std::less<>> epochs_;
  std::uint64_t last_epoch_ = 0;
  std::uint64_t drivers_epoch_ = 0;

  // Reservations.
  std::map<std::string, std::shared_ptr<const VolumeReservation>, std::less<>> reservations_;
  std::map<std::string, int, std::less<>> reserved_volumes_;           // pods that hold it, by name
  std::map<std::string, std::string, std::less<>> reserved_by_claim_;  // its name, by claim
  // Nodes by claim, one entry for each pod that asked; all are the same.
  std::map<std::string, std::multiset<std::string>, std::less<>> reserved_nodes_;

  // Candidates by class and criteria of the claim, good for one epoch.
  struct CachedCandidates {
    std::uint64_t epoch = 0;
    std::map<std::string, std::shared_ptr<const VolumeCandidates>> by_criteria;
  };
  mutable std::map<std::string, CachedCandidates, std::less<>> candidates_;
};

std::string claim_key(std::string_view name_space, std::string_view name);
// The claims a pod names, each once, in the order of its volumes.
std::vector<std::string> claim_names(const api::Object& pod);
// Whether an unclaimed volume would do for the claim, regardless of where it can be reached from.
bool suits(const api::ObjectPtr& claim, const api::ObjectPtr& volume);
// The part of a claim that decides which volumes would do.
std::string criteria_of(const api::ClaimView& claim);

}  // namespace muster::scheduler
