#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/column.h"
#include "scheduler/cache/node_set.h"
#include "scheduler/cache/pod_class.h"
#include "scheduler/framework/touched.h"
#include "scheduler/framework/verdict.h"

namespace muster::scheduler {

// A pass is one plugin's answer for one class of pods. It reads the cluster's columns as they are
// now, so a draft that moves pods needs no copy.
//
// Most passes depend on the node alone. One that looks beyond it (who runs in the same zone, how
// evenly pods are spread) says so by follows_moves() and keeps counts:
//   - It is made empty, as if no pod ran anywhere, and then hears of every pod that runs by
//     placed_many(); from then on, of every pod that comes or goes, on a draft or for real. Pods
//     whose node is gone, or not there yet, are not mentioned.
//   - placed() and removed() name the rows whose answers may have changed. The row of the node
//     itself is always refreshed and need not be named.
//   - Its state is integers, and removed() is the exact inverse of placed(), whatever the order: a
//     draft undoes its moves last in first out, but pods that run end in any order.
//   - If nodes come, go or change their labels or taints, or the table grows, it is prepared again:
//     counts by label value or by row need not follow that.
class Pass {
 public:
  virtual ~Pass() = default;

  // Reads what the cluster has interned since: taint sets, label values. Called before rows are
  // caught up, if a node came, went or changed: nothing else is interned for one that is there.
  virtual void refresh() {}
  // Whether rows may have other answers now although nothing happened on them and the pass heard of
  // no move: everything built from its answers is then rebuilt. Asked before refresh().
  virtual bool is_outdated() const { return false; }
  // What it holds, beyond what every pass does.
  virtual std::size_t bytes() const { return 0; }

  virtual bool follows_moves() const { return false; }
  virtual void placed(const PodClass& /*pods*/, NodeId /*node*/, Touched& /*touched*/) {}
  virtual void removed(const PodClass& /*pods*/, NodeId /*node*/, Touched& /*touched*/) {}
  // `count` times placed(). Override it if they can be counted at once.
  virtual void placed_many(const PodClass& pods, NodeId node, std::uint32_t count,
                           Touched& touched) {
    for (std::uint32_t i = 0; i < count; ++i) placed(pods, node, touched);
  }
  // Whether pods of this class on a node could change an answer. A filter that follows moves is
  // asked about pods that nodes are kept for: where it says yes, nodes are judged with these pods
  // and without them.
  virtual bool depends_on(const PodClass& /*pods*/) const { return true; }
};

// How far a cap can be trusted: PerNode is exact and independent of other nodes (fit, ports,
// anything static). UpperBound is more than fits, or may shrink as pods are placed elsewhere
// (spread, affinity): a search may refuse by it, but never conclude from it that something fits.
enum class Exactness : std::uint8_t { PerNode, UpperBound };

// May pods of the class run there, and how many more of them?
//
// narrow and cap answer for whole columns; admits, cap_at and ask for one row. They must agree:
//   admits(n)  ==  n survives narrow()  ==  ask(n).accepted(),   and a refusing node has a cap of
//   0.
// The exception is a filter that follows moves: a node that it refuses now may accept after others
// (affinity to a pod that is not placed yet), so its cap must bound what the node takes then. It is
// exact only if the answer for a node depends on the pods of that node alone, and no move elsewhere
// can raise it. Such a filter that does not count has no cap.
class FilterPass : public Pass {
 public:
  virtual void narrow(NodeSet& candidates) const = 0;
  virtual bool admits(NodeId node) const = 0;
  // Lowers `at_most` to how many more of the class each node takes by this filter. Static filters
  // do not count.
  virtual Exactness cap(CapColumn& at_most) const;
  virtual std::int32_t cap_at(NodeId node) const;
  virtual Verdict ask(NodeId node) const = 0;

  // One move may flip the answers of a filter that follows moves for many nodes: a zone is full.
  // Instead of naming all their rows, it may divide the nodes into places, by what never changes
  // while the pass lives, and answer for places when somebody picks a node:
  //   admits(n)  ==  admits_row(n) && admits_place(place(n)).
  // What happens to a place touches no row. There should be few places, see ScoreGroups. Caps know
  // nothing of them: what a place allows belongs in domain_cap().
  virtual bool has_places() const { return false; }
  virtual bool admits_row(NodeId node) const { return admits(node); }
  virtual std::int64_t place(NodeId /*node*/) const { return 0; }
  virtual bool admits_place(std::int64_t /*place*/) const { return true; }

  // A limit on several nodes together: at most domain_cap(v) more of the class on all the nodes
  // with value v of this label, whatever else is placed where. Null: none. A filter that has one is
  // an UpperBound. Limits of single nodes belong in cap().
  virtual const LabelColumn* domain_column() const { return nullptr; }
  virtual std::int32_t domain_cap(LabelValueId /*value*/) const { return kNoCap; }

  // Whether some node may take a pod of the class, as things are or after pods of these classes
  // have come. False is a proof, for a filter that waits for other pods. Asked before a draft's
  // first move.
  virtual bool may_admit(std::span<const PodClass* const> /*coming*/) const { return true; }

  // Upstream's PreFilter: a reason to refuse the class on every node at once (always without
  // remedy), or the names of the only nodes that are looked at.
  virtual std::optional<std::string> refuses_everywhere() const { return std::nullopt; }
  virtual const std::vector<std::string>* only_on() const { return nullptr; }
};

// One score for one class of pods, in one of two forms. A local score is final (0..100) and depends
// on its node alone. A raw score is normalized over the nodes that are feasible at the moment;
// nodes with equal raw scores form a group and are normalized together, so the cost of a pick is in
// groups, not in nodes (ScoreGroups; with too many of them, in nodes after all).
class ScorePass : public Pass {
 public:
  enum class Form : std::uint8_t { Local, Raw };

  virtual Form form() const = 0;

  // Local: adds weight times the score to every row, and the score of one row.
  virtual void add_local(std::int64_t /*weight*/, Column<std::int32_t>& /*totals*/) const {}
  virtual std::int64_t local(NodeId /*node*/) const { return 0; }

  // Raw: the score of one row; whether all rows have the same one; and the normalization of the
  // raw scores of feasible nodes, in place, to 0..100. A score may occur once or as often as there
  // are nodes that have it: only which scores there are may matter, not how often.
  virtual std::int64_t raw(NodeId /*node*/) const { return 0; }
  virtual bool is_uniform() const { return false; }
  virtual void normalize(std::span<std::int64_t> /*scores*/) const {}
  // For a score that depends on how many nodes are feasible: `nodes` says how many have the score.
  virtual bool counts_nodes() const { return false; }
  virtual void normalize_counted(std::span<std::int64_t> scores,
                                 std::span<const std::uint32_t> /*nodes*/) const {
    normalize(scores);
  }
};

// Passes under the names of their plugins.
struct NamedFilter {
  std::string_view name;
  std::unique_ptr<FilterPass> pass;
};
struct NamedScore {
  std::string_view name;
  std::unique_ptr<ScorePass> pass;
  std::int64_t weight;
};

// Upstream's DefaultNormalizeScore with a maximum of 100: scores as shares of the greatest, or what
// is missing to 100. If all are 0: unchanged, or 100.
enum class Better : std::uint8_t { Higher, Lower };
void default_normalize(Better better, std::span<std::int64_t> scores);

}  // namespace muster::scheduler
