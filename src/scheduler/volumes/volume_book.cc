#include "scheduler/volumes/volume_book.h"

#include <algorithm>
#include <utility>

#include "api/kinds/kind.h"
#include "api/views/node_selector.h"

namespace muster::scheduler {
namespace {

using api::ClaimView;
using api::ObjectPtr;
using api::VolumeView;

// Candidates are remembered for at most this many different criteria of one class.
constexpr std::size_t kCriteriaMax = 64;

const ClaimView& claim_view(const ObjectPtr& claim) { return claim->view<ClaimView>(); }
const VolumeView& volume_view(const ObjectPtr& volume) { return volume->view<VolumeView>(); }

std::string key_of(const api::Object& object) {
  return claim_key(object.meta().name_space, object.meta().name);
}

ObjectPtr find(const std::map<std::string, ObjectPtr, std::less<>>& objects, std::string_view key) {
  const auto at = objects.find(key);
  return at == objects.end() ? nullptr : at->second;
}

void insert_or_erase(std::map<std::string, std::set<std::string, std::less<>>, std::less<>>& index,
                     const std::string& key, const std::string& name, bool is_there) {
  if (is_there) {
    index[key].insert(name);
    return;
  }
  const auto at = index.find(key);
  if (at == index.end()) return;
  at->second.erase(name);
  if (at->second.empty()) index.erase(at);
}

// What the volume must have even if it is reserved for the claim.
bool is_enough(const ClaimView& claim, const ObjectPtr& volume) {
  const VolumeView& view = volume_view(volume);
  return view.capacity >= claim.request && view.volume_mode == claim.volume_mode &&
         view.attributes_class == claim.attributes_class && !volume->meta().deletion_time;
}

}  // namespace

std::string claim_key(std::string_view name_space, std::string_view name) {
  std::string key;
  key.reserve(name_space.size() + 1 + name.size());
  return key.append(name_space).append(1, '/').append(name);
}

std::string criteria_of(const ClaimView& view) {
  std::string criteria =
      std::to_string(view.request) + '\n' + view.volume_mode + '\n' + view.attributes_class + '\n';
  for (const std::string& mode : view.access_modes) criteria += mode + ',';
  if (view.selector) criteria += '\n' + view.selector->text();
  return criteria;
}

bool suits(const ObjectPtr& claim, const ObjectPtr& volume) {
  const ClaimView& wanted = claim_view(claim);
  const VolumeView& view = volume_view(volume);
  return is_enough(wanted, volume) && view.storage_class == wanted.storage_class.value_or("") &&
         std::ranges::includes(view.access_modes, wanted.access_modes) &&
         (!wanted.selector || wanted.selector->matches(volume->meta().labels));
}

// --- objects ---

const std::vector<const api::Kind*>& VolumeBook::kinds() {
  static const std::vector<const api::Kind*> kKinds{&api::kinds::storage_class(),
                                                    &api::kinds::persistent_volume(),
                                                    &api::kinds::persistent_volume_claim(),
                                                    &api::kinds::csi_node(),
                                                    &api::kinds::csi_driver(),
                                                    &api::kinds::csi_storage_capacity(),
                                                    &api::kinds::volume_attachment()};
  return kKinds;
}

bool VolumeBook::keeps(const api::Kind& kind) {
  return std::ranges::find(kinds(), &kind) != kinds().end();
}

VolumeBook::Objects* VolumeBook::table_of(const api::Kind& kind) {
  if (&kind == &api::kinds::persistent_volume_claim()) return &claims_;
  if (&kind == &api::kinds::persistent_volume()) return &volumes_;
  if (&kind == &api::kinds::storage_class()) return &classes_;
  if (&kind == &api::kinds::csi_node()) return &csi_nodes_;
  if (&kind == &api::kinds::csi_driver()) return &csi_drivers_;
  if (&kind == &api::kinds::csi_storage_capacity()) return &capacities_;
  if (&kind == &api::kinds::volume_attachment()) return &attachments_;
  return nullptr;
}

ObjectPtr VolumeBook::put(const ObjectPtr& object) {
  Objects* table = table_of(object->kind());
  if (table == nullptr) return nullptr;
  ObjectPtr& slot = (*table)[key_of(*object)];
  ObjectPtr before = std::exchange(slot, object);
  if (before != nullptr) index(before, false);
  index(object, true);
  if (before != nullptr) changed(*before);
  changed(*object);
  return before;
}

ObjectPtr VolumeBook::remove(const api::Object& object) {
  Objects* table = table_of(object.kind());
  if (table == nullptr) return nullptr;
  const auto at = table->find(key_of(object));
  if (at == table->end()) return nullptr;
  const ObjectPtr before = at->second;
  table->erase(at);
  index(before, false);
  changed(*before);
  return before;
}

void VolumeBook::index(const ObjectPtr& object, bool is_there) {
  if (&object->kind() == &api::kinds::persistent_volume()) return index_volume(object, is_there);
  if (&object->kind() != &api::kinds::volume_attachment()) return;
  const auto& view = object->view<api::AttachmentView>();
  const std::string& name = object->meta().name;
  insert_or_erase(attachments_by_node_, view.node_name, name, is_there);
  insert_or_erase(attachments_by_volume_, view.volume_name, name, is_there);
}

void VolumeBook::index_volume(const ObjectPtr& volume, bool is_there) {
  const VolumeView& view = volume_view(volume);
  const std::string& name = volume->meta().name;
  if (view.claim_name.empty())
    insert_or_erase(volumes_by_class_, view.storage_class, name, is_there);
  else
    insert_or_erase(volumes_by_claim_, claim_key(view.claim_namespace, view.claim_name), name,
                    is_there);
}

// Volumes of a claim, and claims, are in the text of the needs themselves; what many claims choose
// from is there by its epoch.
void VolumeBook::changed(const api::Object& object) {
  const api::Kind& kind = object.kind();
  if (&kind == &api::kinds::persistent_volume()) {
    if (object.view<VolumeView>().claim_name.empty())
      touch(object.view<VolumeView>().storage_class);
  } else if (&kind == &api::kinds::storage_class()) {
    touch(object.meta().name);
  } else if (&kind == &api::kinds::csi_storage_capacity()) {
    touch(object.view<api::CapacityView>().storage_class);
  } else if (&kind == &api::kinds::csi_driver()) {
    ++drivers_epoch_;
  }
}

// Epochs are never used twice. A class that nobody mentions any more needs none: there is nothing
// to choose from.
void VolumeBook::touch(const std::string& class_name) {
  if (classes_.contains(claim_key("", class_name)) || volumes_by_class_.contains(class_name)) {
    epochs_[class_name] = ++last_epoch_;
    return;
  }
  epochs_.erase(class_name);
  candidates_.erase(class_name);
}

void VolumeBook::count_users(const api::Object& pod, int sign) {
  for (const std::string& name : claim_names(pod)) {
    const std::string key = claim_key(pod.meta().name_space, name);
    if ((users_[key] += sign) <= 0) users_.erase(key);
  }
}

bool VolumeBook::is_shared(const std::string& claim) const {
  const auto at = users_.find(claim);
  return at != users_.end() && at->second > 1;
}

ObjectPtr VolumeBook::claim(std::string_view name_space, std::string_view name) const {
  return find(claims_, claim_key(name_space, name));
}
ObjectPtr VolumeBook::volume(std::string_view name) const {
  return find(volumes_, claim_key("", name));
}
ObjectPtr VolumeBook::storage_class(std::string_view name) const {
  return find(classes_, claim_key("", name));
}
ObjectPtr VolumeBook::csi_node(std::string_view name) const {
  return find(csi_nodes_, claim_key("", name));
}
ObjectPtr VolumeBook::csi_driver(std::string_view name) const {
  return find(csi_drivers_, claim_key("", name));
}

std::vector<ObjectPtr> VolumeBook::attachments_to(std::string_view node) const {
  return named(attachments_by_node_, node);
}
std::vector<ObjectPtr> VolumeBook::attachments_of(std::string_view volume) const {
  return named(attachments_by_volume_, volume);
}

std::vector<ObjectPtr> VolumeBook::named(const std::map<std::string, Names, std::less<>>& index,
                                         std::string_view key) const {
  std::vector<ObjectPtr> found;
  if (const auto at = index.find(key); at != index.end())
    for (const std::string& name : at->second)
      found.push_back(find(attachments_, claim_key("", name)));
  return found;
}

std::vector<ObjectPtr> VolumeBook::objects() const {
  std::vector<ObjectPtr> all;
  for (const Objects* table :
       {&classes_, &volumes_, &claims_, &csi_nodes_, &csi_drivers_, &capacities_, &attachments_})
    for (const auto& [key, object] : *table) all.push_back(object);
  return all;
}

// --- volumes as others see them ---

bool VolumeBook::is_open(const ObjectPtr& volume) const {
  return volume_view(volume).phase == "Available" && volume_view(volume).claim_name.empty() &&
         !reserved_volumes_.contains(volume->meta().name);
}

std::string VolumeBook::selected_node(const ObjectPtr& claim) const {
  if (const std::string& node = claim_view(claim).selected_node; !node.empty()) return node;
  const auto at = reserved_nodes_.find(key_of(*claim));
  return at == reserved_nodes_.end() ? std::string() : *at->second.begin();
}

// A volume that names the claim, in the API or because we are about to write that.
VolumeCandidate VolumeBook::reserved_for(const ObjectPtr& claim) const {
  const std::string key = key_of(*claim);
  if (const auto at = volumes_by_claim_.find(key); at != volumes_by_claim_.end())
    for (const std::string& name : at->second) {
      const ObjectPtr candidate = volume(name);
      if (volume_view(candidate).is_for(*claim) && is_enough(claim_view(claim), candidate) &&
          volume_view(candidate).storage_class == claim_view(claim).storage_class.value_or(""))
        return {candidate, &volume_view(candidate)};
    }
  if (const auto at = reserved_by_claim_.find(key); at != reserved_by_claim_.end())
    if (const ObjectPtr candidate = volume(at->second)) return {candidate, &volume_view(candidate)};
  return {};
}

std::shared_ptr<const VolumeCandidates> VolumeBook::candidates(const ObjectPtr& claim) const {
  static const auto kNone = std::make_shared<const VolumeCandidates>();
  const std::string class_name = claim_view(claim).storage_class.value_or("");
  const auto names = volumes_by_class_.find(class_name);
  if (names == volumes_by_class_.end()) return kNone;
  CachedCandidates& cached = candidates_[class_name];
  const std::uint64_t epoch = epoch_of(class_name);
  if (cached.epoch != epoch || cached.by_criteria.size() >= kCriteriaMax) cached = {epoch, {}};
  std::shared_ptr<const VolumeCandidates>& list =
      cached.by_criteria[criteria_of(claim_view(claim))];
  if (list != nullptr) return list;
  VolumeCandidates found;
  for (const std::string& name : names->second) {
    const ObjectPtr candidate = volume(name);
    if (is_open(candidate) && suits(claim, candidate))
      found.push_back({candidate, &volume_view(candidate)});
  }
  std::ranges::stable_sort(found, {}, [](const VolumeCandidate& c) { return c.view->capacity; });
  return list = std::make_shared<const VolumeCandidates>(std::move(found));
}

std::uint64_t VolumeBook::epoch_of(const std::string& class_name) const {
  const auto at = epochs_.find(class_name);
  return at == epochs_.end() ? 0 : at->second;
}

// --- reservations ---

VolumeBook::Reserved VolumeBook::reserve(const api::Object& pod, const api::Object& node) {
  std::vector<ObjectPtr> claims;
  const std::shared_ptr<const VolumeNeeds> needs = resolve(pod, &claims);
  if (claims.empty()) return {};
  if (is_made_elsewhere(*needs, node.meta().name)) return {nullptr, std::string(kNoVolume)};
  const VolumeChoice choice = choose_volumes(
      *needs, [&](const VolumeCandidate& candidate) { return reaches(*candidate.view, node); },
      [](const VolumeCandidate&) { return false; });
  auto reservation = std::make_shared<VolumeReservation>();
  reservation->node = node.meta().name;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const DelayedClaim& wanted = needs->delayed[i];
    if (choice.volumes[i].volume != nullptr) {
      reservation->matches.push_back({claims[i], choice.volumes[i].volume});
    } else if (const std::string_view refusal = refuses_to_provision(wanted, node);
               !refusal.empty()) {
      return {nullptr, std::string(refusal)};
    } else {
      reservation->provisioned.push_back(claims[i]);
    }
  }
  hold(*reservation, true);
  const auto& kept = reservations_[pod.meta().uid] = std::move(reservation);
  return {kept, {}};
}

