#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/tables/table.h"
#include "store/store.h"

namespace muster::server {

// How many members each group has, and how many of them are scheduled: pods that name a PodGroup
// and have a node, child groups of a composite that were scheduled. For `kubectl get -o wide`.
//
// Costs nothing until somebody asks. From then on changes are put aside and counted at the next
// question; if too many pile up, they are dropped and the next question counts from the start.
class GroupTally final : public api::GroupCounter {
 public:
  // Listens to the store from now on, so it must be made before the first commit.
  explicit GroupTally(store::Store& store);

  api::GroupCounts count(const api::Object& group) const override;

 private:
  // Kind ('P' PodGroup, 'C' composite), namespace and name.
  using Key = std::pair<char, std::string>;
  static constexpr std::size_t kAsideMax = 2'000;

  void hear(std::span<const store::Change> changes) const;
  void catch_up() const;
  void add(const api::Object& object, std::int64_t sign) const;
  void add_to(const Key& key, bool scheduled, std::int64_t sign) const;

  struct Aside {
    api::ObjectPtr before, after;
  };
  const store::Store& store_;
  mutable std::mutex mutex_;  // guards all below
  mutable bool counted_ = false;
  // Up to which revision each kind was counted from the start: what is heard later may be older.
  mutable std::map<const api::Kind*, api::Revision> counted_up_to_;
  mutable std::vector<Aside> aside_;
  mutable std::map<Key, api::GroupCounts> counts_;
};

}  // namespace muster::server
