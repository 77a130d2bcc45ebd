#include "server/core/write/owner_index.h"

#include <algorithm>

#include "api/conversion.h"
#include "api/kinds/kind.h"

namespace muster::server {
namespace {

std::string key_in(const std::string& uid, const std::string& name_space) {
  return uid + "/" + name_space;
}

}  // namespace

bool name_same_owners(const api::Object& one, const api::Object& other) {
  return std::ranges::equal(one.meta().owners, other.meta().owners, {}, &api::OwnerReference::uid,
                            &api::OwnerReference::uid);
}

OwnerIndex::OwnerIndex(store::Store& store) : counted_up_to_(store.revision()) {
  for (const api::Kind* kind : api::all_kinds()) {
    if (!kind->stored || &api::stored_kind(*kind) != kind) continue;
    for (const api::ObjectPtr& object : store.list(kind->store_prefix + "/").objects)
      add(*object, +1);
  }
  store.listen([this](std::span<const store::Change> changes) { on_changes(changes); });
}

bool OwnerIndex::has_dependents(const api::Object& owner) const {
  const api::ObjectMeta& meta = owner.meta();
  const std::lock_guard lock(mutex_);
  return references_.contains(meta.name_space.empty() ? meta.uid
                                                      : key_in(meta.uid, meta.name_space));
}

void OwnerIndex::on_changes(std::span<const store::Change> changes) {
  const std::lock_guard lock(mutex_);
  for (const store::Change& change : changes) {
    // The changes found when the store was opened are in what the constructor counted.
    if (change.revision <= counted_up_to_) continue;
    if (change.type == store::Change::Type::Modified &&
        name_same_owners(*change.previous, *change.object))
      continue;
    if (change.previous != nullptr) add(*change.previous, -1);
    if (change.type != store::Change::Type::Deleted) add(*change.object, +1);
  }
}

void OwnerIndex::add(const api::Object& dependent, std::int64_t sign) {
  const auto count = [&](const std::string& key) {
    const auto at = references_.try_emplace(key, 0).first;
    at->second += sign;
    if (at->second == 0) references_.erase(at);
  };
  for (const api::OwnerReference& owner : dependent.meta().owners) {
    count(owner.uid);
    count(key_in(owner.uid, dependent.meta().name_space));
  }
}

}  // namespace muster::server
