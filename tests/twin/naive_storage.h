#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"
#include "api/views/volume_views.h"

namespace muster::scheduler::twin {

// What one plugin says of a pod on a node.
struct NaiveVerdict {
  std::vector<std::string> reasons;  // empty: accepted
  std::string plugin;
  bool unresolvable = false;
};

// Pods that hold a node, by UID: the pod and the name of its node.
using NaivePods = std::map<std::string, std::pair<api::ObjectPtr, std::string>>;

// Claims, volumes and drivers as upstream's volume plugins see them: every question is answered by
// going over all objects.
class NaiveStorage {
 public:
  void put(const api::ObjectPtr& object);
  void remove(const api::Object& object);

  // What a pod on its way to a node holds: a volume for each claim, or a node for a claim whose
  // volume has to be made.
  struct Held {
    std::string node;
    std::map<std::string, std::string> volumes;  // by claim
    std::set<std::string> provisioned;           // claims
  };
  std::map<std::string, Held> held;  // by UID

  // Why no node is looked at, by the first plugin that says so.
  std::optional<NaiveVerdict> refuses_everywhere(const api::Object& pod) const;

  NaiveVerdict restrictions(const api::Object& pod, const std::string& node,
                            const NaivePods& pods) const;
  // `shared`: the claims that several pods name.
  NaiveVerdict limits(const api::Object& pod, const std::string& node, const NaivePods& pods,
                      const std::set<std::string>& shared) const;
  NaiveVerdict binding(const api::Object& pod, const api::Object& node) const;
  NaiveVerdict zone(const api::Object& pod, const api::Object& node) const;
  std::int64_t binding_score(const api::Object& pod, const api::Object& node) const;
  // What the pod would hold on the node, where nothing refuses it.
  Held reserve(const api::Object& pod, const api::Object& node) const;

  // A pod like this one, under another name: what nobody but this one uses is copied too.
  api::ObjectPtr copy_of(const api::Object& pod, const std::string& name,
                         const std::set<std::string>& shared_claims);

 private:
  struct Choice;
  const api::Object* find(std::string_view kind, const std::string& name_space,
                          const std::string& name) const;
  const api::Object* claim_of(const api::Object& pod, const api::PodClaim& claim) const;
  const api::Object* volume(const std::string& name) const {
    return find("PersistentVolume", "", name);
  }
  std::vector<const api::Object*> all(std::string_view kind) const;
  bool waits_for_consumer(const api::Object& claim) const;
  std::optional<NaiveVerdict> claims_refuse(const api::Object& pod) const;
  std::optional<NaiveVerdict> zones_refuse(const api::Object& pod) const;
  // Of these claims alone, if they are given.
  std::map<std::string, std::string> attached_by(const api::Object& pod,
                                                 const std::set<std::string>* claims = {}) const;
  bool is_for(const api::Object& volume, const api::Object& claim) const;
  bool is_for_nobody(const api::Object& volume) const;
  bool has_volume_of_its_own(const api::Object& claim) const;
  static bool is_enough(const api::Object& volume, const api::Object& claim);
  std::string selected_node(const api::Object& claim) const;
  const api::Object* match(const api::Object& claim, const api::Object& node,
                           const std::set<std::string>& chosen) const;
  std::string refuses_to_make(const api::Object& claim, const api::Object& node) const;
  const api::CapacityView* capacity_for(const api::Object& claim, const api::Object& node) const;
  Choice choose(const api::Object& pod, const api::Object& node) const;

  std::map<std::string, api::ObjectPtr> objects_;  // by kind, namespace and name
};

std::string claim_key_of(const api::Object& claim);
bool is_owned_by(const api::Object& claim, const api::Object& pod);

}  // namespace muster::scheduler::twin
