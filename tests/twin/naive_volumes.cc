// Volumes for claims that wait for their first consumer, as upstream's VolumeBinding chooses them;
// and pods that are like others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/kinds/kind.h"
#include "twin/naive_storage.h"

namespace muster::scheduler::twin {
namespace {

using api::CapacityView;
using api::ClaimView;
using api::Object;
using api::PodClaim;
using api::PodView;
using api::StorageClassView;
using api::VolumeView;

const std::vector<PodClaim>& claims_in(const Object& pod) { return pod.view<PodView>().claims; }

bool reaches(const Object& volume, const Object& node) {
  const auto& view = volume.view<VolumeView>();
  if (!view.has_affinity) return true;
  return std::ranges::any_of(view.affinity, [&](const api::NodeSelectorTerm& term) {
    if (term.expressions.empty()) return false;
    return std::ranges::all_of(term.expressions, [&](const api::NodeRequirement& test) {
      const std::string* value = api::lookup(node.meta().labels, test.key);
      const bool is_listed = value != nullptr && std::ranges::count(test.values, *value) > 0;
      return test.op == api::SelectorOperator::In ? is_listed : !is_listed;  // or NotIn
    });
  });
}

}  // namespace

struct NaiveStorage::Choice {
  std::vector<std::pair<const Object*, const Object*>> matches;  // claim and volume
  std::vector<const Object*> to_make;                            // claims
  std::string refusal;                                           // empty: all can be had
};

bool NaiveStorage::is_for(const Object& volume, const Object& claim) const {
  const auto& view = volume.view<VolumeView>();
  if (!view.claim_name.empty())
    return view.claim_namespace + "/" + view.claim_name == claim_key_of(claim) &&
           (view.claim_uid.empty() || view.claim_uid == claim.meta().uid);
  return std::ranges::any_of(held, [&](const auto& entry) {
    const auto at = entry.second.volumes.find(claim_key_of(claim));
    return at != entry.second.volumes.end() && at->second == volume.meta().name;
  });
}

bool NaiveStorage::is_for_nobody(const Object& volume) const {
  if (!volume.view<VolumeView>().claim_name.empty()) return false;
  return std::ranges::none_of(held, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.volumes, [&](const auto& given) {
      return given.second == volume.meta().name;
    });
  });
}

bool NaiveStorage::is_enough(const Object& volume, const Object& claim) {
  const auto& view = volume.view<VolumeView>();
  const auto& wanted = claim.view<ClaimView>();
  return view.storage_class == wanted.storage_class.value_or("") &&
         view.capacity >= wanted.request && view.volume_mode == wanted.volume_mode &&
         view.attributes_class == wanted.attributes_class && !volume.meta().deletion_time;
}

// Ours: such a claim gets no other volume, even if a provisioner was asked for one.
bool NaiveStorage::has_volume_of_its_own(const Object& claim) const {
  return std::ranges::any_of(all("PersistentVolume"), [&](const Object* candidate) {
    return is_for(*candidate, claim) && is_enough(*candidate, claim);
  });
}

std::string NaiveStorage::selected_node(const Object& claim) const {
  if (const std::string& node = claim.view<ClaimView>().selected_node; !node.empty()) return node;
  for (const auto& [uid, holder] : held)
    if (holder.provisioned.contains(claim_key_of(claim))) return holder.node;
  return "";
}

const Object* NaiveStorage::match(const Object& claim, const Object& node,
                                  const std::set<std::string>& chosen) const {
  const auto& wanted = claim.view<ClaimView>();
  const Object* smallest = nullptr;
  for (const Object* candidate : all("PersistentVolume")) {
    const auto& view = candidate->view<VolumeView>();
    if (chosen.contains(candidate->meta().name) || !is_enough(*candidate, claim)) continue;
    if (is_for(*candidate, claim)) return reaches(*candidate, node) ? candidate : nullptr;
    const bool suits = is_for_nobody(*candidate) && view.phase == "Available" &&
                       reaches(*candidate, node) &&
                       (!wanted.selector || wanted.selector->matches(candidate->meta().labels)) &&
                       std::ranges::all_of(wanted.access_modes, [&](const std::string& mode) {
                         return std::ranges::count(view.access_modes, mode) > 0;
                       });
    if (suits && (smallest == nullptr || view.capacity < smallest->view<VolumeView>().capacity))
      smallest = candidate;
  }
  return smallest;
}

