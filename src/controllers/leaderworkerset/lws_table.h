#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "controllers/statefulset/free_ordinals.h"

namespace muster::controllers {

// One replica of a LeaderWorkerSet: a leader and its workers.
struct LwsGroup {
  api::ObjectPtr leader;                           // a pod
  api::ObjectPtr workers;                          // a StatefulSet; null: none
  std::map<std::int32_t, api::ObjectPtr> members;  // pods of the workers, by index
  std::set<std::int32_t> hurt;                     // members that restarted or are going
  std::int32_t pending = 0;                        // members that have not started
  // The workers' StatefulSet of which we have seen every pod: we saw it before its first pod. If
  // empty or another one, we do not know which pods went before we looked.
  std::string known_workers;
  bool lost = false;              // a worker of the present leader went,
  bool lost_after_start = false;  // when all pods of the replica had started
  bool ready = false;
  bool updated = false;
  bool outdated = false;  // the leader is of an older revision

  bool empty() const { return leader == nullptr && workers == nullptr && members.empty(); }
  // The workers are those of the present leader, not of one before it.
  bool has_own_workers() const;
  bool is_complete() const;  // every pod of the replica exists
  bool has_started() const;  // and none of them is pending

  // Each records what a feed shows; when an older object goes, a newer one of its name stays.
  void put_leader(const api::ObjectPtr& pod);
  void remove_leader(const api::Object& pod);
  void put_workers(const api::ObjectPtr& set);
  void remove_workers(const api::Object& set);
  void put_member(std::int32_t worker, const api::ObjectPtr& pod);
  void remove_member(std::int32_t worker, const api::Object& pod);

  // A pod of the replica restarted, is going or is gone. If the workers existed before we started,
  // a missing one may have gone unseen, so it counts as gone.
  bool is_broken() const;
  // As is_broken(), but only for replicas that had started.
  bool is_broken_after_start() const;

 private:
  bool is_hurt() const;
  void forget_losses() { lost = lost_after_start = false; }
};

// The replicas of one LeaderWorkerSet by index, with the numbers and orders that a rollout needs
// kept up to date: a change of one pod costs the logarithm of the number of replicas, and a look
// goes over those that changed.
class LwsTable {
 public:
  // The replica of this index, to be changed; refresh() it afterwards.
  LwsGroup& edit(std::int32_t index) { return groups_[index]; }
  const LwsGroup* find(std::int32_t index) const;
  // Counts it as it is now and makes it due. Empty ones are dropped.
  void refresh(std::int32_t index);
  bool empty() const { return groups_.empty(); }

  // How many replicas there should be, and which revision is the newest. Costs all replicas if it
  // changed.
  void arrange(std::int64_t count, const std::string& revision);

  // Pops up to `limit` indexes to look at: those that have changed, then those to revisit, in
  // rounds. They become due again when something of theirs changes.
  std::vector<std::int32_t> pop_due(std::size_t limit);
  // Whether pop_due() has left some of this round.
  bool has_more() const { return !due_.empty() || round_; }
  void make_due(std::int32_t index) { due_.insert(index); }
  // Look at it again in the next round, even if nothing of it changes.
  void revisit(std::int32_t index) { revisits_.insert(index); }
  bool has_revisits() const { return !revisits_.empty(); }

  // Whether a leader or its workers were made from this revision.
  bool has_revision(std::string_view revision) const;

  const FreeOrdinals& without_leader() const { return free_; }
  std::int64_t count() const { return free_.end(); }
  std::int32_t leaders() const { return leaders_; }
  std::int32_t ready() const { return ready_; }
  std::int32_t updated() const { return updated_; }

  // How many replicas from `first` to `end` are not ready, or not both ready and updated. To ask
  // only whether there are that many, set `limit`: counting ends there.
  static constexpr std::int64_t kAll = INT64_MAX;
  std::int64_t unready_between(std::int64_t first, std::int64_t end,
                               std::int64_t limit = kAll) const;
  std::int64_t unfinished_between(std::int64_t first, std::int64_t end,
                                  std::int64_t limit = kAll) const;
  // Whether one of those has a leader of an older revision.
  bool has_outdated_between(std::int64_t first, std::int64_t end) const;
  // How many at the top are ready and updated without a gap.
  std::int64_t finished_tail() const;
  // The lowest index from which on, up to `top`, nobody is both ready and outdated.
  std::int64_t lowest_free_to_update(std::int64_t top) const;

 private:
  void enter(std::int32_t index, const LwsGroup& group);
  void leave(std::int32_t index, const LwsGroup& group);
  void read(LwsGroup& group) const;
  // In the set, or without a leader.
  std::int64_t count_between(const std::set<std::int32_t>& set, std::int64_t first,
                             std::int64_t end, std::int64_t limit) const;

  std::map<std::int32_t, LwsGroup> groups_;
  std::string revision_;
  FreeOrdinals free_;                            // of leaders
  std::map<std::int32_t, std::string> entered_;  // leaders that the following count: revisions
  std::set<std::int32_t> unready_;               // with a leader
  std::set<std::int32_t> unfinished_;            // with a leader, not both ready and updated
  std::set<std::int32_t> outdated_;              // with an outdated leader
  std::set<std::int32_t> stale_;                 // ready and not updated
  std::set<std::int32_t> due_;
  std::set<std::int32_t> revisits_;
  std::optional<std::int32_t> round_;  // where the round over revisits_ goes on
  std::map<std::string, std::int32_t, std::less<>> revisions_;  // of leaders, how many
  std::int32_t leaders_ = 0, ready_ = 0, updated_ = 0;
};

}  // namespace muster::controllers
