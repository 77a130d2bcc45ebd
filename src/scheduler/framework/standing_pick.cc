// How a standing groups nodes by their raw scores and finds the best one.
#include <algorithm>
#include <array>

#include "scheduler/cache/column_math.h"
#include "scheduler/framework/standing.h"

namespace muster::scheduler {

// --- score groups ---

void Standing::assign_groups() {
  ++layout_epoch_;
  groups_.reset(raw_count() + places_.size());
  group_of_.clear();
  too_many_groups_ = false;
  if (!raws_follow_moves_ && all_are_one_group()) {
    groups_.of(raws_of(NodeId{}));
    one_group_total_ = group_total(groups_.raws(0));
    return;
  }
  group_of_.assign(cluster_.rows(), 0);
  cluster_.nodes().for_each([&](NodeId node) {
    if (too_many_groups_) return;
    if (const auto group = groups_.of(raws_of(node))) {
      group_of_[index_of(node)] = *group;
      groups_.enter(*group);
    } else {
      too_many_groups_ = true;
    }
  });
  // A single group that no move can split is as good as none.
  const bool is_one = groups_.size() == 1 && !raws_follow_moves_ && places_.empty();
  if (is_one) one_group_total_ = group_total(groups_.raws(0));
  if (is_one || too_many_groups_) group_of_.clear();
}

bool Standing::all_are_one_group() const {
  return places_.empty() &&
         std::all_of(scores_.begin() + static_cast<std::ptrdiff_t>(local_count_), scores_.end(),
                     [](const NamedScore& score) { return score.pass->is_uniform(); });
}

std::vector<std::int64_t> Standing::raws_of(NodeId node) const {
  std::vector<std::int64_t> raws;
  raws.reserve(raw_count() + places_.size());
  for (std::size_t s = local_count_; s < scores_.size(); ++s)
    raws.push_back(scores_[s].pass->raw(node));
  for (const FilterPass* filter : places_) raws.push_back(filter->place(node));
  return raws;
}

// Enters a node's key under the group it belongs to now. False if that takes another layout: the
// one group there was no longer holds every node, or there are too many.
bool Standing::change_group(NodeId node, std::uint64_t key) {
  const std::vector<std::int64_t> raws = raws_of(node);
  if (!has_groups()) {
    // In a full pass raw scores are read when they are needed.
    if (!too_many_groups_ && !std::ranges::equal(raws, groups_.raws(0))) return false;
    contest_.set(index_of(node), key);
    return true;
  }
  const auto after = groups_.of(raws);
  if (!after) return false;
  const ScoreGroups::Id before = std::exchange(group_of_[index_of(node)], *after);
  contest_.set(index_of(node), *after, key);
  // Entered before left: a group that only this node is in must not be freed in between.
  groups_.enter(*after);
  groups_.leave(before);
  return true;
}

// --- picks ---

// What a group gets for its raw scores while it is the only one with a feasible node.
std::int64_t Standing::group_total(std::span<const std::int64_t> raws) const {
  std::int64_t total = 0;
  for (std::size_t r = 0; r < raw_count(); ++r) {
    const NamedScore& score = scores_[local_count_ + r];
    std::int64_t alone = raws[r];
    score.pass->normalize({&alone, 1});
    total += score.weight * alone;
  }
  return total;
}

std::optional<Standing::Pick> Standing::pick_once(Scratch& scratch) {
  if (built_ || was_picked_once_ || follows_moves()) {
    catch_up(scratch);
    return pick();
  }
  was_picked_once_ = true;
  evaluate_columns(scratch);
  if (!all_are_one_group()) {
    rebuild(scratch);
    return pick();
  }
  const std::uint64_t best = best_key(scratch.feasible, scratch.totals, cluster_.ranks());
  if (best == 0) return std::nullopt;
  const NodeId node = cluster_.node_at(ContestKey::rank(best));
  return Pick{node, ContestKey::local_total(best) + group_total(raws_of(node))};
}

std::optional<Standing::Pick> Standing::pick(const Contest& contest) const {
  if (too_many_groups_) return pick_by_full_pass(contest);
  if (has_groups()) return pick_among_groups(contest);
  if (contest.group_count() == 0) return std::nullopt;  // nothing was ever built: no rows
  const std::uint64_t best = contest.best_of(0);
  if (best == 0) return std::nullopt;
  return Pick{cluster_.node_at(ContestKey::rank(best)),
              ContestKey::local_total(best) + one_group_total_};
}

bool Standing::is_open(std::size_t group) const {
  for (std::size_t p = 0; p < places_.size(); ++p)
    if (!places_[p]->admits_place(groups_.raw(group, raw_count() + p))) return false;
  return true;
}

// Live groups are those with a feasible node; what upstream normalizes over feasible nodes, we do
// over them. All nodes of a group gain the same, so only its winner can be the best; and since the
// winner's key holds its rank, equal totals of two groups are decided by name like those of two
// nodes.
std::optional<Standing::Pick> Standing::pick_among_groups(const Contest& contest) const {
  std::array<std::uint32_t, ScoreGroups::kMax> live;   // NOLINT: filled as far as it is read
  std::array<std::int64_t, ScoreGroups::kMax> totals;  // NOLINT
  std::array<std::int64_t, ScoreGroups::kMax> scores;  // NOLINT
  std::size_t count = 0;
  for (std::uint32_t g = 0; g < contest.group_count(); ++g)
    if (contest.best_of(g) != 0 && is_open(g)) live[count++] = g;
  if (count == 0) return std::nullopt;

  std::fill_n(totals.begin(), count, 0);
  for (std::size_t r = 0; r < raw_count(); ++r) {
    const NamedScore& score = scores_[local_count_ + r];
    for (std::size_t i = 0; i < count; ++i) scores[i] = groups_.raw(live[i], r);
    if (score.pass->counts_nodes()) {
      std::array<std::uint32_t, ScoreGroups::kMax> nodes;  // NOLINT
      for (std::size_t i = 0; i < count; ++i)
        nodes[i] = static_cast<std::uint32_t>(contest.count_of(live[i]));
      score.pass->normalize_counted({scores.data(), count}, {nodes.data(), count});
    } else {
      score.pass->normalize({scores.data(), count});
    }
    for (std::size_t i = 0; i < count; ++i) totals[i] += score.weight * scores[i];
  }
  Pick best{};
  std::uint32_t best_rank = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = contest.best_of(live[i]);
    const std::int64_t total = totals[i] + ContestKey::local_total(key);
    const std::uint32_t rank = ContestKey::rank(key);
    if (i > 0 && (total < best.total || (total == best.total && rank > best_rank))) continue;
    best.total = total;
    best_rank = rank;
  }
  best.node = cluster_.node_at(best_rank);
  return best;
}

