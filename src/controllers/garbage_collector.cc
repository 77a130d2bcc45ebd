#include "controllers/garbage_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/conversion.h"
#include "controllers/owner_blocks.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";
// How many dependents of one owner are looked at, or changed, at once.
constexpr std::size_t kSlice = 500;
constexpr std::string_view kBelow = "below:";  // in keys that stand for the dependents of a uid

// Every kind that is stored, but events: nothing owns them and they own nothing.
bool is_watched(const api::Kind& kind) {
  return kind.stored && &api::stored_kind(kind) == &kind && &kind != &api::kinds::event();
}

std::string key_text(const api::Object& object, std::string_view prefix = {}) {
  const api::ObjectMeta& meta = object.meta();
  return meta.name_space.empty() ? std::string(prefix) + meta.uid
                                 : fmt::format("{}/{}{}", meta.name_space, prefix, meta.uid);
}

bool has_finalizer(const api::Object& object, std::string_view finalizer) {
  const auto& finalizers = object.meta().finalizers;
  return std::ranges::find(finalizers, finalizer) != finalizers.end();
}

// The owners it names, each once: references may differ in their versions alone.
std::vector<std::string> owner_uids(const api::Object& object) {
  std::vector<std::string> out;
  for (const api::OwnerReference& owner : object.meta().owners) out.push_back(owner.uid);
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

bool same_owners(const api::Object& a, const api::Object& b) {
  return std::ranges::equal(a.meta().owners, b.meta().owners,
                            [](const api::OwnerReference& x, const api::OwnerReference& y) {
                              return x.uid == y.uid && x.kind == y.kind && x.name == y.name;
                            });
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

api::Request patch(const api::Object& object, JsonObject metadata) {
  const api::ObjectMeta& meta = object.meta();
  metadata["uid"] = meta.uid;
  return client::patch_request(object.kind(), meta.name_space, meta.name, "",
                               api::PatchType::StrategicMerge,
                               JsonObject{{"metadata", std::move(metadata)}});
}

api::Request drop_finalizer(const api::Object& object, std::string_view finalizer) {
  return patch(object, {{"$deleteFromPrimitiveList/finalizers", JsonArray{finalizer}}});
}

api::Request drop_references(const api::Object& object, const std::set<std::string>& uids) {
  JsonArray references;
  for (const std::string& uid : uids)
    references.push_back(JsonObject{{"$patch", "delete"}, {"uid", uid}});
  return patch(object, {{"ownerReferences", std::move(references)}});
}

// The same reference, no longer blocking: breaks circles of objects that wait for each other.
api::Request unblock(const api::Object& object) {
  JsonArray references;
  for (const std::string& uid : owner_uids(object))
    references.push_back(JsonObject{{"uid", uid}, {"blockOwnerDeletion", false}});
  return patch(object, {{"ownerReferences", std::move(references)}});
}

// Nothing is deleted that has changed since it was judged.
api::Request remove(const api::Object& object, std::string_view policy) {
  api::Request request = client::delete_request(object, std::nullopt);
  request.remove.propagation_policy = policy;
  request.remove.preconditions.uid = object.meta().uid;
  request.remove.preconditions.resource_version = std::to_string(object.revision().value);
  return request;
}

}  // namespace

void GarbageCollector::Dependents::put(const std::string& uid, bool blocks) {
  bool& known = blocks_.try_emplace(uid, false).first->second;
  if (blocks && !known) ++blocking_;
  if (!blocks && known) --blocking_;
  known = blocks;
}

void GarbageCollector::Dependents::erase(const std::string& uid) {
  const auto at = blocks_.find(uid);
  if (at == blocks_.end()) return;
  if (at->second) --blocking_;
  blocks_.erase(at);
}

GarbageCollector::GarbageCollector(client::ComponentContext context)
    : Controller("garbage-collector", std::move(context), watches(*this)) {}

std::vector<GarbageCollector::Watch> GarbageCollector::watches(GarbageCollector& self) {
  std::vector<Watch> out;
  for (const api::Kind* kind : api::all_kinds())
    if (is_watched(*kind))
      out.push_back({.kind = kind, .keys_of = [&self](const Change& change) {
                       return change.after ? self.on_object(change.after)
                                           : self.on_gone(*change.before);
                     }});
  return out;
}

GarbageCollector::Keys GarbageCollector::on_object(const api::ObjectPtr& shown) {
  const api::Object& object = *shown;
  const std::string& uid = object.meta().uid;
  Keys keys;
  Node& node = nodes_[uid];
  const api::ObjectPtr before = std::exchange(node.object, shown);
  const bool deleting = object.meta().deletion_time.has_value();
  node.foreground = deleting && has_finalizer(object, kForeground);
  node.orphans = deleting && has_finalizer(object, kOrphan);
  if (before == nullptr) {
    if (const auto at = waiting_for_.find(uid); at != waiting_for_.end()) {
      node.dependents = std::move(at->second);
      keys.push_back(look_below(object));
      waiting_for_.erase(at);
    }
  }
  const bool ends = node.foreground || node.orphans;
  const bool new_owners =
      before == nullptr ? !object.meta().owners.empty() : !same_owners(*before, object);
  // Those it no longer names may have waited for it.
  if (new_owners && before != nullptr)
    for (std::string& owner : unlink(*before)) keys.push_back(std::move(owner));
  if (ends || new_owners) keys.push_back(key_text(object));
  // What names the same owners may block others of them than before, or none.
  if (before == nullptr || !same_references(*before, object)) {
    link(object);
    for (std::string& owner : waiting_owners(object)) keys.push_back(std::move(owner));
  }
  // Those below it are deleted, or let go, with it.
  if (ends && (before == nullptr || !before->meta().deletion_time))
    keys.push_back(look_below(object));
  return keys;
}

GarbageCollector::Keys GarbageCollector::on_gone(const api::Object& object) {
  const auto at = nodes_.find(object.meta().uid);
  if (at == nodes_.end()) return {};
  Dependents dependents = std::move(at->second.dependents);
  const api::ObjectPtr last = std::move(at->second.object);
  nodes_.erase(at);
  letting_go_.erase(object.meta().uid);
  Keys keys = unlink(*last);
  if (dependents.empty()) return keys;
  absent_.insert(object.meta().uid);
  waiting_for_.emplace(object.meta().uid, std::move(dependents));
  keys.push_back(look_below(object));
  return keys;
}

std::string GarbageCollector::key_of(const std::string& uid) const {
  const auto at = nodes_.find(uid);
  return at == nodes_.end() ? uid : key_text(*at->second.object);
}

// Those that are deleted in the foreground.
GarbageCollector::Keys GarbageCollector::waiting_owners(const api::Object& object) const {
  Keys keys;
  for (const std::string& uid : owner_uids(object))
    if (const auto at = nodes_.find(uid); at != nodes_.end() && at->second.foreground)
      keys.push_back(key_text(*at->second.object));
  return keys;
}

std::string GarbageCollector::look_below(const api::Object& object) {
  below_.insert_or_assign(object.meta().uid, std::string());
  return key_text(object, kBelow);
}

void GarbageCollector::go_on_below(const std::string& key, const std::string& uid, Time now) {
  const auto next = below_.find(uid);
  if (next == below_.end()) return;
  const auto node = nodes_.find(uid);
  const auto waiting = waiting_for_.find(uid);
  const Dependents none;
  const Dependents& dependents = node != nodes_.end()            ? node->second.dependents
                                 : waiting != waiting_for_.end() ? waiting->second
                                                                 : none;
  auto at = dependents.from(next->second);
  for (std::size_t i = 0; i < kSlice && at != dependents.end(); ++i, ++at)
    work().add(key_of(at->first), now);
  if (at == dependents.end()) {
    below_.erase(next);
    return;
  }
  next->second = at->first;
  work().add(key, now);
}

// Enters the object with its owners, those it blocks last: a second reference may name the same.
void GarbageCollector::link(const api::Object& object) {
  const auto& owners = object.meta().owners;
  const std::vector<bool> blocked = blocked_owners(object);
  for (const bool blocks : {false, true})
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (blocked[i] != blocks) continue;
      const auto at = nodes_.find(owners[i].uid);
      auto& dependents = at != nodes_.end() ? at->second.dependents : waiting_for_[owners[i].uid];
      dependents.put(object.meta().uid, blocks);
    }
}

