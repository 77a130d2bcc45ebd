#include "controllers/garbage_collector.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/conversion.h"
#include "base/log.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

bool has_finalizer(const api::Object& object, std::string_view finalizer) {
  const auto& finalizers = object.meta().finalizers;
  return std::ranges::find(finalizers, finalizer) != finalizers.end();
}

bool deletes_in_foreground(const api::Object& object) {
  return object.meta().deletion_time && has_finalizer(object, kForeground);
}

bool deletes_as_orphan(const api::Object& object) {
  return object.meta().deletion_time && has_finalizer(object, kOrphan);
}

// Whether the dependent wants its owner to wait for it. Asked only while an owner is deleted in
// the foreground, so it is read from the document then.
bool blocks(const api::Object& dependent, std::string_view owner_uid) {
  const Json document = dependent.document();
  const Json* references = api::find_path(document, "metadata.ownerReferences");
  if (references == nullptr || !references->is_array()) return false;
  return std::ranges::any_of(references->get_array(), [&](const Json& reference) {
    const Json* block = api::find(reference, "blockOwnerDeletion");
    return api::find_string(reference, "uid") == owner_uid && block != nullptr &&
           block->is_bool() && block->get_bool();
  });
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

api::Request drop_references(const api::Object& object, const std::vector<std::string>& uids) {
  JsonArray references;
  for (const std::string& uid : uids)
    references.push_back(JsonObject{{"$patch", "delete"}, {"uid", uid}});
  return patch(object, {{"ownerReferences", std::move(references)}});
}

// The same reference, no longer blocking: breaks circles of objects that wait for each other.
api::Request unblock(const api::Object& object) {
  JsonArray references;
  for (const api::OwnerReference& owner : object.meta().owners)
    references.push_back(JsonObject{{"uid", owner.uid}, {"blockOwnerDeletion", false}});
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

GarbageCollector::GarbageCollector(client::Send send) : calls_(std::move(send)) {}

std::vector<const api::Kind*> GarbageCollector::watched_kinds() {
  std::vector<const api::Kind*> kinds;
  for (const api::Kind* kind : api::all_kinds())
    if (kind->stored && &api::stored_kind(*kind) == kind && kind != &api::kinds::event())
      kinds.push_back(kind);
  return kinds;
}

void GarbageCollector::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input))
    see(*event);
  else if (const auto* called = std::get_if<client::Called>(&input))
    take_in_outcome(*called, now);
  else
    started_ = true;
}

void GarbageCollector::see(const client::Event& event) {
  const api::Object& object = *event.object;
  const std::string& uid = object.meta().uid;
  if (event.type == client::Event::Type::Deleted) return forget(object);
  Node& node = nodes_[uid];
  const api::ObjectPtr before = std::exchange(node.object, event.object);
  if (before == nullptr) {
    if (const auto at = waiting_for_.find(uid); at != waiting_for_.end()) {
      node.dependents = std::move(at->second);
      work_.add_all(node.dependents);
      waiting_for_.erase(at);
    }
  }
  const bool ends = object.meta().deletion_time &&
                    (has_finalizer(object, kForeground) || has_finalizer(object, kOrphan));
  const bool new_owners =
      before == nullptr ? !object.meta().owners.empty() : !same_owners(*before, object);
  if (new_owners) {
    // Those it no longer names may have waited for it.
    if (before != nullptr) unlink(*before);
    link(object);
  }
  if (ends || new_owners) work_.add(uid);
  // It may have stopped blocking one that waits for it.
  for (const api::OwnerReference& owner : object.meta().owners)
    if (const auto at = nodes_.find(owner.uid);
        at != nodes_.end() && deletes_in_foreground(*at->second.object))
      work_.add(owner.uid);
  // Those below it are deleted, or let go, with it.
  if (ends && (before == nullptr || !before->meta().deletion_time)) work_.add_all(node.dependents);
}

