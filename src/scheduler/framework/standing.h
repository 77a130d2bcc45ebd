#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/division.h"
#include "scheduler/framework/contest.h"
#include "scheduler/framework/pass.h"
#include "scheduler/framework/profile.h"

namespace muster::scheduler {

// Where pods of one class stand with every node, by the plugins of one profile: who is feasible,
// how many more fit, who is best. Kept across attempts; catch_up() reads the cluster's row log, so
// that an attempt costs the rows that changed, not the rows there are.
class Standing {
 public:
  Standing(const PodClass& pods, const Profile& profile, Cluster& cluster);

  const PodClass& pods() const { return pods_; }

  // Memory for whole-column work, lent by whoever prepares many standings.
  struct Scratch {
    NodeSet feasible;
    Column<std::int32_t> totals;
  };
  // Brings everything up to date with the cluster. Not while a draft is open.
  void catch_up(Scratch& scratch);
  void catch_up();

  bool is_feasible(NodeId node) const { return contest_.key(index_of(node)) != 0; }

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
  // The best of a contest among some nodes, which this standing's keys were entered into.
  std::optional<Pick> pick(const Contest& contest) const;

  // The key of one node as the table is now, a draft's moves included.
  std::uint64_t key_now(NodeId node) const;
  std::uint64_t key_kept(NodeId node) const { return contest_.key(index_of(node)); }
  // The contest of all nodes, by row, as of the last catch_up().
  const Contest& contest() const { return contest_; }
  std::uint16_t group_of(NodeId node) const {
    return groups_.empty() ? std::uint16_t{0} : groups_[index_of(node)];
  }
  std::size_t group_count() const { return group_count_; }

  // How many more pods fit on each node, as of the last catch_up(); computed on first demand.
  const CapColumn& caps();
  std::int32_t cap_now(NodeId node) const;
  Exactness cap_exactness();
  // The caps summed by cell. Kept with the caps from then on, and true whenever they are.
  const std::vector<std::int64_t>& cap_sums(const std::shared_ptr<const Division>& division);
  // Takes one row's cap and its sums from the table as it is, a draft's moves included. Whoever
  // does this in a draft does it again when the moves are undone.
  void refresh_cap(NodeId node);

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
  struct NamedFilter {
    std::string_view name;
    std::unique_ptr<FilterPass> pass;
  };
  struct NamedScore {
    std::string_view name;
    std::unique_ptr<ScorePass> pass;
    std::int64_t weight;
  };
  std::span<const NamedFilter> filters() const { return filters_; }
  std::span<const NamedScore> scores() const { return scores_; }

  // What the draft tells: to every pass, if any of them keeps state about it.
  bool follows_moves() const { return follows_moves_; }
  void placed(const PodClass& pods, NodeId node);
  void removed(const PodClass& pods, NodeId node);

  std::size_t bytes() const;
  // Rows of the table looked at since this was last asked: a measure of work that no clock blurs.
  std::uint64_t pop_rows_read() { return std::exchange(rows_read_, 0); }

 private:
  void prepare(const Profile& profile);
  void narrow_by_name();
  void evaluate_columns(Scratch& scratch);
  void rebuild(Scratch& scratch);
  bool all_are_one_group() const;
  std::vector<std::int64_t> raws_of(NodeId node) const;
  std::int64_t group_total(std::span<const std::int64_t> raws) const;
  void assign_groups();
  bool update_row(NodeId node, RowLog::What what);
  std::uint16_t group_for(NodeId node);
  bool admits(NodeId node) const;
  std::int64_t local_total(NodeId node) const;
  void build_caps();
  void sum_caps(const Division& division, std::vector<std::int64_t>& sums) const;

  const PodClass& pods_;
  Cluster& cluster_;
  std::vector<NamedFilter> filters_;
  std::vector<NamedScore> scores_;  // local ones first, then raw ones
  std::size_t local_count_ = 0;
  bool follows_moves_ = false;

  std::optional<Everywhere> refused_everywhere_;
  std::vector<std::string_view> narrowing_;
  std::vector<std::string> only_on_;  // sorted; meaningful if narrowing_ is not empty

  std::uint64_t seen_ = 0;  // the log up to here is taken in
  std::uint64_t order_seen_ = 0;
  std::size_t rows_seen_ = 0;
  bool built_ = false;
  bool was_picked_once_ = false;  // one pod was decided without building anything
  std::uint64_t rows_read_ = 0;
  Contest contest_;
  // Groups of equal raw scores: raw scores of group g at [g * raw passes]. `groups_` is empty while
  // one group holds every node.
  std::vector<std::uint16_t> groups_;
  std::vector<std::int64_t> group_raws_;
  std::map<std::vector<std::int64_t>, std::uint16_t> group_ids_;
  std::size_t group_count_ = 1;

  CapColumn caps_;
  bool has_caps_ = false;
  struct CellSums {
    std::shared_ptr<const Division> division;
    std::vector<std::int64_t> sums;
  };
  static constexpr std::size_t kSumsMax = 4;  // divisions in use at once; the oldest goes first
  std::vector<std::unique_ptr<CellSums>> cell_sums_;
  Exactness cap_exactness_ = Exactness::PerNode;
};

// The standings of all classes seen lately under one profile; least recently used ones go when they
// take more than the budget. Kept beside the cluster it describes.
class Standings final : public Cluster::Derived {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  Standings(Cluster& cluster, const Profile& profile) : cluster_(cluster), profile_(profile) {}
  // The one that belongs to this cluster and profile.
  static Standings& of(Cluster& cluster, const Profile& profile);

  // The standing of the pod's class, caught up. Valid until the next call to evict_cold().
  Standing& of_pod(const api::ObjectPtr& pod);
  Standing& of_class(const PodClass& pods);
  // The best node for one pod, see Standing::pick_once. The standing may not be built afterwards.
  std::optional<Standing::Pick> pick(const api::ObjectPtr& pod);
  // Lets go of what exceeds the budget. To be called between attempts.
  void evict_cold();
  void set_bytes_max(std::size_t bytes) { bytes_max_ = bytes; }
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return live_.size(); }
  // Rows of the table that all of them have looked at so far.
  std::uint64_t rows_read() const { return rows_read_; }

 private:
  struct Kept {
    Kept(const PodClass& pods, const Profile& profile, Cluster& cluster)
        : id(pods.id), standing(pods, profile, cluster) {}
    ClassId id;
    std::size_t bytes = 0;
    Standing standing;
  };
  Kept& use(const PodClass& pods);
  void count_bytes(Kept& kept);

  Cluster& cluster_;
  Profile profile_;
  std::size_t bytes_max_ = kBytesMax;
  std::size_t bytes_ = 0;
  std::uint64_t rows_read_ = 0;
  Standing::Scratch scratch_;
  std::list<Kept> live_;                          // the last used first
  std::vector<std::list<Kept>::iterator> place_;  // by ClassId; live_.end(): none
};

}  // namespace muster::scheduler
