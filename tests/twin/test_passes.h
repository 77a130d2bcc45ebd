#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/profile.h"

// Passes of every kind that looks beyond its node, made to be wrong as soon as the engine forgets a
// row. Pods are red if they ask for an odd number of millicores; only red pods are counted and only
// red pods are judged.
namespace muster::scheduler::twin {

inline bool is_red(const PodClass& pods) { return pods.needs->requests.cpu_milli % 2 == 1; }

// Red pods by value of a label, as every pass below counts them.
class RedCounts {
 public:
  RedCounts(const Cluster& cluster, std::string_view key)
      : column(cluster.label(key)), counts_(column.names.size(), 0) {}

  const LabelColumn& column;
  LabelValueId value_of(NodeId node) const { return column.values[node]; }
  std::int64_t at(LabelValueId value) const { return counts_[index_of(value)]; }
  std::int64_t around(NodeId node) const {
    return value_of(node) == LabelValueId::Absent ? 0 : at(value_of(node));
  }
  // False if the move is none of our business.
  bool count(const PodClass& pods, NodeId node, std::int64_t sign) {
    if (!is_red(pods) || value_of(node) == LabelValueId::Absent) return false;
    counts_[index_of(value_of(node))] += sign;
    return true;
  }

 private:
  std::vector<std::int64_t> counts_;
};

// What the filters below share: one row decides, whole columns follow.
class RowByRow : public FilterPass {
 public:
  void narrow(NodeSet& candidates) const override {
    candidates.keep_if([this](NodeId node) { return admits(node); });
  }
  Exactness cap(CapColumn& at_most) const override {
    cluster_.nodes().for_each(
        [&](NodeId node) { at_most[node] = std::min(at_most[node], cap_at(node)); });
    return Exactness::UpperBound;
  }
  Verdict ask(NodeId node) const override {
    Verdict verdict;
    if (!admits(node)) verdict.add("refused by a test", Remedy::Eviction);
    return verdict;
  }
  bool follows_moves() const override { return true; }

 protected:
  explicit RowByRow(const Cluster& cluster) : cluster_(cluster) {}

 private:
  const Cluster& cluster_;
};

// No two red pods in one zone.
class ZoneExclusionPass final : public RowByRow {
 public:
  explicit ZoneExclusionPass(const Cluster& cluster) : RowByRow(cluster), reds_(cluster, "zone") {}
  bool admits(NodeId node) const override { return reds_.around(node) == 0; }
  std::int32_t cap_at(NodeId node) const override {
    if (!admits(node)) return 0;
    return reds_.value_of(node) == LabelValueId::Absent ? kNoCap : 1;
  }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, 1)) touched.value(reds_.column, reds_.value_of(node));
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, -1)) touched.value(reds_.column, reds_.value_of(node));
  }

 private:
  RedCounts reds_;
};

// At most three red pods in a zone, as a limit of the zone.
class ZoneLimitPass final : public RowByRow {
 public:
  static constexpr std::int64_t kMost = 3;
  explicit ZoneLimitPass(const Cluster& cluster) : RowByRow(cluster), reds_(cluster, "zone") {}
  bool admits(NodeId node) const override { return reds_.around(node) < kMost; }
  std::int32_t cap_at(NodeId node) const override {
    return reds_.value_of(node) == LabelValueId::Absent ? kNoCap : domain_cap(reds_.value_of(node));
  }
  const LabelColumn* domain_column() const override { return &reds_.column; }
  std::int32_t domain_cap(LabelValueId value) const override {
    return static_cast<std::int32_t>(std::max<std::int64_t>(0, kMost - reds_.at(value)));
  }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, 1)) touched.value(reds_.column, reds_.value_of(node));
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, -1)) touched.value(reds_.column, reds_.value_of(node));
  }

 private:
  RedCounts reds_;
};

// Zones may differ by one red pod: a histogram of counts gives the least of them.
class SpreadPass final : public RowByRow {
 public:
  explicit SpreadPass(const Cluster& cluster) : RowByRow(cluster), reds_(cluster, "zone") {
    cluster.nodes().for_each([this](NodeId node) { zones_.insert(reds_.value_of(node)); });
    zones_.erase(LabelValueId::Absent);
    if (!zones_.empty()) histogram_[0] = zones_.size();
  }
  bool admits(NodeId node) const override {
    if (reds_.value_of(node) == LabelValueId::Absent) return false;
    return reds_.around(node) <= least();
  }
  // The least rises as other zones fill up, so a zone that refuses now may accept later.
  std::int32_t cap_at(NodeId node) const override {
    return reds_.value_of(node) == LabelValueId::Absent ? 0 : kNoCap;
  }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    move(pods, node, 1, touched);
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    move(pods, node, -1, touched);
  }

 private:
  std::int64_t least() const { return histogram_.empty() ? 0 : histogram_.begin()->first; }
  void move(const PodClass& pods, NodeId node, std::int64_t sign, Touched& touched) {
    const std::int64_t least_before = least();
    if (!reds_.count(pods, node, sign)) return;
    const std::int64_t now = reds_.around(node);
    if (--histogram_[now - sign] == 0) histogram_.erase(now - sign);
    ++histogram_[now];
    touched.value(reds_.column, reds_.value_of(node));
    if (least() == least_before) return;
    for (const LabelValueId zone : zones_) touched.value(reds_.column, zone);
  }

  RedCounts reds_;
  std::set<LabelValueId> zones_;
  std::map<std::int64_t, std::size_t> histogram_;  // red pods in a zone: how many zones
};

// The number in a node's name: 17 of "n17".
inline std::size_t number_of(const Cluster& cluster, NodeId node) {
  return std::stoul(cluster.node_name(node).substr(1));
}

