#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "api/tables/table.h"
#include "store/store.h"

namespace muster::server {

// How every group stands: how many members it has, how many of them have a node, and where. What is
// below a group is kept as sums, which each change of a pod or group brings up to date in itself
// and the few groups above it; an answer costs a bounded number of looks, however many are below.
//
// No deeper than any valid tree: a group is asked about kLevels levels, its own among them, and so
// keeps its sums once for each number of levels. What is said of chains and circles of groups then
// depends on what they are, not on how they came about.
class GroupBook {
 public:
  GroupBook() = default;
  GroupBook(const GroupBook&) = delete;
  GroupBook& operator=(const GroupBook&) = delete;

  // A pod, a PodGroup or a composite begins (+1) or ceases (-1) to be. Of a group, the older state
  // ceases before the newer begins.
  void add(const api::Object& object, std::int32_t sign);

  // `nodes` has the nodes' labels, which tell the domain.
  api::GroupCounts count(const api::Object& group, const store::Store& nodes) const;

  // For tests: groups looked at or changed so far.
  std::uint64_t looks() const { return looks_; }

 private:
  static constexpr std::size_t kLevels = 4;
  static constexpr std::size_t kNodesMax = 8;   // looked up to tell the domain
  static constexpr std::size_t kLooksMax = 64;  // at groups, in search of those nodes

  struct Group;
  // Kind ('P' PodGroup, 'C' composite), namespace and name.
  using Key = std::pair<char, std::string>;
  using Named = std::pair<const Key, Group>;
  struct ByKey {
    bool operator()(const Named* a, const Named* b) const;
  };
  using Children = std::set<const Named*, ByKey>;
  // At 0 for the group's own level alone, at 1 with the one below it, …
  using ByLevels = std::array<std::int64_t, kLevels>;
  struct Pods {
    ByLevels unfinished{};  // keep a deleted group
    ByLevels running{};
  };

  // What is known about a group, whether or not its object exists.
  struct Group {
    std::int64_t minimum = 1;  // as its object says; 1 without one
    bool exists = false;
    std::int64_t members = 0;                   // pods, except failed and terminating ones
    std::int64_t present = 0;                   // those with a node, and those that succeeded
    std::map<std::string, std::int32_t> nodes;  // where they run, and how many
    Named* parent = nullptr;                    // that its object names
    Pods pods;
    ByLevels met_children{};  // those that have what they need, by the levels they are asked about
    Children children;
    Children placed;  // those with pods that run

    bool is_idle() const;
  };

  static Key key_of(const api::Object& group);
  static ByLevels met(const Named& group);
  Named& at(const Key& key) { return *groups_.try_emplace(key).first; }
  const Named* find(const Key& key) const;
  void add_pod(const api::Object& object, std::int32_t sign);
  void add_group(const api::Object& object, std::int32_t sign);
  void attach(Named& child, Named& parent);
  void detach(Named& child);
  void add_pods(Named* group, Pods change);
  void pass_up(Named* group, ByLevels before);
  void drop_if_idle(const Key& key);
  void collect_nodes(const Group& group, std::size_t level, std::size_t& looks,
                     std::set<std::string>& nodes) const;
  std::string domains_of(const Group& group, const std::string& topology_key,
                         const store::Store& nodes) const;
  static std::string held_by(const Named& named);

  std::map<Key, Group> groups_;
  mutable std::uint64_t looks_ = 0;
};

}  // namespace muster::server
