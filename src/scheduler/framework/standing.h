#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/division.h"
#include "scheduler/cache/row_set.h"
#include "scheduler/framework/cap_table.h"
#include "scheduler/framework/contest.h"
#include "scheduler/framework/pass.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/score_groups.h"
#include "scheduler/framework/touched.h"

namespace muster::scheduler {

// Where pods of one class stand with every node, by the plugins of one profile: who is feasible,
// how many more fit, who is best. Kept across attempts; catch_up() reads the cluster's logs, so
// that an attempt costs the rows that changed, not the rows there are.
//
// What is kept is as of the last catch_up(). A draft's moves are added by the workspace: for most
// classes it asks again about the node of the move. If a pass looks beyond its node
// (follows_moves), this standing hears of each move, and everything kept here is true at any
// moment, on the draft and after it is undone.
class Standing {
 public:
  // Both must outlive it.
  Standing(const PodClass& pods, const Profile& profile, Cluster& cluster);
  const Profile& profile() const { return profile_; }

  const PodClass& pods() const { return pods_; }

  // Memory for whole-column work, lent by the caller that prepares many standings.
  struct Scratch {
    NodeSet feasible;
    Column<std::int32_t> totals;
  };
  // Brings everything up to date with the cluster. Not while a draft is open.
  void catch_up(Scratch& scratch);
  void catch_up();

  bool is_feasible(NodeId node) const {
    return contest_.key(index_of(node)) != 0 && (places_.empty() || admits_place_of(node));
  }
  // The same as the table is now, a draft's moves included.
  bool is_feasible_now(NodeId node) const { return key_now(node) != 0 && admits_place_of(node); }
  // What filters say about the node's place (FilterPass::has_places); keys do not know it.
  bool admits_place_of(NodeId node) const;

  // The best node of all, with its total score; nullopt if none is feasible. Among equals the first
  // by name.
  struct Pick {
    NodeId node;
    std::int64_t total;
  };
  std::optional<Pick> pick() const { return pick(contest_); }
  // The same, for a caller who asks for nothing else; catches up by itself. The first pod of a
  // class is decided by one look at the columns: only a second one shows that what makes further
  // picks cheap is worth building.
  std::optional<Pick> pick_once(Scratch& scratch);
  // The best of a contest among some nodes, which this standing's keys and groups were entered
  // into.
  std::optional<Pick> pick(const Contest& contest) const;

  // The key of one node as the table is now, a draft's moves included. Keys stand for all that rows
  // say; a node with a key may still be refused by its place.
  std::uint64_t key_now(NodeId node) const;
  std::uint64_t key_kept(NodeId node) const { return contest_.key(index_of(node)); }
  // The contest of all nodes, by row. Lent to a draft that enters keys as its moves make them:
  // unless this standing follows moves, each key is put back before anybody else looks.
  Contest& lend_contest() { return contest_; }
  // Score groups of nodes: without them a contest has a single tournament. Numbers change their
  // meaning with layout_epoch(); a contest made under another one must be rebuilt.
  bool has_groups() const { return !group_of_.empty(); }
  std::uint16_t group_of(NodeId node) const { return group_of_[index_of(node)]; }
  std::size_t group_count() const { return groups_.end(); }
  std::uint64_t layout_epoch() const { return layout_epoch_; }

  // How many more pods fit on each node, and summed by cell; computed on first demand.
  const CapColumn& caps();
  std::int32_t cap_now(NodeId node) const;
  Exactness cap_exactness();
  // The caps summed by cell. Kept with the caps from then on, and true after each sync_caps().
  const std::vector<std::int64_t>& cap_sums(const std::shared_ptr<const Division>& division);
  // The sum over some cells, with no more on the nodes that share a label value than some filter
  // allows there (FilterPass::domain_column).
  std::int64_t cap_sum(const std::shared_ptr<const Division>& division,
                       std::span<const CellId> cells);
  bool has_domain_caps() const { return caps_.has_domain_caps(); }
  // False: no node takes a pod of the class, even after pods of these classes have come.
  bool may_fit(std::span<const PodClass* const> coming) const {
    return std::ranges::all_of(following_filters_,
                               [&](const FilterPass* pass) { return pass->may_admit(coming); });
  }
  // Takes one row's cap and its sums from the table as it is, a draft's moves included. A caller
  // that does this in a draft does it again when the moves are undone.
  void refresh_cap(NodeId node) { caps_.set(node, cap_now(node)); }
  // Refreshes the caps that moves have touched; nothing to do unless it follows moves.
  void sync_caps();

  // The first filter that refuses the node, or an accepting verdict.
  struct Answer {
    Verdict verdict;
    std::string_view plugin;
  };
  Answer ask(NodeId node) const;