// Red pods keep away from the node next door, n6 from n7: touches single rows.
class NeighbourPass final : public RowByRow {
 public:
  explicit NeighbourPass(const Cluster& cluster) : RowByRow(cluster), cluster_(cluster) {}
  bool admits(NodeId node) const override {
    const auto next_door = reds_.find(number_of(cluster_, node) ^ 1U);
    return next_door == reds_.end() || next_door->second == 0;
  }
  std::int32_t cap_at(NodeId node) const override { return admits(node) ? kNoCap : 0; }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    move(pods, node, 1, touched);
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    move(pods, node, -1, touched);
  }

 private:
  void move(const PodClass& pods, NodeId node, std::int64_t sign, Touched& touched) {
    if (!is_red(pods)) return;
    reds_[number_of(cluster_, node)] += sign;
    NodeId next_door{};
    if (cluster_.find_node("n" + std::to_string(number_of(cluster_, node) ^ 1U), next_door))
      touched.row(next_door);
  }
  const Cluster& cluster_;
  std::map<std::size_t, std::int64_t> reds_;  // by number
};

// Every fourth red pod must wait for another one to leave: touches every row.
class CountingPass final : public RowByRow {
 public:
  explicit CountingPass(const Cluster& cluster) : RowByRow(cluster) {}
  bool admits(NodeId /*node*/) const override { return reds_ % 4 != 3; }
  void placed(const PodClass& pods, NodeId /*node*/, Touched& touched) override {
    if (!is_red(pods)) return;
    ++reds_;
    touched.every_row();
  }
  void removed(const PodClass& pods, NodeId /*node*/, Touched& touched) override {
    if (!is_red(pods)) return;
    --reds_;
    touched.every_row();
  }

 private:
  std::int64_t reds_ = 0;
};

// The fewer red pods in the zone the better, by a raw score.
class CrowdPass final : public ScorePass {
 public:
  explicit CrowdPass(const Cluster& cluster) : reds_(cluster, "zone") {}
  Form form() const override { return Form::Raw; }
  std::int64_t raw(NodeId node) const override { return reds_.around(node); }
  void normalize(std::span<std::int64_t> scores) const override {
    default_normalize(Better::Lower, scores);
  }
  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, 1)) touched.value(reds_.column, reds_.value_of(node));
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, -1)) touched.value(reds_.column, reds_.value_of(node));
  }

 private:
  RedCounts reds_;
};

// The same by rack, as a local score.
class RackCrowdPass final : public ScorePass {
 public:
  explicit RackCrowdPass(const Cluster& cluster) : reds_(cluster, "rack"), cluster_(cluster) {}
  Form form() const override { return Form::Local; }
  std::int64_t local(NodeId node) const override {
    return std::max<std::int64_t>(0, 100 - 15 * reds_.around(node));
  }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      totals.data()[row] += static_cast<std::int32_t>(weight * local(static_cast<NodeId>(row)));
  }
  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, 1)) touched.value(reds_.column, reds_.value_of(node));
  }
  void removed(const PodClass& pods, NodeId node, Touched& touched) override {
    if (reds_.count(pods, node, -1)) touched.value(reds_.column, reds_.value_of(node));
  }

 private:
  RedCounts reds_;
  const Cluster& cluster_;
};

// A raw score of each node's own, by the number in its name: "n17". Nodes from `distinct` on share
// one, until red pods run on them.
class NumberPass final : public ScorePass {
 public:
  NumberPass(const Cluster& cluster, std::int64_t distinct)
      : cluster_(cluster), distinct_(distinct), on_(padded_rows(cluster.rows()), 0) {}
  Form form() const override { return Form::Raw; }
  std::int64_t raw(NodeId node) const override {
    if (!cluster_.nodes().contains(node)) return 0;
    const auto number = static_cast<std::int64_t>(number_of(cluster_, node));
    return std::min(number, distinct_) + 10'000 * (number + 1) * on_[index_of(node)];
  }
  void normalize(std::span<std::int64_t> scores) const override {
    default_normalize(Better::Higher, scores);
  }
  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& /*touched*/) override {
    on_[index_of(node)] += is_red(pods) ? 1 : 0;
  }
  void removed(const PodClass& pods, NodeId node, Touched& /*touched*/) override {
    on_[index_of(node)] -= is_red(pods) ? 1 : 0;
  }

 private:
  const Cluster& cluster_;
  std::int64_t distinct_;
  std::vector<std::int64_t> on_;
};

// The plugins of the filters: they have an opinion about red pods only.
template <typename Pass>
class RedFilter final : public Filter {
 public:
  static constexpr std::string_view kName = "RedFilter";
  std::unique_ptr<FilterPass> prepare_filter(const PodClass& pods,
                                             const Cluster& cluster) const override {
    return is_red(pods) ? std::make_unique<Pass>(cluster) : nullptr;
  }
};

template <typename Pass>
class RedScore final : public Score {
 public:
  static constexpr std::string_view kName = "RedScore";
  std::unique_ptr<ScorePass> prepare_score(const PodClass& /*pods*/,
                                           const Cluster& cluster) const override {
    return std::make_unique<Pass>(cluster);
  }
};

class NumberScore final : public Score {
 public:
  static constexpr std::string_view kName = "NumberScore";
  explicit NumberScore(std::int64_t distinct) : distinct_(distinct) {}
  std::unique_ptr<ScorePass> prepare_score(const PodClass& /*pods*/,
                                           const Cluster& cluster) const override {
    return std::make_unique<NumberPass>(cluster, distinct_);
  }

 private:
  std::int64_t distinct_;
};

}  // namespace muster::scheduler::twin