void GarbageCollector::forget(const api::Object& object) {
  const auto at = nodes_.find(object.meta().uid);
  if (at == nodes_.end()) return;
  const std::set<std::string> dependents = std::move(at->second.dependents);
  const api::ObjectPtr last = std::move(at->second.object);
  nodes_.erase(at);
  unlink(*last);
  if (dependents.empty()) return;
  absent_.insert(object.meta().uid);
  work_.add_all(dependents);
  waiting_for_.emplace(object.meta().uid, dependents);
}

// Enters the object with its owners.
void GarbageCollector::link(const api::Object& object) {
  for (const api::OwnerReference& owner : object.meta().owners) {
    const auto at = nodes_.find(owner.uid);
    auto& dependents = at != nodes_.end() ? at->second.dependents : waiting_for_[owner.uid];
    dependents.insert(object.meta().uid);
  }
}

void GarbageCollector::unlink(const api::Object& object) {
  for (const api::OwnerReference& owner : object.meta().owners) {
    if (const auto at = nodes_.find(owner.uid); at != nodes_.end()) {
      at->second.dependents.erase(object.meta().uid);
      if (at->second.object->meta().deletion_time) work_.add(owner.uid);
      continue;
    }
    const auto waiting = waiting_for_.find(owner.uid);
    if (waiting == waiting_for_.end()) continue;
    waiting->second.erase(object.meta().uid);
    if (!waiting->second.empty()) continue;
    waiting_for_.erase(waiting);
    absent_.erase(owner.uid);
  }
}

GarbageCollector::Owner GarbageCollector::judge(const api::Object& dependent,
                                                const api::OwnerReference& reference) const {
  const auto at = nodes_.find(reference.uid);
  if (at == nodes_.end()) return absent_.contains(reference.uid) ? Owner::Absent : Owner::Unknown;
  const api::Object& owner = *at->second.object;
  // Who names the right uid but another object names nobody; so does who reaches into another
  // namespace.
  const bool same_place =
      !owner.kind().namespaced || owner.meta().name_space == dependent.meta().name_space;
  if (owner.kind().kind != reference.kind || owner.meta().name != reference.name || !same_place)
    return Owner::Absent;
  return deletes_in_foreground(owner) ? Owner::Waiting : Owner::Solid;
}

void GarbageCollector::decide(const std::string& uid) {
  const auto at = nodes_.find(uid);
  if (at == nodes_.end() || at->second.asked) return;
  Node& node = at->second;
  if (deletes_as_orphan(*node.object)) return decide_orphans(node);
  if (deletes_in_foreground(*node.object)) return decide_foreground(node);
  if (node.object->meta().deletion_time) return;
  decide_dependent(node);
}

void GarbageCollector::decide_foreground(Node& node) {
  const std::string& uid = node.object->meta().uid;
  const bool blocked = std::ranges::any_of(node.dependents, [&](const std::string& dependent) {
    const auto at = nodes_.find(dependent);
    return at != nodes_.end() && blocks(*at->second.object, uid);
  });
  if (!blocked) call(node, drop_finalizer(*node.object, kForeground), {.uid = uid});
}

void GarbageCollector::decide_orphans(Node& node) {
  const std::string uid = node.object->meta().uid;
  if (node.dependents.empty()) {
    call(node, drop_finalizer(*node.object, kOrphan), {.uid = uid});
    return;
  }
  for (const std::string& dependent : node.dependents) {
    const auto at = nodes_.find(dependent);
    if (at != nodes_.end() && !at->second.asked)
      call(at->second, drop_references(*at->second.object, {uid}), {.uid = dependent});
  }
}