// Returns the owners that may have waited for it.
GarbageCollector::Keys GarbageCollector::unlink(const api::Object& object) {
  Keys keys;
  for (const std::string& uid : owner_uids(object)) {
    if (const auto at = nodes_.find(uid); at != nodes_.end()) {
      at->second.dependents.erase(object.meta().uid);
      if (at->second.object->meta().deletion_time) keys.push_back(key_text(*at->second.object));
      continue;
    }
    const auto waiting = waiting_for_.find(uid);
    if (waiting == waiting_for_.end()) continue;
    waiting->second.erase(object.meta().uid);
    if (!waiting->second.empty()) continue;
    absent_.erase(waiting->first);
    waiting_for_.erase(waiting);
  }
  return keys;
}

GarbageCollector::Owner GarbageCollector::judge(const api::Object& dependent,
                                                const api::OwnerReference& reference) const {
  const auto at = nodes_.find(reference.uid);
  if (at == nodes_.end()) return absent_.contains(reference.uid) ? Owner::Absent : Owner::Unknown;
  const api::Object& owner = *at->second.object;
  // A reference with the right uid but another name or kind, or into another namespace, names
  // nobody.
  const bool same_place =
      !owner.kind().namespaced || owner.meta().name_space == dependent.meta().name_space;
  if (owner.kind().kind != reference.kind || owner.meta().name != reference.name || !same_place)
    return Owner::Absent;
  return at->second.foreground ? Owner::Waiting : Owner::Solid;
}

