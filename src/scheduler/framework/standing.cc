#include "scheduler/framework/standing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>

#include "base/check.h"
#include "scheduler/cache/column_math.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kGroupsMax = std::numeric_limits<std::uint16_t>::max();

}  // namespace

Standing::Standing(const PodClass& pods, const Profile& profile, Cluster& cluster)
    : pods_(pods), cluster_(cluster) {
  prepare(profile);
  narrow_by_name();
}

void Standing::prepare(const Profile& profile) {
  for (const auto& entry : profile.filters())
    if (auto pass = entry.plugin->prepare_filter(pods_, cluster_))
      filters_.push_back({entry.name, std::move(pass)});
  for (const auto& entry : profile.scores())
    if (auto pass = entry.plugin->prepare_score(pods_, cluster_))
      scores_.push_back({entry.name, std::move(pass), entry.weight});
  const auto raw = std::ranges::stable_partition(scores_, [](const NamedScore& score) {
    return score.pass->form() == ScorePass::Form::Local;
  });
  local_count_ = scores_.size() - raw.size();
  for (const NamedFilter& filter : filters_) follows_moves_ |= filter.pass->follows_moves();
  for (const NamedScore& score : scores_) follows_moves_ |= score.pass->follows_moves();
}

// Upstream's PreFilter phase (reference/plugins.md 2.3): the first refusal ends it, node sets are
// intersected.
void Standing::narrow_by_name() {
  for (const NamedFilter& filter : filters_) {
    if (auto reason = filter.pass->refuses_everywhere()) {
      refused_everywhere_ = {std::move(*reason), filter.name};
      return;
    }
    const std::vector<std::string>* names = filter.pass->only_on();
    if (names == nullptr) continue;
    std::vector<std::string> kept(*names);
    std::ranges::sort(kept);
    if (!narrowing_.empty()) {
      std::vector<std::string> both;
      std::ranges::set_intersection(kept, only_on_, std::back_inserter(both));
      kept = std::move(both);
    }
    only_on_ = std::move(kept);
    narrowing_.push_back(filter.name);
    std::ranges::sort(narrowing_);
    if (only_on_.empty()) {
      refused_everywhere_ =
          narrowing_.size() == 1
              ? Everywhere{fmt::format("node(s) didn't satisfy plugin {}", narrowing_.front()), {}}
              : Everywhere{fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                                       fmt::join(narrowing_, " ")),
                           {}};
      return;
    }
  }
}

bool Standing::is_looked_at(NodeId node) const {
  return narrowing_.empty() || std::ranges::binary_search(only_on_, cluster_.node_name(node));
}

void Standing::catch_up() {
  Scratch scratch;
  catch_up(scratch);
}

void Standing::catch_up(Scratch& scratch) {
  if (cluster_.rows() == 0) return;
  const RowLog& log = cluster_.log();
  const std::uint64_t behind = log.end() - seen_;
  if (built_ && behind == 0) return;
  if (!built_ || rows_seen_ != cluster_.rows() || order_seen_ != cluster_.order_epoch() ||
      !log.reaches(seen_) || behind > cluster_.rows() / 2 + 16) {
    rebuild(scratch);
    return;
  }
  for (const NamedFilter& filter : filters_) filter.pass->refresh();
  for (const NamedScore& score : scores_) score.pass->refresh();
  for (; seen_ < log.end(); ++seen_) {
    const RowLog::Entry& entry = log.at(seen_);
    if (entry.what == RowLog::What::Usage && log.is_outdated(seen_)) continue;
    ++rows_read_;
    if (!update_row(entry.node, entry.what)) {
      rebuild(scratch);
      return;
    }
  }
}

// False if the node changed its group, and all groups must be rebuilt.
bool Standing::update_row(NodeId node, RowLog::What what) {
  if (what == RowLog::What::Node) {
    if (scores_.size() > local_count_ && group_for(node) != group_of(node)) return false;
  }
  contest_.set(index_of(node), key_now(node));
  if (has_caps_) refresh_cap(node);
  return true;
}

