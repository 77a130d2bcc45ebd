#pragma once

#include <boost/container/flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/amounts.h"
#include "scheduler/cache/column.h"
#include "scheduler/cache/ids.h"

namespace muster::scheduler {

// One resource of all nodes: what may be requested and what is.
struct ResourceColumns {
  std::string name;
  std::string insufficient;  // "Insufficient cpu": the reason Fit gives
  Column<std::int64_t> allocatable;
  Column<std::int64_t> requested;
  // No allocatable amount ever seen here exceeds this; vector kernels rely on it (column_math.h).
  std::int64_t allocatable_max = 0;
  std::uint64_t serial = 0;  // ids are reused, this never is
  std::uint32_t offers = 0;  // nodes that name it; one more if it is always there
  std::uint32_t users = 0;   // classes of pods that want or use it

  bool is_idle() const { return offers == 0 && users > 0; }
};

// The resources of all nodes. cpu, memory and ephemeral-storage are always there. Any other has
// columns from when a node first names it until no node does and no class of pods uses them:
// anybody can invent names, so a name that no node offers must cost nothing per node.
class ResourceTable {
 public:
  ResourceTable();
  ~ResourceTable() = default;
  // Classes of pods are not copied, nor is what only they use.
  ResourceTable(const ResourceTable& from);
  ResourceTable& operator=(const ResourceTable&) = delete;

  bool find(std::string_view name, ResourceId& id) const;
  const ResourceColumns& at(ResourceId id) const { return *columns_[index_of(id)]; }
  // All ids are below this. Some may be free.
  std::size_t id_end() const { return columns_.size(); }
  std::size_t size() const { return ids_.size(); }
  // visit(columns), in the order of names.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [name, id] : ids_) visit(at(id));
  }
  // What pods on a node use of resources without columns: visit(name, amount).
  template <typename Visit>
  void for_each_unoffered(NodeId node, Visit&& visit) const {
    for (const auto& [name, rows] : unoffered_)
      if (const auto at = rows.find(node); at != rows.end()) visit(name, at->second);
  }
  // Columns that are kept for classes alone.
  std::size_t idle() const { return idle_; }
  // How many have gone so far.
  std::uint64_t gone() const { return gone_; }
  bool holds(ResourceId id, std::uint64_t serial) const {
    return index_of(id) < columns_.size() && columns_[index_of(id)] != nullptr &&
           at(id).serial == serial;
  }

  void grow(std::size_t rows);
  // A node offers other amounts than before. Returns the rows whose pods use a resource that only
  // now got columns.
  std::set<NodeId> set_offer(NodeId node, const api::Amounts& before, const api::Amounts& after);
  // A pod that uses these amounts came to a node (+1) or left it (-1).
  void count(NodeId node, const api::Amounts& usage, std::int64_t sign);
  void count(NodeId node, ResourceId id, std::int64_t amount) {
    columns_[index_of(id)]->requested[node] += amount;
  }
  // A class of pods uses the columns of a resource, or no longer does.
  void use(ResourceId id);
  void release(ResourceId id);

 private:
  using ByRow = boost::container::flat_map<NodeId, std::int64_t>;

  ResourceId make(std::string_view name);
  template <typename Change>
  void change(ResourceColumns& columns, Change&& change);
  void drop_if_unused(ResourceId id);

  std::size_t rows_ = 0;
  std::vector<std::unique_ptr<ResourceColumns>> columns_;  // null: free
  std::set<ResourceId> free_;
  std::map<std::string, ResourceId, std::less<>> ids_;
  // What pods use of resources without columns.
  std::map<std::string, ByRow, std::less<>> unoffered_;
  std::size_t idle_ = 0;
  std::uint64_t gone_ = 0;
  std::uint64_t next_serial_ = 0;
};

}  // namespace muster::scheduler