void GarbageCollector::reconcile(const std::string& key, Time now) {
  const std::string uid(key.substr(key.find('/') + 1));
  if (uid.starts_with(kBelow)) return go_on_below(key, uid.substr(kBelow.size()), now);
  const auto at = nodes_.find(uid);
  if (at == nodes_.end()) return;
  const Node& node = at->second;
  if (node.orphans) return decide_orphans(node, now);
  if (node.foreground) return decide_foreground(node);
  if (node.object->meta().deletion_time) return;
  decide_dependent(node);
}

void GarbageCollector::decide_foreground(const Node& node) {
  if (!node.dependents.block()) change(*node.object, drop_finalizer(*node.object, kForeground));
}

// It is asked again when these dependents have lost their references, or could not.
void GarbageCollector::decide_orphans(const Node& node, Time now) {
  const std::string uid = node.object->meta().uid;
  if (node.dependents.empty()) return change(*node.object, drop_finalizer(*node.object, kOrphan));
  LettingGo& state = letting_go_[uid];
  if (state.under_way > 0) return;
  const std::string key = key_text(*node.object);
  bool busy = false;  // a call about a dependent is under way
  auto at = node.dependents.from(state.next);
  for (std::size_t seen = 0; seen < node.dependents.size() && state.under_way < kSlice; ++seen) {
    if (at == node.dependents.end()) at = node.dependents.begin();
    const auto dependent = nodes_.find((at++)->first);
    if (dependent == nodes_.end()) continue;
    const std::string below = key_text(*dependent->second.object);
    if (work().is_held(below)) {
      busy = true;
      continue;
    }
    ++state.under_way;
    call(below, drop_references(*dependent->second.object, {uid}),
         [this, uid, key](const client::Outcome& outcome, Time then) {
           finish(key, outcome, then);
           const auto left = letting_go_.find(uid);
           if (left == letting_go_.end()) return;
           left->second.failed |= !outcome && outcome.error().reason != Reason::NotFound;
           if (--left->second.under_way > 0) return;
           // After a failure finish() has said when to go on.
           if (!std::exchange(left->second.failed, false)) work().add(key, then);
         });
  }
  state.next = at == node.dependents.end() ? std::string() : at->first;
  if (busy) work().retry(key, now);
}

