#include "scheduler/cache/resource_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {
ResourceTable::ResourceTable() {
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"})
    ++columns_[index_of(make(name))]->offers;
}

ResourceTable::ResourceTable(const ResourceTable& from)
    : rows_(from.rows_),
      free_(from.free_),
      ids_(from.ids_),
      unoffered_(from.unoffered_),
      gone_(from.gone_),
      next_serial_(from.next_serial_) {
  columns_.resize(from.columns_.size());
  for (const auto& [name, id] : from.ids_) {
    std::unique_ptr<ResourceColumns>& copy = columns_[index_of(id)];
    copy = std::make_unique<ResourceColumns>(from.at(id));
    copy->users = 0;
  }
  for (const auto& [name, id] : from.ids_) drop_if_unused(id);
}

bool ResourceTable::find(std::string_view name, ResourceId& id) const {
  const auto at = ids_.find(name);
  if (at == ids_.end()) return false;
  id = at->second;
  return true;
}

void ResourceTable::grow(std::size_t rows) {
  rows_ = rows;
  for (const auto& [name, id] : ids_) {
    columns_[index_of(id)]->allocatable.resize(rows);
    columns_[index_of(id)]->requested.resize(rows);
  }
}

template <typename Change>
void ResourceTable::change(ResourceColumns& columns, Change&& change) {
  idle_ -= columns.is_idle() ? 1 : 0;
  change();
  idle_ += columns.is_idle() ? 1 : 0;
}

// What both name keeps its columns.
std::set<NodeId> ResourceTable::set_offer(NodeId node, const api::Amounts& before,
                                          const api::Amounts& after) {
  const auto set = [&](ResourceColumns& columns, std::int64_t amount) {
    columns.allocatable[node] = amount;
    columns.allocatable_max = std::max(columns.allocatable_max, amount);
  };
  set(*columns_[index_of(ResourceId::Cpu)], after.cpu_milli);
  set(*columns_[index_of(ResourceId::Memory)], after.memory);
  set(*columns_[index_of(ResourceId::EphemeralStorage)], after.ephemeral_storage);
  std::set<NodeId> used_before;
  for (const auto& [name, amount] : after.scalars) {
    ResourceId id{};
    if (!find(name, id)) {
      if (const auto at = unoffered_.find(name); at != unoffered_.end())
        for (const auto& [row, used] : at->second) used_before.insert(row);
      id = make(name);
    }
    ResourceColumns& columns = *columns_[index_of(id)];
    change(columns, [&] { ++columns.offers; });
    set(columns, amount);
  }
  for (const auto& [name, amount] : before.scalars) {
    const ResourceId id = ids_.find(name)->second;
    ResourceColumns& columns = *columns_[index_of(id)];
    columns.allocatable[node] = after.of(name);
    change(columns, [&] { --columns.offers; });
    drop_if_unused(id);
  }
  return used_before;
}

void ResourceTable::count(NodeId node, const api::Amounts& usage, std::int64_t sign) {
  count(node, ResourceId::Cpu, sign * usage.cpu_milli);
  count(node, ResourceId::Memory, sign * usage.memory);
  count(node, ResourceId::EphemeralStorage, sign * usage.ephemeral_storage);
  for (const auto& [name, amount] : usage.scalars) {
    if (ResourceId id{}; find(name, id)) {
      count(node, id, sign * amount);
    } else if (amount != 0) {
      ByRow& rows = unoffered_[name];
      const auto at = rows.try_emplace(node, 0).first;
      at->second += sign * amount;
      if (at->second == 0) rows.erase(at);
      if (rows.empty()) unoffered_.erase(name);
    }
  }
}

void ResourceTable::use(ResourceId id) {
  ResourceColumns& columns = *columns_[index_of(id)];
  change(columns, [&] { ++columns.users; });
}

void ResourceTable::release(ResourceId id) {
  ResourceColumns& columns = *columns_[index_of(id)];
  CHECK(columns.users > 0);
  change(columns, [&] { --columns.users; });
  drop_if_unused(id);
}

ResourceId ResourceTable::make(std::string_view name) {
  if (free_.empty()) {
    free_.insert(static_cast<ResourceId>(columns_.size()));
    columns_.emplace_back();
  }
  const ResourceId id = free_.extract(free_.begin()).value();
  std::unique_ptr<ResourceColumns>& made = columns_[index_of(id)];
  made = std::make_unique<ResourceColumns>();
  made->name = name;
  made->insufficient = "Insufficient " + made->name;
  made->serial = next_serial_++;
  made->allocatable.resize(rows_);
  made->requested.resize(rows_);
  if (const auto at = unoffered_.find(name); at != unoffered_.end()) {
    for (const auto& [row, used] : at->second) made->requested[row] = used;
    unoffered_.erase(at);
  }
  ids_.emplace(std::string(name), id);
  return id;
}

void ResourceTable::drop_if_unused(ResourceId id) {
  ResourceColumns& columns = *columns_[index_of(id)];
  if (columns.offers > 0 || columns.users > 0) return;
  ByRow used;
  for (std::size_t row = 0; row < rows_; ++row)
    if (const auto node = static_cast<NodeId>(row); columns.requested[node] != 0)
      used.emplace_hint(used.end(), node, columns.requested[node]);
  if (!used.empty()) unoffered_.emplace(columns.name, std::move(used));
  ids_.erase(ids_.find(columns.name));
  columns_[index_of(id)] = nullptr;
  free_.insert(id);
  ++gone_;
  for (; columns_.back() == nullptr; columns_.pop_back())
    free_.erase(static_cast<ResourceId>(columns_.size() - 1));
}

}  // namespace muster::scheduler