// The feasible nodes and the local total of every row, over whole columns.
void Standing::evaluate_columns(Scratch& scratch) {
  for (const NamedFilter& filter : filters_) filter.pass->refresh();
  for (const NamedScore& score : scores_) score.pass->refresh();
  rows_read_ += cluster_.rows();
  scratch.feasible = cluster_.nodes();
  for (const NamedFilter& filter : filters_) filter.pass->narrow(scratch.feasible);
  if (refused_everywhere_) scratch.feasible.clear();
  scratch.totals.resize(cluster_.rows());
  scratch.totals.fill(0);
  for (std::size_t s = 0; s < local_count_; ++s)
    scores_[s].pass->add_local(scores_[s].weight, scratch.totals);
}

void Standing::rebuild(Scratch& scratch) {
  evaluate_columns(scratch);
  built_ = true;
  seen_ = cluster_.log().end();
  order_seen_ = cluster_.order_epoch();
  rows_seen_ = cluster_.rows();

  assign_groups();
  const Column<std::uint32_t>& ranks = cluster_.ranks();
  contest_.reset(cluster_.rows(), groups_, group_count_);
  if (group_count_ == 1) {
    pack_keys(scratch.feasible, scratch.totals, ranks, contest_.keys());
  } else {
    scratch.feasible.for_each([&](NodeId node) {
      contest_.enter(index_of(node), ContestKey::of(scratch.totals[node], ranks[node]));
    });
  }
  contest_.rebuild();
  if (has_caps_) build_caps();
}

