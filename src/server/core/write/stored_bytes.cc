#include "server/core/write/stored_bytes.h"

#include <fmt/format.h>

#include "api/conversion.h"
#include "api/kinds/kind.h"
#include "server/core/request/errors.h"
#include "server/core/write/context.h"

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

Result<void> check_stored(const Context& context, const api::Object& object,
                          const api::Object* old) {
  const std::size_t before = old == nullptr ? 0 : old->memory();
  if (object.memory() <= before) return {};
  const std::size_t growth = object.memory() - before;
  const StoredBytes& stored = context.staging.stored();
  const std::string& name_space = object.meta().name_space;
  const std::size_t own = stored.of(name_space) + growth;
  const std::size_t all = stored.total() + growth;
  if (own + all <= context.stored_bytes_max) return {};
  const std::string whose = name_space.empty()
                                ? "objects without a namespace"
                                : fmt::format("the objects of the namespace \"{}\"", name_space);
  return fail(forbidden(
      object.kind(), object.meta().name,
      fmt::format("{} together would be {} bytes, more than would still be free of the {} bytes "
                  "that this server stores; delete some of them, or raise --max-stored-memory",
                  whose, own, context.stored_bytes_max)));
}

}  // namespace muster::server
