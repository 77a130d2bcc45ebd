#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/column.h"
#include "scheduler/cache/node_set.h"
#include "scheduler/cache/pod_class.h"
#include "scheduler/framework/verdict.h"

namespace muster::scheduler {

// How far a cap can be trusted: PerNode is exact and independent of other nodes (fit, ports,
// anything static); UpperBound may shrink as pods are placed elsewhere (spread, affinity).
enum class Exactness : std::uint8_t { PerNode, UpperBound };

// One filter's answer for one class of pods. It reads the cluster's columns as they are now, so a
// draft that moves pods needs no copy; state of its own is integers, and `removed` is the exact
// inverse of `placed`.
//
// narrow and cap answer for whole columns; admits, cap_at and ask for one row. They must agree:
//   admits(n)  ==  n survives narrow()  ==  ask(n).accepted(),   and a refusing node has a cap of
//   0.
class FilterPass {
 public:
  virtual ~FilterPass() = default;

  // Takes in what the cluster has interned since: taint sets, label values. Called before rows are
  // caught up.
  virtual void refresh() {}

  virtual void narrow(NodeSet& candidates) const = 0;
  virtual bool admits(NodeId node) const = 0;
  // Lowers `at_most` to how many more of the class each node takes by this filter. Static filters
  // do not count.
  virtual Exactness cap(CapColumn& at_most) const;
  virtual std::int32_t cap_at(NodeId node) const;
  virtual Verdict ask(NodeId node) const = 0;

  // Upstream's PreFilter: a reason to refuse the class on every node at once (always without
  // remedy), or the names of the only nodes that are looked at.
  virtual std::optional<std::string> refuses_everywhere() const { return std::nullopt; }
  virtual const std::vector<std::string>* only_on() const { return nullptr; }

  // Whether it keeps state of its own about where pods are, and must hear of a draft's moves.
  virtual bool follows_moves() const { return false; }
  virtual void placed(const PodClass& /*pods*/, NodeId /*node*/) {}
  virtual void removed(const PodClass& /*pods*/, NodeId /*node*/) {}
};

// One score for one class of pods, in one of two forms. A local score is final (0..100) and depends
// on its node alone. A raw score is normalized over the nodes that are feasible at the moment;
// nodes with equal raw scores form a group and are normalized together, so the cost of a pick is in
// groups, not in nodes.
class ScorePass {
 public:
  enum class Form : std::uint8_t { Local, Raw };

  virtual ~ScorePass() = default;
  virtual Form form() const = 0;
  virtual void refresh() {}

  // Local: adds weight times the score to every row, and the score of one row.
  virtual void add_local(std::int64_t /*weight*/, Column<std::int32_t>& /*totals*/) const {}
  virtual std::int64_t local(NodeId /*node*/) const { return 0; }

  // Raw: the score of one row; whether all rows have the same one; and the normalization of the
  // distinct raw scores of feasible nodes, in place, to 0..100.
  virtual std::int64_t raw(NodeId /*node*/) const { return 0; }
  virtual bool is_uniform() const { return false; }
  virtual void normalize(std::span<std::int64_t> /*scores*/) const {}

  virtual bool follows_moves() const { return false; }
  virtual void placed(const PodClass& /*pods*/, NodeId /*node*/) {}
  virtual void removed(const PodClass& /*pods*/, NodeId /*node*/) {}
};

// Upstream's DefaultNormalizeScore with a maximum of 100: scores as shares of the greatest, or what
// is missing to 100. If all are 0: unchanged, or 100.
enum class Better : std::uint8_t { Higher, Lower };
void default_normalize(Better better, std::span<std::int64_t> scores);

}  // namespace muster::scheduler