void GarbageCollector::decide_dependent(Node& node) {
  const api::Object& object = *node.object;
  std::vector<std::string> useless;  // references
  bool solid = false;
  bool waiting = false;
  for (const api::OwnerReference& reference : object.meta().owners) {
    switch (judge(object, reference)) {
      case Owner::Unknown: return ask_for_owner(node, reference);
      case Owner::Solid: solid = true; break;
      case Owner::Waiting: waiting = true; [[fallthrough]];
      case Owner::Absent: useless.push_back(reference.uid); break;
    }
  }
  if (useless.empty()) return;
  const Call about{.uid = object.meta().uid};
  if (solid) return call(node, drop_references(object, useless), about);
  if (!waiting || node.dependents.empty()) {
    const std::string_view policy = has_finalizer(object, kOrphan)       ? "Orphan"
                                    : has_finalizer(object, kForeground) ? "Foreground"
                                                                         : "Background";
    return call(node, remove(object, policy), about);
  }
  if (is_cycle(node)) return call(node, unblock(object), about);
  call(node, remove(object, "Foreground"), about);
}

// Whether one of those below it is itself deleted in the foreground, and so may wait for it, and
// whether it still blocks anybody.
bool GarbageCollector::is_cycle(const Node& node) const {
  const bool waits_below = std::ranges::any_of(node.dependents, [&](const std::string& dependent) {
    const auto at = nodes_.find(dependent);
    return at != nodes_.end() && deletes_in_foreground(*at->second.object);
  });
  return waits_below && std::ranges::any_of(node.object->meta().owners, [&](const auto& owner) {
           return blocks(*node.object, owner.uid);
         });
}

void GarbageCollector::ask_for_owner(Node& node, const api::OwnerReference& reference) {
  const api::Kind* kind = api::find_kind(group_of(reference.api_version), reference.kind);
  // What we do not know may well exist: whoever serves it must tell.
  if (kind == nullptr) return;
  api::Request request;
  request.verb = api::Verb::Get;
  request.kind = kind;
  request.version = kind->stored_version;
  if (kind->namespaced) request.name_space = node.object->meta().name_space;
  request.name = reference.name;
  call(node, std::move(request), {.uid = node.object->meta().uid, .owner = reference.uid});
}

void GarbageCollector::call(Node& node, api::Request request, Call what) {
  node.asked = true;
  calls_.send(std::move(request), std::move(what));
}

void GarbageCollector::take_in_outcome(const client::Called& called, Time now) {
  const std::optional<Call> about = calls_.take(called);
  if (!about) return;
  const Call& done = *about;
  const auto at = nodes_.find(done.uid);
  if (at != nodes_.end()) at->second.asked = false;
  if (!done.owner.empty()) return take_in_owner(done, called.outcome, now);
  if (at == nodes_.end()) return;
  if (called.outcome) {
    at->second.backoff = {};
    // The feed tells what became of it; somebody else may have been refused meanwhile.
    work_.add(done.uid);
    return;
  }
  const Error& error = called.outcome.error();
  if (error.reason == Reason::NotFound) return;
  log(LogLevel::Debug, "garbage collection of {} {}: {}; trying again",
      at->second.object->kind().kind, api::key_text(at->second.object->meta()), error.message);
  retry_later(done.uid, now);
}

void GarbageCollector::take_in_owner(const Call& call, const client::Outcome& outcome, Time now) {
  const api::ObjectAnswer* answer =
      outcome ? std::get_if<api::ObjectAnswer>(&outcome->what) : nullptr;
  const bool gone = outcome ? answer != nullptr && answer->object->meta().uid != call.owner
                            : outcome.error().reason == Reason::NotFound;
  if (!gone) return retry_later(call.uid, now);  // the feed will tell of it
  if (!waiting_for_.contains(call.owner)) return;
  absent_.insert(call.owner);
  work_.add(call.uid);
}

void GarbageCollector::retry_later(const std::string& uid, Time now) {
  const auto at = nodes_.find(uid);
  if (at == nodes_.end()) return;
  work_.retry(uid, at->second.backoff, now);
}

std::size_t GarbageCollector::run_once(Time now, std::size_t limit) {
  if (!started_) return 0;
  return work_.run(now, limit, [&](const std::string& key) { decide(key); });
}

std::optional<Time> GarbageCollector::next_deadline() const {
  return started_ ? work_.next_deadline() : std::nullopt;
}

}  // namespace muster::controllers