// Every feasible node for itself, as upstream does it.
std::optional<Standing::Pick> Standing::pick_by_full_pass(const Contest& contest) const {
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t key : contest.keys())
    if (key != 0 && (places_.empty() || admits_place_of(cluster_.node_at(ContestKey::rank(key)))))
      keys.push_back(key);
  if (keys.empty()) return std::nullopt;
  std::vector<std::int64_t> totals(keys.size(), 0);
  std::vector<std::int64_t> scores(keys.size(), 0);
  for (std::size_t s = local_count_; s < scores_.size(); ++s) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      scores[i] = scores_[s].pass->raw(cluster_.node_at(ContestKey::rank(keys[i])));
    scores_[s].pass->normalize_counted(scores, std::vector<std::uint32_t>(keys.size(), 1));
    for (std::size_t i = 0; i < keys.size(); ++i) totals[i] += scores_[s].weight * scores[i];
  }
  // Totals in the place of local totals make keys that compare like nodes do.
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < keys.size(); ++i)
    best = std::max(best, ContestKey::of(ContestKey::local_total(keys[i]) + totals[i],
                                         ContestKey::rank(keys[i])));
  return Pick{cluster_.node_at(ContestKey::rank(best)), ContestKey::local_total(best)};
}

}  // namespace muster::scheduler
