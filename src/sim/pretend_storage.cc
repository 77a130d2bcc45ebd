#include "sim/pretend_storage.h"

#include <algorithm>
#include <utility>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "api/views/volume_views.h"
#include "scheduler/volumes/volume_book.h"
#include "sim/pretend_volume.h"

namespace muster::sim {
namespace {

using api::ClaimView;
using api::JsonObject;
using api::ObjectPtr;
using api::StorageClassView;
using api::VolumeView;
using client::Mirror;

constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";
constexpr std::string_view kAllClasses = "all";

// Keys of the work queue say what they are about: "claim:ns/name", "volume:name", …
std::string claim_work(std::string_view name_space, std::string_view name) {
  return "claim:" + scheduler::claim_key(name_space, name);
}
std::string claim_work(const api::Object& claim) {
  return claim_work(claim.meta().name_space, claim.meta().name);
}
std::string class_work(const std::optional<std::string>& name) {
  return "class:" + name.value_or(std::string());
}

bool is_waiting(const api::Object& claim) { return claim.view<ClaimView>().volume_name.empty(); }

bool is_default(const api::Object& storage_class) {
  const std::string* mark = api::lookup(storage_class.meta().annotations, kDefaultClass);
  return mark != nullptr && *mark == "true";
}

void index_claim(const api::Object& claim, std::vector<std::string>& terms) {
  if (is_waiting(claim)) terms.push_back(class_work(claim.view<ClaimView>().storage_class));
}

void index_volume(const api::Object& volume, std::vector<std::string>& terms) {
  const auto& view = volume.view<VolumeView>();
  terms.push_back(view.claim_name.empty() ? class_work(view.storage_class)
                                          : claim_work(view.claim_namespace, view.claim_name));
}

}  // namespace

PretendStorage::PretendStorage(client::ComponentContext context)
    : Controller("pretend-storage", std::move(context),
                 {{.kind = &api::kinds::storage_class(),
                   .mirror = &classes_,
                   .keys_of = [this](const Change& change) { return on_class(change); }},
                  {.kind = &api::kinds::persistent_volume(),
                   .mirror = &volumes_,
                   .keys_of = [this](const Change& change) { return on_volume(change); }},
                  {.kind = &api::kinds::persistent_volume_claim(),
                   .mirror = &claims_,
                   .keys_of = [this](const Change& change) { return on_claim(change); }},
                  {.kind = &api::kinds::node(),
                   .mirror = &nodes_,
                   .keys_of = [](const Change&) { return Keys{}; }},
                  {.kind = &api::kinds::pod(),
                   .mirror = &pods_,
                   .keys_of = on_pod,
                   .only =
                       [](const auto& pod) {
                         return std::ranges::any_of(pod.template view<api::PodView>().claims,
                                                    &api::PodClaim::ephemeral);
                       }}}),
      claims_({.own = index_claim}),
      volumes_({.own = index_volume}),
      classes_({.own = [](const api::Object&, std::vector<std::string>& terms) {
        terms.emplace_back(kAllClasses);
      }}) {}

api::User PretendStorage::user() {
  return {.name = "system:serviceaccount:kube-system:persistent-volume-binder",
          .groups = {"system:serviceaccounts", "system:serviceaccounts:kube-system",
                     "system:authenticated"}};
}

// --- what concerns whom ---

PretendStorage::Keys PretendStorage::on_claim(const Change& change) const {
  const api::Object& claim = change.newest();
  Keys keys{claim_work(claim)};
  if (change.after == nullptr)
    for (const Mirror::Entry* volume : volumes_.indexed(claim_work(claim)))
      keys.push_back("volume:" + volume->object->meta().name);
  return keys;
}

PretendStorage::Keys PretendStorage::on_volume(const Change& change) const {
  const api::Object& volume = change.newest();
  const auto& view = volume.view<VolumeView>();
  Keys keys{"volume:" + volume.meta().name};
  if (!view.claim_name.empty())
    keys.push_back(claim_work(view.claim_namespace, view.claim_name));
  else if (change.after != nullptr && view.phase == "Available")
    keys.push_back(class_work(view.storage_class));
  return keys;
}

PretendStorage::Keys PretendStorage::on_class(const Change& change) const {
  if (change.after == nullptr) return {};
  Keys keys{class_work(change.after->meta().name)};
  if (is_default(*change.after)) keys.push_back(class_work(std::nullopt));
  return keys;
}

PretendStorage::Keys PretendStorage::on_pod(const Change& change) {
  if (change.after == nullptr) return {};
  return {"pod:" + api::key_text(change.after->meta())};
}

void PretendStorage::reconcile(const std::string& key, Time now) {
  const std::size_t colon = key.find(':');
  const std::string_view about = std::string_view(key).substr(0, colon);
  const std::string_view rest = std::string_view(key).substr(colon + 1);
  const auto [name_space, name] = client::split_key(rest);
  if (about == "class") return reconcile_class(rest, now);
  const Mirror& mirror = about == "claim" ? claims_ : about == "volume" ? volumes_ : pods_;
  const ObjectPtr object = mirror.find(name_space, name);
  if (object == nullptr || object->meta().deletion_time) return;
  if (about == "claim")
    reconcile_claim(key, object);
  else if (about == "volume")
    reconcile_volume(key, object);
  else
    reconcile_pod(key, object);
}

// Everybody who waits for this class looks again.
void PretendStorage::reconcile_class(std::string_view name, Time now) {
  for (const Mirror::Entry* claim : claims_.indexed("class:" + std::string(name)))
    work().add(claim_work(*claim->object), now);
}

// --- claims ---

void PretendStorage::reconcile_claim(const std::string& key, const ObjectPtr& claim) {
  const auto& view = claim->view<ClaimView>();
  if (!view.storage_class) {
    if (const ObjectPtr by_default = default_class())
      return call(key, set_class(*claim, by_default->meta().name));
  }
  if (const ObjectPtr volume = volume_for(claim)) return bind(key, claim, volume);
  if (!view.volume_name.empty()) {
    if (view.bind_completed && view.phase != "Lost") call(key, set_claim_phase(*claim, "Lost"));
    return;
  }
  const ObjectPtr storage_class = classes_.find("", view.storage_class.value_or(""));
  const bool waits =
      storage_class != nullptr && storage_class->view<StorageClassView>().waits_for_consumer();
  if (waits && view.selected_node.empty()) return;
  if (!waits)
    if (const ObjectPtr open = open_volume_for(claim)) return bind(key, claim, open);
  if (storage_class != nullptr && storage_class->view<StorageClassView>().provisions())
    provision(key, claim, storage_class);
}

// The volume the claim names, or one that names the claim.
ObjectPtr PretendStorage::volume_for(const ObjectPtr& claim) const {
  const auto& view = claim->view<ClaimView>();
  if (!view.volume_name.empty()) {
    const ObjectPtr volume = volumes_.find("", view.volume_name);
    if (volume == nullptr) return nullptr;
    const auto& found = volume->view<VolumeView>();
    return found.claim_name.empty() || found.is_for(*claim) ? volume : nullptr;
  }
  for (const Mirror::Entry* volume : volumes_.indexed(claim_work(*claim)))
    if (volume->object->view<VolumeView>().is_for(*claim)) return volume->object;
  return nullptr;
}

ObjectPtr PretendStorage::open_volume_for(const ObjectPtr& claim) const {
  const auto& view = claim->view<ClaimView>();
  ObjectPtr best;
  for (const Mirror::Entry* volume :
       volumes_.indexed(class_work(view.storage_class.value_or("")))) {
    const auto& found = volume->object->view<VolumeView>();
    if (found.phase != "Available" || !scheduler::suits(claim, volume->object)) continue;
    if (best == nullptr || found.capacity < best->view<VolumeView>().capacity)
      best = volume->object;
  }
  return best;
}

ObjectPtr PretendStorage::default_class() const {
  for (const Mirror::Entry* storage_class : classes_.indexed(kAllClasses))
    if (is_default(*storage_class->object)) return storage_class->object;
  return nullptr;
}

// One step at a time; each shows in the watch, and brings the next. First the volume belongs to
// the claim, then the claim to the volume: of two claims that want one volume, one loses at the
// first step.
void PretendStorage::bind(const std::string& key, const ObjectPtr& claim, const ObjectPtr& volume) {
  const auto& wanted = claim->view<ClaimView>();
  const auto& found = volume->view<VolumeView>();
  if (found.claim_uid != claim->meta().uid) return call(key, claim_volume(*volume, *claim));
  if (found.phase != "Bound") return call(key, set_volume_phase(*volume, "Bound"));
  if (!wanted.is_bound()) return call(key, bind_claim(*claim, *volume));
  if (wanted.phase != "Bound") call(key, claim_is_bound(*claim, *volume));
}

void PretendStorage::provision(const std::string& key, const ObjectPtr& claim,
                               const ObjectPtr& storage_class) {
  const std::string& selected = claim->view<ClaimView>().selected_node;
  const ObjectPtr node = selected.empty() ? nullptr : nodes_.find("", selected);
  // The node is gone: the scheduler is to choose again.
  if (!selected.empty() && node == nullptr) return call(key, unselect_node(*claim));
  call(key, create_volume(*claim, *storage_class, node.get()),
       [this, key](const client::Outcome& outcome, Time now) {
         if (!outcome && outcome.error().reason == Reason::AlreadyExists) return;
         finish(key, outcome, now);
       });
}

// --- volumes ---

void PretendStorage::reconcile_volume(const std::string& key, const ObjectPtr& volume) {
  const auto& view = volume->view<VolumeView>();
  const ObjectPtr claim =
      view.claim_name.empty() ? nullptr : claims_.find(view.claim_namespace, view.claim_name);
  if (claim != nullptr && view.is_for(*claim)) return;  // the claim brings it on
  if (view.claim_uid.empty()) {
    if (view.phase != "Available") call(key, set_volume_phase(*volume, "Available"));
    return;
  }
  const bool is_ours = api::lookup(volume->meta().annotations, kProvisionedBy) != nullptr;
  if (is_ours && view.reclaim_policy == "Delete")
    call(key, client::delete_request(*volume, std::nullopt));
  else if (view.phase != "Released")
    call(key, set_volume_phase(*volume, "Released"));
}

// --- pods ---

void PretendStorage::reconcile_pod(const std::string& key, const ObjectPtr& pod) {
  for (const api::PodClaim& claim : pod->view<api::PodView>().claims) {
    const std::string name = api::claim_name(*pod, claim);
    if (!claim.ephemeral || claims_.find(pod->meta().name_space, name) != nullptr) continue;
    call(key, create_ephemeral_claim(*pod, claim.name),
         [this, key](const client::Outcome& outcome, Time now) {
           if (!outcome && outcome.error().reason == Reason::AlreadyExists) return;
           finish(key, outcome, now);
         });
  }
}

}  // namespace muster::sim