void VolumeBook::release(std::string_view uid) {
  const auto at = reservations_.find(uid);
  if (at == reservations_.end()) return;
  hold(*at->second, false);
  reservations_.erase(at);
}

const VolumeReservation* VolumeBook::reservation(std::string_view uid) const {
  const auto at = reservations_.find(uid);
  return at == reservations_.end() ? nullptr : at->second.get();
}

void VolumeBook::hold(const VolumeReservation& reservation, bool is_held) {
  for (const VolumeReservation::Match& match : reservation.matches) {
    const std::string claim = key_of(*match.claim);
    const std::string& name = match.volume->meta().name;
    // Pods that share a claim hold its volume together.
    int& holders = reserved_volumes_[name];
    holders += is_held ? 1 : -1;
    if (holders > 0) {
      reserved_by_claim_[claim] = name;
    } else {
      reserved_volumes_.erase(name);
      reserved_by_claim_.erase(claim);
    }
    touch(volume_view(match.volume).storage_class);
  }
  for (const ObjectPtr& claim : reservation.provisioned) {
    std::multiset<std::string>& nodes = reserved_nodes_[key_of(*claim)];
    if (is_held)
      nodes.insert(reservation.node);
    else if (const auto at = nodes.find(reservation.node); at != nodes.end())
      nodes.erase(at);
    if (nodes.empty()) reserved_nodes_.erase(key_of(*claim));
  }
}

}  // namespace muster::scheduler
