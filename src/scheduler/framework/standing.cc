#include "scheduler/framework/standing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"

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
    if (!update_row(entry.node, entry.what)) {
      rebuild(scratch);
      return;
    }
  }
}

// False if the node changed its group, and all groups must be made anew.
bool Standing::update_row(NodeId node, RowLog::What what) {
  if (what == RowLog::What::Shape) {
    if (scores_.size() > local_count_ && group_for(node) != group_of(node)) return false;
  }
  contest_.set(index_of(node), key_now(node));
  if (has_caps_) caps_[node] = cap_now(node);
  return true;
}

void Standing::rebuild(Scratch& scratch) {
  for (const NamedFilter& filter : filters_) filter.pass->refresh();
  for (const NamedScore& score : scores_) score.pass->refresh();
  built_ = true;
  seen_ = cluster_.log().end();
  order_seen_ = cluster_.order_epoch();
  rows_seen_ = cluster_.rows();

  NodeSet& feasible = scratch.feasible;
  feasible = cluster_.nodes();
  for (const NamedFilter& filter : filters_) filter.pass->narrow(feasible);
  if (refused_everywhere_) feasible.clear();
  Column<std::int32_t>& totals = scratch.totals;
  totals.resize(cluster_.rows());
  totals.fill(0);
  for (std::size_t s = 0; s < local_count_; ++s)
    scores_[s].pass->add_local(scores_[s].weight, totals);

  assign_groups();
  const Column<std::uint32_t>& ranks = cluster_.ranks();
  contest_.reset(cluster_.rows(), groups_, group_count_);
  if (group_count_ == 1) {
    std::uint64_t* keys = contest_.keys().data();
    feasible.for_each(
        [&](NodeId node) { keys[index_of(node)] = ContestKey::of(totals[node], ranks[node]); });
  } else {
    feasible.for_each([&](NodeId node) {
      contest_.enter(index_of(node), ContestKey::of(totals[node], ranks[node]));
    });
  }
  contest_.settle();
  if (has_caps_) build_caps();
}

void Standing::assign_groups() {
  groups_.clear();
  group_ids_.clear();
  group_raws_.clear();
  group_count_ = 0;
  const bool uniform =
      std::all_of(scores_.begin() + static_cast<std::ptrdiff_t>(local_count_), scores_.end(),
                  [](const NamedScore& score) { return score.pass->is_uniform(); });
  if (uniform) {
    group_for(NodeId{});
    return;
  }
  std::vector<std::uint16_t> groups(cluster_.rows(), 0);
  cluster_.nodes().for_each([&](NodeId node) { groups[index_of(node)] = group_for(node); });
  if (group_count_ > 1) groups_ = std::move(groups);
}

std::uint16_t Standing::group_for(NodeId node) {
  std::vector<std::int64_t> raws;
  raws.reserve(scores_.size() - local_count_);
  for (std::size_t s = local_count_; s < scores_.size(); ++s)
    raws.push_back(scores_[s].pass->raw(node));
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
  for (auto filter = filters_.rbegin(); filter != filters_.rend(); ++filter)
    filter->pass->removed(pods, node);
  for (auto score = scores_.rbegin(); score != scores_.rend(); ++score)
    score->pass->removed(pods, node);
}

std::size_t Standing::bytes() const {
  return contest_.bytes() + groups_.capacity() * 2 + caps_.bytes() + sizeof(*this) +
         filters_.size() * 128;
}

// --- the cache ---

Standings& Standings::of(Cluster& cluster, const Profile& profile) {
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(profile.identity());
  if (slot == nullptr) slot = std::make_unique<Standings>(cluster, profile);
  return static_cast<Standings&>(*slot);
}

Standing& Standings::of_pod(const api::ObjectPtr& pod) { return of_class(cluster_.class_of(pod)); }

Standing& Standings::of_class(const PodClass& pods) {
  const std::size_t id = index_of(pods.id);
  if (place_.size() <= id) place_.resize(id + 1, 0);
  if (place_[id] == 0) {
    live_.push_back({pods.id, 0, 0, std::make_unique<Standing>(pods, profile_, cluster_)});
    place_[id] = static_cast<std::uint32_t>(live_.size());
    cluster_.retain_class(pods.id);
  }
  Kept& kept = live_[place_[id] - 1];
  kept.used = ++clock_;
  kept.standing->catch_up(scratch_);
  const std::size_t bytes = kept.standing->bytes();
  bytes_ += bytes - kept.bytes;
  kept.bytes = bytes;
  return *kept.standing;
}

void Standings::settle() {
  while (bytes_ > bytes_max_ && live_.size() > 1) {
    const auto oldest = std::ranges::min_element(live_, {}, &Kept::used);
    const ClassId id = oldest->id;
    bytes_ -= oldest->bytes;
    place_[index_of(id)] = 0;
    if (oldest != live_.end() - 1) {
      *oldest = std::move(live_.back());
      place_[index_of(oldest->id)] = static_cast<std::uint32_t>(oldest - live_.begin()) + 1;
    }
    live_.pop_back();
    cluster_.release_class(id);
  }
}

}  // namespace muster::scheduler