void GarbageCollector::decide_dependent(const Node& node) {
  const api::Object& object = *node.object;
  std::set<std::string> useless;  // uids
  bool solid = false;
  bool waiting = false;
  charge(object.meta().owners.size());
  for (const api::OwnerReference& reference : object.meta().owners) {
    switch (judge(object, reference)) {
      case Owner::Unknown: return ask_for_owner(node, reference);
      case Owner::Solid: solid = true; break;
      case Owner::Waiting: waiting = true; [[fallthrough]];
      case Owner::Absent: useless.insert(reference.uid); break;
    }
  }
  if (useless.empty()) return;
  if (solid) return change(object, drop_references(object, useless));
  if (!waiting || node.dependents.empty()) {
    const std::string_view policy = has_finalizer(object, kOrphan)       ? "Orphan"
                                    : has_finalizer(object, kForeground) ? "Foreground"
                                                                         : "Background";
    return change(object, remove(object, policy));
  }
  charge(node.dependents.size());
  if (is_cycle(node)) return change(object, unblock(object));
  change(object, remove(object, "Foreground"));
}

// Whether one of those below it is itself deleted in the foreground, and so may wait for it, and
// whether it still blocks anybody.
bool GarbageCollector::is_cycle(const Node& node) const {
  const bool waits_below = std::ranges::any_of(node.dependents, [&](const auto& dependent) {
    const auto at = nodes_.find(dependent.first);
    return at != nodes_.end() && at->second.foreground;
  });
  if (!waits_below) return false;
  const std::vector<bool> blocked = blocked_owners(*node.object);
  return std::ranges::find(blocked, true) != blocked.end();
}

void GarbageCollector::ask_for_owner(const Node& node, const api::OwnerReference& reference) {
  const api::Kind* kind = api::find_kind(group_of(reference.api_version), reference.kind);
  // An object of a kind we do not know may well exist; of one that no feed shows, nobody would say
  // when it is gone.
  if (kind == nullptr || !is_watched(*kind)) return;
  api::Request request;
  request.verb = api::Verb::Get;
  request.kind = kind;
  request.version = kind->stored_version;
  if (kind->namespaced) request.name_space = node.object->meta().name_space;
  request.name = reference.name;
  const std::string key = key_text(*node.object);
  call(key, std::move(request),
       [this, key, owner = reference.uid](const client::Outcome& outcome, Time now) {
         on_owner_answer(key, owner, outcome, now);
       });
}

// Afterwards it is looked at once more: a patch need not change what on_object() compares.
void GarbageCollector::change(const api::Object& object, api::Request request) {
  const std::string key = key_text(object);
  call(key, std::move(request), [this, key](const client::Outcome& outcome, Time now) {
    finish(key, outcome, now);
    if (outcome) work().add(key, now);
  });
}

void GarbageCollector::on_owner_answer(const std::string& key, const std::string& owner,
                                       const client::Outcome& outcome, Time now) {
  const api::ObjectAnswer* answer =
      outcome ? std::get_if<api::ObjectAnswer>(&outcome->what) : nullptr;
  const bool gone = outcome ? answer != nullptr && answer->object->meta().uid != owner
                            : outcome.error().reason == Reason::NotFound;
  if (!gone) return work().retry(key, now);  // the feed will show it
  if (!waiting_for_.contains(owner)) return;
  absent_.insert(owner);
  work().add(key, now);
}

}  // namespace muster::controllers