std::optional<Standing::Pick> Standing::pick_once(Scratch& scratch) {
  if (built_ || was_picked_once_) {
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

void Standing::assign_groups() {
  groups_.clear();
  group_ids_.clear();
  group_raws_.clear();
  group_count_ = 0;
  if (all_are_one_group()) {
    group_for(NodeId{});
    return;
  }
  std::vector<std::uint16_t> groups(cluster_.rows(), 0);
  cluster_.nodes().for_each([&](NodeId node) { groups[index_of(node)] = group_for(node); });
  if (group_count_ > 1) groups_ = std::move(groups);
}

bool Standing::all_are_one_group() const {
  return std::all_of(scores_.begin() + static_cast<std::ptrdiff_t>(local_count_), scores_.end(),
                     [](const NamedScore& score) { return score.pass->is_uniform(); });
}

std::vector<std::int64_t> Standing::raws_of(NodeId node) const {
  std::vector<std::int64_t> raws;
  raws.reserve(scores_.size() - local_count_);
  for (std::size_t s = local_count_; s < scores_.size(); ++s)
    raws.push_back(scores_[s].pass->raw(node));
  return raws;
}

// What a group gets for its raw scores while it is the only one with a feasible node.
std::int64_t Standing::group_total(std::span<const std::int64_t> raws) const {
  std::int64_t total = 0;
  for (std::size_t r = 0; r < raws.size(); ++r) {
    const NamedScore& score = scores_[local_count_ + r];
    std::int64_t alone = raws[r];
    score.pass->normalize({&alone, 1});
    total += score.weight * alone;
  }
  return total;
}

std::uint16_t Standing::group_for(NodeId node) {
  std::vector<std::int64_t> raws = raws_of(node);
  const auto at = group_ids_.find(raws);
  if (at != group_ids_.end()) return at->second;
  CHECK_THAT(group_count_ < kGroupsMax, "too many groups of equal scores");
  group_raws_.insert(group_raws_.end(), raws.begin(), raws.end());
  const auto id = static_cast<std::uint16_t>(group_count_++);
  group_ids_.emplace(std::move(raws), id);
  return id;
}

bool Standing::admits(NodeId node) const {
  if (!cluster_.nodes().contains(node)) return false;
  return std::ranges::all_of(filters_,
                             [&](const NamedFilter& filter) { return filter.pass->admits(node); });
}

std::int64_t Standing::local_total(NodeId node) const {
  std::int64_t total = 0;
  for (std::size_t s = 0; s < local_count_; ++s)
    total += scores_[s].weight * scores_[s].pass->local(node);
  return total;
}

std::uint64_t Standing::key_now(NodeId node) const {
  if (refused_everywhere_ || !admits(node)) return 0;
  return ContestKey::of(local_total(node), cluster_.ranks()[node]);
}

std::optional<Standing::Pick> Standing::pick(const Contest& contest) const {
  const std::size_t raw_count = scores_.size() - local_count_;
  if (contest.group_count() == 1) {
    const std::uint64_t best = contest.best_of(0);
    if (best == 0) return std::nullopt;
    return Pick{cluster_.node_at(ContestKey::rank(best)),
                ContestKey::local_total(best) + group_total({group_raws_.data(), raw_count})};
  }
  // Live groups are those with a feasible node; what upstream normalizes over feasible nodes, we do
  // over them.
  constexpr std::size_t kFew = 64;
  std::array<std::uint32_t, kFew> few_live{};
  std::vector<std::uint32_t> many_live;
  std::size_t live_count = 0;
  std::uint32_t* live = few_live.data();
  if (contest.group_count() > kFew) {
    many_live.resize(contest.group_count());
    live = many_live.data();
  }
  for (std::uint32_t g = 0; g < contest.group_count(); ++g)
    if (contest.best_of(g) != 0) live[live_count++] = g;
  if (live_count == 0) return std::nullopt;

  std::array<std::int64_t, kFew> few_totals{};
  std::array<std::int64_t, kFew> few_scores{};
  std::vector<std::int64_t> many(live_count > kFew ? 2 * live_count : 0, 0);
  std::int64_t* totals = many.empty() ? few_totals.data() : many.data();
  std::int64_t* scores = many.empty() ? few_scores.data() : many.data() + live_count;
  for (std::size_t r = 0; r < raw_count; ++r) {
    const NamedScore& score = scores_[local_count_ + r];
    for (std::size_t i = 0; i < live_count; ++i) scores[i] = group_raws_[live[i] * raw_count + r];
    score.pass->normalize({scores, live_count});
    for (std::size_t i = 0; i < live_count; ++i) totals[i] += score.weight * scores[i];
  }

  std::optional<Pick> best;
  std::uint32_t best_rank = 0;
  for (std::size_t i = 0; i < live_count; ++i) {
    const std::uint64_t key = contest.best_of(live[i]);
    const std::int64_t total = totals[i] + ContestKey::local_total(key);
    const std::uint32_t rank = ContestKey::rank(key);
    if (best && (total < best->total || (total == best->total && rank > best_rank))) continue;
    best = {NodeId{}, total};
    best_rank = rank;
  }
  best->node = cluster_.node_at(best_rank);
  return best;
}

const CapColumn& Standing::caps() {
  if (!has_caps_) build_caps();
  return caps_;
}

Exactness Standing::cap_exactness() {
  if (!has_caps_) build_caps();
  return cap_exactness_;
}

void Standing::build_caps() {
  has_caps_ = true;
  cap_exactness_ = Exactness::PerNode;
  caps_.resize(cluster_.rows());
  caps_.fill(kNoCap);
  for (const NamedFilter& filter : filters_)
    if (filter.pass->cap(caps_) == Exactness::UpperBound) cap_exactness_ = Exactness::UpperBound;
  for (std::size_t row = 0; row < caps_.padded(); ++row)
    if (row >= cluster_.rows() || !is_feasible(static_cast<NodeId>(row))) caps_.data()[row] = 0;
  // A division of other nodes than there are now serves nobody any more.
  std::erase_if(cell_sums_, [this](const auto& kept) {
    return kept->division->cell_of.padded() != caps_.padded();
  });
  for (const auto& kept : cell_sums_) sum_caps(*kept->division, kept->sums);
}

void Standing::sum_caps(const Division& division, std::vector<std::int64_t>& sums) const {
  // Rows without a node are in cell 0 and have a cap of 0.
  sums.assign(std::max<std::size_t>(division.cell_count, 1), 0);
  const CellId* cells = division.cell_of.data();
  const std::int32_t* caps = caps_.data();
  // The table may have grown since by rows that wait for their node.
  const std::size_t rows = std::min(cluster_.rows(), division.cell_of.padded());
  for (std::size_t row = 0; row < rows; ++row) sums[index_of(cells[row])] += caps[row];
}

const std::vector<std::int64_t>& Standing::cap_sums(
    const std::shared_ptr<const Division>& division) {
  if (!has_caps_) build_caps();
  for (const auto& kept : cell_sums_)
    if (kept->division == division) return kept->sums;
  if (cell_sums_.size() == kSumsMax) cell_sums_.erase(cell_sums_.begin());
  CellSums& made = *cell_sums_.emplace_back(std::make_unique<CellSums>(division));
  sum_caps(*division, made.sums);
  return made.sums;
}

void Standing::refresh_cap(NodeId node) {
  const std::int32_t now = cap_now(node);
  const std::int32_t change = now - caps_[node];
  if (change == 0) return;
  caps_[node] = now;
  for (const auto& kept : cell_sums_) kept->sums[index_of(kept->division->cell_of[node])] += change;
}

std::int32_t Standing::cap_now(NodeId node) const {
  if (refused_everywhere_ || !cluster_.nodes().contains(node)) return 0;
  std::int32_t cap = kNoCap;
  for (const NamedFilter& filter : filters_) cap = std::min(cap, filter.pass->cap_at(node));
  return cap;
}

Standing::Answer Standing::ask(NodeId node) const {
  for (const NamedFilter& filter : filters_)
    if (Verdict verdict = filter.pass->ask(node); !verdict.accepted())
      return {std::move(verdict), filter.name};
  return {};
}

void Standing::placed(const PodClass& pods, NodeId node) {
  for (const NamedFilter& filter : filters_) filter.pass->placed(pods, node);
  for (const NamedScore& score : scores_) score.pass->placed(pods, node);
}

void Standing::removed(const PodClass& pods, NodeId node) {
  for (const auto& filter : std::views::reverse(filters_)) filter.pass->removed(pods, node);
  for (const auto& score : std::views::reverse(scores_)) score.pass->removed(pods, node);
}

std::size_t Standing::bytes() const {
  std::size_t sums = 0;
  for (const auto& kept : cell_sums_) sums += kept->sums.capacity() * sizeof(std::int64_t);
  return contest_.bytes() + groups_.capacity() * 2 + caps_.bytes() + sums + sizeof(*this) +
         (filters_.size() + scores_.size()) * 128;
}

// --- the cache ---

Standings& Standings::of(Cluster& cluster, const Profile& profile) {
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(profile.identity());
  if (slot == nullptr) slot = std::make_unique<Standings>(cluster, profile);
  return static_cast<Standings&>(*slot);
}

Standing& Standings::of_pod(const api::ObjectPtr& pod) { return of_class(cluster_.class_of(pod)); }

Standing& Standings::of_class(const PodClass& pods) {
  Kept& kept = use(pods);
  kept.standing.catch_up(scratch_);
  count_bytes(kept);
  return kept.standing;
}

std::optional<Standing::Pick> Standings::pick(const api::ObjectPtr& pod) {
  Kept& kept = use(cluster_.class_of(pod));
  const std::optional<Standing::Pick> best = kept.standing.pick_once(scratch_);
  count_bytes(kept);
  return best;
}

Standings::Kept& Standings::use(const PodClass& pods) {
  const std::size_t id = index_of(pods.id);
  if (place_.size() <= id) place_.resize(id + 1, live_.end());
  if (place_[id] == live_.end()) {
    live_.emplace_front(pods, profile_, cluster_);
    place_[id] = live_.begin();
    cluster_.retain_class(pods.id);
  } else {
    live_.splice(live_.begin(), live_, place_[id]);
  }
  return live_.front();
}

void Standings::count_bytes(Kept& kept) {
  const std::size_t bytes = kept.standing.bytes();
  bytes_ += bytes - kept.bytes;
  kept.bytes = bytes;
  rows_read_ += kept.standing.pop_rows_read();
}

void Standings::evict_cold() {
  while (bytes_ > bytes_max_ && live_.size() > 1) {
    const ClassId id = live_.back().id;
    bytes_ -= live_.back().bytes;
    place_[index_of(id)] = live_.end();
    live_.pop_back();
    cluster_.release_class(id);
  }
}

}  // namespace muster::scheduler