const CapacityView* NaiveStorage::capacity_for(const Object& claim, const Object& node) const {
  for (const Object* object : all("CSIStorageCapacity")) {
    const auto& view = object->view<CapacityView>();
    if (view.storage_class == claim.view<ClaimView>().storage_class.value_or("") && view.limit &&
        *view.limit >= claim.view<ClaimView>().request && view.topology &&
        view.topology->matches(node.meta().labels))
      return &view;
  }
  return nullptr;
}

std::string NaiveStorage::refuses_to_make(const Object& claim, const Object& node) const {
  std::string no_volume = "node(s) didn't find available persistent volumes to bind";
  if (has_volume_of_its_own(claim)) return no_volume;
  const auto& by = find("StorageClass", "", claim.view<ClaimView>().storage_class.value_or(""))
                       ->view<StorageClassView>();
  if (by.provisioner.empty() || by.provisioner == "kubernetes.io/no-provisioner") return no_volume;
  const auto is_met = [&](const StorageClassView::Topology& topology) {
    return std::ranges::all_of(topology, [&](const auto& test) {
      const std::string* value = api::lookup(node.meta().labels, test.first);
      return value != nullptr && std::ranges::count(test.second, *value) > 0;
    });
  };
  if (!by.allowed_topologies.empty() && std::ranges::none_of(by.allowed_topologies, is_met))
    return no_volume;
  const Object* driver = find("CSIDriver", "", by.provisioner);
  if (driver != nullptr && driver->view<api::CsiDriverView>().storage_capacity &&
      capacity_for(claim, node) == nullptr)
    return "node(s) did not have enough free storage";
  return "";
}

NaiveStorage::Choice NaiveStorage::choose(const Object& pod, const Object& node) const {
  Choice choice;
  std::vector<const Object*> delayed, to_match;
  for (const PodClaim& used : claims_in(pod))
    if (const Object* claim = claim_of(pod, used);
        claim != nullptr && waits_for_consumer(*claim) && std::ranges::count(delayed, claim) == 0)
      delayed.push_back(claim);
  for (const Object* claim : delayed) {
    const std::string node_asked = selected_node(*claim);
    if (!node_asked.empty() && node_asked != node.meta().name) {
      choice.refusal = "node(s) didn't find available persistent volumes to bind";
      return choice;
    }
    const bool is_made = !node_asked.empty() && !has_volume_of_its_own(*claim);
    (is_made ? choice.to_make : to_match).push_back(claim);
  }
  std::ranges::stable_sort(to_match, {},
                           [](const Object* claim) { return claim->view<ClaimView>().request; });
  std::set<std::string> chosen;
  for (const Object* claim : to_match) {
    const Object* found = match(*claim, node, chosen);
    if (found == nullptr) {
      choice.to_make.push_back(claim);
      continue;
    }
    chosen.insert(found->meta().name);
    choice.matches.emplace_back(claim, found);
  }
  for (const Object* claim : choice.to_make)
    if (choice.refusal.empty()) choice.refusal = refuses_to_make(*claim, node);
  return choice;
}

