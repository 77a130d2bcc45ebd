#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/tables/table.h"
#include "store/store.h"

namespace muster::server {

// The current state of every group: how many members it has, how many of them have a node, and
// where. For `kubectl get -o wide`; never stored.
//
// Costs nothing until somebody asks. From then on changes are put aside and counted at the next
// question; if too many pile up, they are dropped and the next question counts from the start. An
// answer costs a look at the groups below, kGroupsMax at most. Questions wait for each other, but
// commits do not wait for questions: they only put changes aside, under a lock of their own.
class GroupTally final : public api::GroupCounter {
 public:
  // Listens to the store from now on, so it must be made before the first commit.
  explicit GroupTally(store::Store& store);

  api::GroupCounts count(const api::Object& group) const override;

  // For tests: the bytes of objects that are put aside.
  std::size_t held_bytes() const {
    const std::lock_guard lock(aside_mutex_);
    return aside_bytes_;
  }
  // For tests: calls back while a question is being answered; and once it is listening, before the
  // next question lists everything.
  void call_while_counting(const std::function<void()>& call) const {
    const std::lock_guard lock(mutex_);
    call();
  }
  void call_before_listing(std::function<void()> call) const {
    const std::lock_guard lock(mutex_);
    before_listing_ = std::move(call);
  }

 private:
  // Kind ('P' PodGroup, 'C' composite), namespace and name.
  using Key = std::pair<char, std::string>;
  static constexpr std::size_t kAsideMax = 2'000;
  static constexpr std::size_t kAsideBytesMax = std::size_t{64} << 20U;
  static constexpr int kGroupsMax = 10'000;    // looked at for one answer
  static constexpr std::size_t kNodesMax = 8;  // looked up to tell the domain

  // What is known about a group, whether or not its object exists.
  struct Group {
    std::int64_t minimum = 1;  // as its object says; 1 without one
    bool exists = false;
    std::int64_t members = 0;                   // pods, except failed and terminating ones
    std::int64_t present = 0;                   // those with a node, and those that succeeded
    std::int64_t unfinished = 0;                // pods that keep a deleted group
    std::map<std::string, std::int32_t> nodes;  // where they run, and how many
    std::set<Key> children;

    bool is_idle() const { return !exists && members == 0 && unfinished == 0 && children.empty(); }
  };
  // How much of an answer may still be looked at.
  struct Look {
    int groups = kGroupsMax;
    int levels = 4;
  };

  struct Aside {
    api::ObjectPtr before, after;
    api::Revision revision;
  };

  void hear(std::span<const store::Change> changes) const;
  void catch_up() const;
  std::optional<std::vector<Aside>> take_aside() const;
  void count_from_start() const;
  void add_change(const Aside& change) const;
  void add(const api::Object& object, std::int32_t sign) const;
  void add_pod(const api::Object& object, std::int32_t sign) const;
  void add_group(const api::Object& object, std::int32_t sign) const;
  void drop_if_idle(const Key& key) const;
  const Group* find(const Key& key) const;
  bool is_met(const Key& key, Look& look) const;
  std::int64_t unfinished_below(const Key& key, Look& look) const;
  void collect_nodes(const Key& key, Look& look, std::set<std::string>& nodes) const;
  std::string domains_of(const Key& key, const std::string& topology_key) const;
  std::string held_by(const Key& key, const Group& group) const;

  const store::Store& store_;

  mutable std::mutex mutex_;  // guards these; a question holds it from its beginning to its end
  // Up to which revision each kind was counted from the start: later news may be older than that.
  mutable std::map<const api::Kind*, api::Revision> counted_up_to_;
  mutable std::map<Key, Group> groups_;
  mutable std::function<void()> before_listing_;  // once

  mutable std::mutex aside_mutex_;  // guards these; taken for a moment, also with mutex_ held
  mutable bool listening_ = false;
  mutable std::vector<Aside> aside_;
  mutable std::size_t aside_bytes_ = 0;
};

}  // namespace muster::server
