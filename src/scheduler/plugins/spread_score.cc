#include "scheduler/plugins/spread_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/plugins/places.h"
#include "scheduler/plugins/pod_counts.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kHostName = "kubernetes.io/hostname";

// A node's score depends on how many domains the feasible nodes are in, so it cannot be computed
// for a node alone. Its raw score is where it is (a place, by the values of all labels except the
// host name) and how many of the pods it has; the rest is computed when scores are normalized. So a
// move changes the raw score of its own node, and of no other.
class SpreadScorePass final : public ScorePass {
 public:
  SpreadScorePass(std::span<const Spread> constraints, const PodClass& pods, const Cluster& cluster,
                  bool needs_all_keys)
      : needs_all_keys_(needs_all_keys),
        own_(cluster.rows(), 0),
        has_name_(cluster.nodes()),
        places_(cluster, columns_of(constraints, cluster),
                std::numeric_limits<std::int32_t>::max()) {
    NodeSet counted = cluster.nodes();
    if (needs_all_keys) counted = nodes_with_all(constraints, cluster);
    for (const Spread& constraint : constraints) {
      const LabelColumn& column = cluster.label(constraint.topology_key);
      const bool is_host = constraint.topology_key == kHostName;
      rules_.push_back(
          {.written = constraint,
           .counts = PodCounts(column),
           .counted = is_host ? NodeSet(0) : counted_nodes(constraint, pods, cluster, counted),
           .is_host = is_host});
      has_host_ |= is_host;
      if (is_host)
        has_name_.keep_if([&](NodeId node) { return column.values[node] != LabelValueId::Absent; });
    }
    is_seen_.resize(rules_.size());
    for (std::size_t r = 0; r < rules_.size(); ++r)
      is_seen_[r].resize(rules_[r].counts.values(), 0);
  }

  Form form() const override { return Form::Raw; }
  bool follows_moves() const override { return true; }
  void placed(const PodClass& pods, NodeId node, Touched& /*touched*/) override {
    count(pods, node, 1);
  }
  void removed(const PodClass& pods, NodeId node, Touched& /*touched*/) override {
    count(pods, node, -1);
  }
  void placed_many(const PodClass& pods, NodeId node, std::uint32_t pods_there,
                   Touched& /*touched*/) override {
    count(pods, node, pods_there);
  }

  std::int64_t raw(NodeId node) const override {
    return (places_.of(node) << 32) + (has_name_.contains(node) ? own_[index_of(node)] : kNameless);
  }
  bool counts_nodes() const override { return has_host_; }
  void normalize_counted(std::span<std::int64_t> scores,
                         std::span<const std::uint32_t> nodes) const override {
    weigh(scores, nodes);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = 0;
    for (std::int64_t& score : scores) {
      score = is_ignored(score) ? kIgnored : plain(score);
      if (score == kIgnored) continue;
      least = std::min(least, score);
      most = std::max(most, score);
    }
    for (std::int64_t& score : scores)
      score = score == kIgnored ? 0 : most == 0 ? 100 : 100 * (most + least - score) / most;
  }
  void normalize(std::span<std::int64_t> scores) const override {
    normalize_counted(scores, std::vector<std::uint32_t>(scores.size(), 1));
  }
  std::size_t bytes() const override {
    std::size_t sum = places_.bytes() + own_.capacity() * sizeof(std::uint32_t);
    for (const Rule& rule : rules_) sum += 2 * rule.counts.bytes() + own_.size() / 8;
    return sum;
  }

 private:
  static constexpr std::int64_t kIgnored = -1;
  static constexpr std::int64_t kNameless = 0x80000000;  // instead of a count: no host name
  struct Rule {
    Spread written;
    PodCounts counts;
    NodeSet counted;  // the nodes whose pods count; not for the host name
    bool is_host;
  };

  // A host name divides nodes into those that have one and those that have none; see `raw`.
  static std::vector<const LabelColumn*> columns_of(std::span<const Spread> constraints,
                                                    const Cluster& cluster) {
    std::vector<const LabelColumn*> columns;
    for (const Spread& constraint : constraints)
      columns.push_back(
          constraint.topology_key == kHostName ? nullptr : &cluster.label(constraint.topology_key));
    return columns;
  }

  void count(const PodClass& pods, NodeId node, std::int64_t amount) {
    if (pods.matches.empty()) return;
    for (Rule& rule : rules_) {
      if (!pods.is_matched_by(rule.written.term)) continue;
      if (rule.is_host)
        own_[index_of(node)] += static_cast<std::uint32_t>(amount);
      else if (rule.counted.contains(node) && rule.counts.has_value(node))
        rule.counts.add(node, amount);
    }
  }

  LabelValueId value(std::int64_t place, std::size_t rule) const {
    return places_.value(place, rule);
  }
  bool has_key(std::int64_t raw, std::size_t rule) const {
    return rules_[rule].is_host ? (raw & 0xffffffff) != kNameless
                                : value(raw >> 32, rule) != LabelValueId::Absent;
  }
  bool is_ignored(std::int64_t raw) const {
    if (!needs_all_keys_) return false;
    for (std::size_t r = 0; r < rules_.size(); ++r)
      if (!has_key(raw, r)) return true;
    return false;
  }

  // The weight of each constraint: ln(domains + 2), where the domains are those of the nodes at
  // hand, and for the host name the nodes themselves.
  void weigh(std::span<const std::int64_t> scores, std::span<const std::uint32_t> nodes) const {
    std::int64_t hosts = 0;
    std::vector<std::int64_t> sizes(rules_.size(), 0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::int64_t place = scores[i] >> 32;
      if (is_ignored(scores[i])) continue;
      hosts += nodes[i];
      for (std::size_t r = 0; r < rules_.size(); ++r) {
        if (rules_[r].is_host) continue;
        char& seen = is_seen_[r][index_of(value(place, r))];
        if (seen == 0) ++sizes[r];
        seen = 1;
      }
    }
    for (const std::int64_t score : scores)
      for (std::size_t r = 0; r < rules_.size(); ++r)
        if (!rules_[r].is_host) is_seen_[r][index_of(value(score >> 32, r))] = 0;
    weights_.resize(rules_.size());
    for (std::size_t r = 0; r < rules_.size(); ++r)
      weights_[r] = std::log(static_cast<double>((rules_[r].is_host ? hosts : sizes[r]) + 2));
  }

  std::int64_t plain(std::int64_t raw) const {
    double sum = 0;
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (!has_key(raw, r)) continue;
      const Rule& rule = rules_[r];
      const std::int64_t pods =
          rule.is_host ? raw & 0xffffffff : rule.counts.at(value(raw >> 32, r));
      sum +=
          static_cast<double>(pods) * weights_[r] + static_cast<double>(rule.written.max_skew - 1);
    }
    return std::llround(sum);  // halves away from zero
  }

  bool needs_all_keys_;
  std::vector<std::uint32_t> own_;  // by row: pods that the host name constraint counts
  NodeSet has_name_;                // nodes that have a host name, if one is asked for
  Places places_;
  std::vector<Rule> rules_;
  bool has_host_ = false;
  // Scratch of normalize.
  mutable std::vector<std::vector<char>> is_seen_;  // by rule and value; 0 between calls
  mutable std::vector<double> weights_;
};

}  // namespace

std::unique_ptr<ScorePass> make_spread_score(std::span<const Spread> constraints,
                                             const PodClass& pods, const Cluster& cluster,
                                             bool needs_all_keys) {
  return std::make_unique<SpreadScorePass>(constraints, pods, cluster, needs_all_keys);
}

}  // namespace muster::scheduler
