#include "server/core/write/stored_bytes.h"

#include "api/conversion.h"
#include "api/kinds/kind.h"

namespace muster::server {

StoredBytes::StoredBytes(store::Store& store) : counted_up_to_(store.revision()) {
  for (const api::Kind* kind : api::all_kinds()) {
    if (!kind->stored || &api::stored_kind(*kind) != kind) continue;
    for (const api::ObjectPtr& object : store.list(kind->store_prefix + "/").objects) add(*object);
  }
  store.listen([this](std::span<const store::Change> changes) { on_changes(changes); });
}

std::size_t StoredBytes::of(const std::string& name_space) const {
  const std::lock_guard lock(mutex_);
  const auto at = by_namespace_.find(name_space);
  return at == by_namespace_.end() ? 0 : at->second;
}

std::size_t StoredBytes::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

void StoredBytes::on_changes(std::span<const store::Change> changes) {
  const std::lock_guard lock(mutex_);
  for (const store::Change& change : changes) {
    // The changes found when the store was opened are in what the constructor counted.
    if (change.revision <= counted_up_to_) continue;
    if (change.type != store::Change::Type::Deleted) add(*change.object);
    if (change.previous != nullptr) remove(*change.previous);
  }
}

void StoredBytes::add(const api::Object& object) {
  by_namespace_[object.meta().name_space] += object.memory();
  total_ += object.memory();
}

void StoredBytes::remove(const api::Object& object) {
  const auto at = by_namespace_.find(object.meta().name_space);
  at->second -= object.memory();
  if (at->second == 0) by_namespace_.erase(at);
  total_ -= object.memory();
}

}  // namespace muster::server