  // Upstream's PreFilter phase for the class.
  struct Everywhere {
    std::string reason;
    std::string_view plugin;  // empty where several narrowed to nothing
  };
  const std::optional<Everywhere>& refused_everywhere() const { return refused_everywhere_; }
  // The plugins that narrow the nodes by name, sorted, and whether they keep this one.
  const std::vector<std::string_view>& narrowing() const { return narrowing_; }
  bool is_looked_at(NodeId node) const;

  // One pass of each kind, for tests and explanations.
  using NamedFilter = scheduler::NamedFilter;
  using NamedScore = scheduler::NamedScore;
  std::span<const NamedFilter> filters() const { return filters_; }
  std::span<const NamedScore> scores() const { return scores_; }

  // A draft's moves, for a standing that follows them. Refreshes the rows that its passes name;
  // they are in touched() until the next move.
  bool follows_moves() const { return !followers_.empty(); }
  void placed(const PodClass& pods, NodeId node);
  void removed(const PodClass& pods, NodeId node);
  const Touched& touched() const { return touched_; }

  std::size_t bytes() const;
  // Rows of the table looked at so far: a measure of work that no clock blurs.
  std::uint64_t rows_read() const { return rows_read_; }

 private:
  // standing.cc: the passes, and keeping up with the cluster.
  void prepare();
  void count_running();
  void narrow_by_name();
  bool must_rebuild() const;
  void catch_up_following(Scratch& scratch);
  bool read_pod_log();
  void refresh_passes();
  void evaluate_columns(Scratch& scratch);
  void rebuild(Scratch& scratch);
  bool update_row(NodeId node, bool may_change_group);
  struct Refresh {
    bool may_change_groups;
  };
  void refresh_touched(Refresh refresh);
  bool admits(NodeId node) const;
  bool admits_as_is(NodeId node) const;
  std::int64_t local_total(NodeId node) const;

  // standing_nominated.cc: nodes that are kept for nominated pods which some filter depends on.
  void find_nominated_rows();
  bool is_nominated(NodeId node) const {
    return !nominated_rows_.empty() && std::ranges::binary_search(nominated_rows_, node);
  }
  void touch_nominated_rows();
  void place_nominated(NodeId node) const;
  void unplace_nominated(NodeId node) const;
  bool admits_with_nominated(NodeId node) const;
  Answer ask_as_is(NodeId node) const;

  // standing_pick.cc: score groups, and the best node.
  std::size_t raw_count() const { return scores_.size() - local_count_; }
  bool has_raws() const { return raw_count() + places_.size() > 0; }
  bool is_open(std::size_t group) const;
  bool all_are_one_group() const;
  std::vector<std::int64_t> raws_of(NodeId node) const;
  std::int64_t group_total(std::span<const std::int64_t> raws) const;
  void assign_groups();
  bool change_group(NodeId node, std::uint64_t key);
  std::optional<Pick> pick_among_groups(const Contest& contest) const;
  std::optional<Pick> pick_by_full_pass(const Contest& contest) const;

  void build_caps();

  const PodClass& pods_;
  const Profile& profile_;
  Cluster& cluster_;
  std::vector<NamedFilter> filters_;
  std::vector<NamedScore> scores_;  // local ones first, then raw ones
  std::size_t local_count_ = 0;
  std::vector<Pass*> followers_;  // the passes that look beyond their node
  std::vector<FilterPass*> following_filters_;
  bool raws_follow_moves_ = false;         // and some raw score is among them
  std::vector<const FilterPass*> places_;  // the filters that answer for places

  std::optional<Everywhere> refused_everywhere_;
  std::vector<std::string_view> narrowing_;
  std::vector<std::string> only_on_;  // sorted; meaningful if narrowing_ is not empty

  std::uint64_t seen_ = 0;  // the row log was read up to here
  std::uint64_t order_seen_ = 0;
  std::size_t rows_seen_ = 0;
  std::uint64_t pods_seen_ = 0;  // the pod log up to here; like the next two, if it follows moves
  std::uint64_t labels_seen_ = 0;
  std::size_t rows_prepared_ = 0;
  bool built_ = false;
  bool was_picked_once_ = false;  // one pod was decided without building anything
  std::uint64_t rows_read_ = 0;
  Touched touched_;

  // Every node's key. With groups, nodes of equal raw scores in one tournament; if there are too
  // many groups, in a single one again, and each pick is a full pass.
  Contest contest_;
  ScoreGroups groups_;
  std::vector<std::uint16_t> group_of_;  // by row; empty without groups
  bool too_many_groups_ = false;
  std::int64_t one_group_total_ = 0;  // without groups: what every node gets for its raw scores
  std::uint64_t layout_epoch_ = 0;

  // Sorted; as of that epoch of the cluster, and which of the passes.
  std::vector<NodeId> nominated_rows_;
  std::uint64_t nominated_seen_ = 0;
  mutable Touched ignored_;  // what hypothetical pods would touch

  CapTable caps_;
  RowSet stale_caps_;  // rows whose kept cap may not be true, if it follows moves
};

}  // namespace muster::scheduler