NaiveVerdict NaiveStorage::binding(const Object& pod, const Object& node) const {
  NaiveVerdict verdict{{}, "VolumeBinding", true};
  bool is_out_of_reach = false;
  bool is_lost = false;
  for (const PodClaim& used : claims_in(pod)) {
    const Object* claim = claim_of(pod, used);
    if (claim == nullptr || claim->view<ClaimView>().volume_name.empty()) continue;
    const Object* bound = volume(claim->view<ClaimView>().volume_name);
    is_lost |= bound == nullptr;
    is_out_of_reach |= bound != nullptr && !reaches(*bound, node);
  }
  const std::string refusal = choose(pod, node).refusal;
  if (is_out_of_reach)
    verdict.reasons.emplace_back("node(s) didn't match PersistentVolume's node affinity");
  if (!refusal.empty()) verdict.reasons.push_back(refusal);
  if (is_lost)
    verdict.reasons.emplace_back(
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  return verdict;
}

// By the default shape: the less of the storage is used, the better.
std::int64_t NaiveStorage::binding_score(const Object& pod, const Object& node) const {
  const Choice choice = choose(pod, node);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> used;  // of how much, by class
  for (const auto& [claim, found] : choice.matches) {
    auto& [requested, capacity] = used[*claim->view<ClaimView>().storage_class];
    requested += claim->view<ClaimView>().request;
    capacity += found->view<VolumeView>().capacity;
  }
  if (choice.matches.empty())
    for (const Object* claim : choice.to_make) {
      const Object* by = find("StorageClass", "", *claim->view<ClaimView>().storage_class);
      const Object* driver = find("CSIDriver", "", by->view<StorageClassView>().provisioner);
      if (driver == nullptr || !driver->view<api::CsiDriverView>().storage_capacity) continue;
      const CapacityView* reported = capacity_for(*claim, node);
      if (reported == nullptr) continue;
      auto& [requested, capacity] = used[*claim->view<ClaimView>().storage_class];
      requested += claim->view<ClaimView>().request;
      capacity = reported->capacity.value_or(0);
    }
  if (used.empty()) return 0;
  double sum = 0;
  for (const auto& [name, use] : used) {
    const auto& [requested, capacity] = use;
    const std::int64_t percent =
        capacity == 0 || requested > capacity ? 100 : requested * 100 / capacity;
    sum += static_cast<double>(100 - percent);
  }
  return std::llround(sum / static_cast<double>(used.size()));
}

NaiveStorage::Held NaiveStorage::reserve(const Object& pod, const Object& node) const {
  const Choice choice = choose(pod, node);
  Held reserved{.node = node.meta().name, .volumes = {}, .provisioned = {}};
  for (const auto& [claim, found] : choice.matches)
    reserved.volumes[claim_key_of(*claim)] = found->meta().name;
  for (const Object* claim : choice.to_make) reserved.provisioned.insert(claim_key_of(*claim));
  return reserved;
}

// --- copies ---

api::ObjectPtr NaiveStorage::copy_of(const Object& pod, const std::string& name,
                                     const std::set<std::string>& shared_claims) {
  api::Json document = pod.document();
  const auto set = [](api::Json& object, const char* member, const std::string& text) {
    object.as_object()[member] = text;
  };
  const std::string uid = "uid of " + name;
  set(document.at("metadata"), "name", name);
  set(document.at("metadata"), "uid", uid);
  std::set<std::string> copied;
  const auto copy_claim = [&](const Object& claim, const std::string& claim_name) {
    if (!copied.insert(claim_name).second) return;
    api::Json copy = claim.document();
    set(copy.at("metadata"), "name", claim_name);
    set(copy.at("metadata"), "uid", "uid-" + claim_name);
    if (auto* owners = copy.at("metadata").as_object().if_contains("ownerReferences"))
      if (is_owned_by(claim, pod)) set(owners->as_array()[0], "uid", uid);
    for (const Object* each : all("PersistentVolume")) {
      const bool is_bound = claim.view<ClaimView>().volume_name == each->meta().name;
      if (!is_bound && !is_for(*each, claim)) continue;
      api::Json own = each->document();
      set(own.at("metadata"), "name", each->meta().name + " for " + claim_name);
      if (auto* csi = own.at("spec").as_object().if_contains("csi"))
        set(*csi, "volumeHandle", "handle for " + claim_name);
      if (auto* disk = own.at("spec").as_object().if_contains("gcePersistentDisk"))
        set(*disk, "pdName", "disk for " + claim_name);
      if (auto* reference = own.at("spec").as_object().if_contains("claimRef")) {
        set(*reference, "name", claim_name);
        if (reference->as_object().contains("uid")) set(*reference, "uid", "uid-" + claim_name);
      }
      if (is_bound) set(copy.at("spec"), "volumeName", each->meta().name + " for " + claim_name);
      put(Object::make(api::kinds::persistent_volume(), own));
    }
    put(Object::make(api::kinds::persistent_volume_claim(), copy));
  };
  if (auto* volumes = document.at("spec").as_object().if_contains("volumes"))
    for (api::Json& mount : volumes->as_array()) {
      std::string mount_name(std::string_view(mount.at("name").as_string()));
      if (mount.as_object().contains("ephemeral")) {
        if (const Object* claim = find("PersistentVolumeClaim", pod.meta().name_space,
                                       pod.meta().name + "-" + mount_name))
          copy_claim(*claim, fmt::format("{}-{}", name, mount_name));
        continue;
      }
      if (!mount.as_object().contains("persistentVolumeClaim")) continue;
      api::Json& source = mount.at("persistentVolumeClaim");
      const std::string old(std::string_view(source.at("claimName").as_string()));
      if (shared_claims.contains(pod.meta().name_space + "/" + old)) continue;
      if (const Object* claim = find("PersistentVolumeClaim", pod.meta().name_space, old)) {
        const std::string own = fmt::format("{} of {}", old, name);
        copy_claim(*claim, own);
        set(source, "claimName", own);
      }
    }
  return Object::make(api::kinds::pod(), document);
}

}  // namespace muster::scheduler::twin
