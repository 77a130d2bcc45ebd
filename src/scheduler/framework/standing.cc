#include "scheduler/framework/standing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "scheduler/cache/column_math.h"
#include "scheduler/framework/refusing_pass.h"

namespace muster::scheduler {
namespace {

// The plugin named in the refusal of a whole class (PodClass::refusal): the one that would have
// judged what is too much. Its events get the pods tried again.
std::string_view refused_by(const PodClass& pods) {
  const bool asks_for_pods = !pods.sample->view<api::PodView>().needs.pod_terms.empty();
  return asks_for_pods ? "InterPodAffinity" : "PodTopologySpread";
}

// The memory that a class alone may keep alive: the pod it was made from, at least the fixed part
// of a column for each label, and what others ask.
std::size_t bytes_of(const PodClass& pods) {
  constexpr std::size_t kLabel = 400;
  return 2 * pods.sample->bytes().size() + kLabel * pods.labels.size() +
         sizeof(TermId) * pods.matches.capacity();
}

}  // namespace

Standing::Standing(const PodClass& pods, const Profile& profile, Cluster& cluster)
    : pods_(pods),
      profile_(profile),
      cluster_(cluster),
      touched_(cluster),
      ignored_(cluster),
      caps_(cluster) {
  ignored_.every_row();  // nobody reads it: saves the passes the search for rows
  prepare();
  narrow_by_name();
}

// --- passes ---

void Standing::prepare() {
  filters_.clear();
  scores_.clear();
  followers_.clear();
  following_filters_.clear();
  places_.clear();
  raws_follow_moves_ = false;
  if (!pods_.refusal.empty()) {
    filters_.push_back({refused_by(pods_), std::make_unique<RefusingPass>(pods_.refusal)});
    return;
  }
  for (const auto& entry : profile_.filters())
    if (auto pass = entry.plugin->prepare_filter(pods_, cluster_))
      filters_.push_back({entry.name, std::move(pass)});
  for (const auto& entry : profile_.scores())
    if (auto pass = entry.plugin->prepare_score(pods_, cluster_))
      scores_.push_back({entry.name, std::move(pass), entry.weight});
  const auto raw = std::ranges::stable_partition(scores_, [](const NamedScore& score) {
    return score.pass->form() == ScorePass::Form::Local;
  });
  local_count_ = scores_.size() - raw.size();
  for (const NamedFilter& filter : filters_) {
    if (filter.pass->follows_moves()) {
      followers_.push_back(filter.pass.get());
      following_filters_.push_back(filter.pass.get());
    }
    if (filter.pass->has_places()) places_.push_back(filter.pass.get());
  }
  for (const NamedScore& score : scores_) {
    if (!score.pass->follows_moves()) continue;
    followers_.push_back(score.pass.get());
    raws_follow_moves_ |= score.pass->form() == ScorePass::Form::Raw;
  }
  if (follows_moves()) count_running();
  nominated_rows_.clear();
  nominated_seen_ = 0;
}

// Passes that look beyond their node start empty and hear of every pod that runs.
void Standing::count_running() {
  cluster_.follow_pods();
  pods_seen_ = cluster_.pod_log().end();
  labels_seen_ = cluster_.label_epoch() + cluster_.taint_epoch();  // both only rise
  rows_prepared_ = cluster_.rows();
  touched_.clear();
  touched_.every_row();  // nobody reads it: saves the passes the search for rows
  cluster_.for_each_running([this](const PodClass& pods, NodeId node, std::uint32_t count) {
    if (!cluster_.nodes().contains(node)) return;
    for (Pass* pass : followers_) pass->placed_many(pods, node, count, touched_);
  });
  touched_.clear();
}

// Upstream's PreFilter phase: the first refusal ends it, node sets are intersected.
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

Standing::Answer Standing::ask_as_is(NodeId node) const {
  // A report asks about every node: words are found only for the filter that refuses it.
  for (const NamedFilter& filter : filters_)
    if (!filter.pass->admits(node)) return {filter.pass->ask(node), filter.name};
  return {};
}

bool Standing::admits(NodeId node) const {
  return admits_as_is(node) && (!is_nominated(node) || admits_with_nominated(node));
}

bool Standing::admits_as_is(NodeId node) const {
  if (!cluster_.nodes().contains(node)) return false;
  return std::ranges::all_of(
      filters_, [&](const NamedFilter& filter) { return filter.pass->admits_row(node); });
}

bool Standing::admits_place_of(NodeId node) const {
  return std::ranges::all_of(
      places_, [&](const FilterPass* filter) { return filter->admits_place(filter->place(node)); });
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

// --- keeping up with the cluster ---

void Standing::catch_up() {
  Scratch scratch;
  catch_up(scratch);
}

bool Standing::must_rebuild() const {
  const RowLog& log = cluster_.log();
  const auto is_outdated = [](const auto& named) { return named.pass->is_outdated(); };
  return !built_ || rows_seen_ != cluster_.rows() || order_seen_ != cluster_.order_epoch() ||
         std::ranges::any_of(filters_, is_outdated) || std::ranges::any_of(scores_, is_outdated) ||
         !log.reaches(seen_) || log.end() - seen_ > cluster_.rows() / 2 + 16;
}

void Standing::catch_up(Scratch& scratch) {
  if (cluster_.rows() == 0) return;
  if (follows_moves()) {
    catch_up_following(scratch);
    return;
  }
  const RowLog& log = cluster_.log();
  if (built_ && log.end() == seen_) return;
  if (must_rebuild()) {
    rebuild(scratch);
    return;
  }
  if (log.has_nodes_since(seen_)) refresh_passes();
  const std::uint64_t end = log.end();
  for (std::uint64_t at = std::exchange(seen_, end); at < end; ++at) {
    const RowLog::Entry entry = log.at(at);
    if (entry.what == RowLog::What::Usage && log.is_outdated(entry, at)) continue;
    if (!update_row(entry.node, entry.what == RowLog::What::Node)) {
      rebuild(scratch);
      return;
    }
    if (caps_.is_built()) refresh_cap(entry.node);
  }
}

// First the passes hear of every pod that came or left; only then are rows refreshed, each once:
// those that changed themselves and those that the passes name.
void Standing::catch_up_following(Scratch& scratch) {
  touched_.clear();
  if (!read_pod_log()) {
    prepare();
    rebuild(scratch);
    return;
  }
  if (nominated_seen_ != cluster_.nominated_epoch()) {
    touch_nominated_rows();
    find_nominated_rows();
    touch_nominated_rows();
  }
  if (must_rebuild()) {
    rebuild(scratch);
    return;
  }
  const RowLog& log = cluster_.log();
  const bool have_nodes_changed = log.has_nodes_since(seen_);
  for (; seen_ < log.end(); ++seen_) touched_.row(log.at(seen_).node);
  if (touched_.empty()) return;
  touch_nominated_rows();
  if (touched_.rows().size() > cluster_.rows() / 2 + 16) touched_.every_row();
  if (have_nodes_changed) refresh_passes();
  refresh_touched({.may_change_groups = true});
}

// False if the passes must count again: they fell behind, or nodes came, went or changed their
// label values under the pods that are counted. As long as that is not so, a row has a node or has
// none, and always the same one; what happens on a row without one is ignored.
bool Standing::read_pod_log() {
  const PodLog& log = cluster_.pod_log();
  if (labels_seen_ != cluster_.label_epoch() + cluster_.taint_epoch() ||
      rows_prepared_ != cluster_.rows() || !log.reaches(pods_seen_))
    return false;
  for (; pods_seen_ < log.end(); ++pods_seen_) {
    const PodLog::Entry& entry = log.at(pods_seen_);
    if (!cluster_.nodes().contains(entry.node)) continue;
    const PodClass& pods = cluster_.pod_class(entry.pods);
    for (Pass* pass : followers_) {
      if (entry.came)
        pass->placed(pods, entry.node, touched_);
      else
        pass->removed(pods, entry.node, touched_);
    }
  }
  return true;
}

void Standing::refresh_passes() {
  for (const NamedFilter& filter : filters_) filter.pass->refresh();
  for (const NamedScore& score : scores_) score.pass->refresh();
}

// Brings the key and the group of one row up to date. False if everything must be rebuilt.
bool Standing::update_row(NodeId node, bool may_change_group) {
  ++rows_read_;
  const std::uint64_t key = key_now(node);
  // A row that waits for its node, with pods that came first, is in no group.
  if (may_change_group && has_raws() && cluster_.nodes().contains(node))
    return change_group(node, key);
  contest_.set(index_of(node), key);
  return true;
}

// The feasible nodes and the local total of every row, over whole columns.
void Standing::evaluate_columns(Scratch& scratch) {
  refresh_passes();
  find_nominated_rows();
  rows_read_ += cluster_.rows();
  scratch.feasible = cluster_.nodes();
  for (const NamedFilter& filter : filters_) {
    if (filter.pass->has_places())
      scratch.feasible.keep_if([&](NodeId node) { return filter.pass->admits_row(node); });
    else
      filter.pass->narrow(scratch.feasible);
  }
  for (const NodeId node : nominated_rows_)
    if (scratch.feasible.contains(node) && !admits_with_nominated(node))
      scratch.feasible.remove(node);
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
  contest_.reset(cluster_.rows(), group_of_, groups_.end());
  if (!has_groups()) {
    pack_keys(scratch.feasible, scratch.totals, ranks, contest_.keys());
  } else {
    scratch.feasible.for_each([&](NodeId node) {
      contest_.enter(index_of(node), ContestKey::of(scratch.totals[node], ranks[node]));
    });
  }
  contest_.rebuild();
  if (caps_.is_built()) build_caps();
}

// --- a draft's moves ---

void Standing::placed(const PodClass& pods, NodeId node) {
  touched_.clear();
  touched_.row(node);
  for (Pass* pass : followers_) pass->placed(pods, node, touched_);
  touch_nominated_rows();
  refresh_touched({.may_change_groups = raws_follow_moves_});
}

void Standing::removed(const PodClass& pods, NodeId node) {
  touched_.clear();
  touched_.row(node);
  for (const auto& pass : std::views::reverse(followers_)) pass->removed(pods, node, touched_);
  touch_nominated_rows();
  refresh_touched({.may_change_groups = raws_follow_moves_});
}

void Standing::refresh_touched(Refresh refresh) {
  if (!touched_.is_every_row()) {
    stale_caps_.resize(cluster_.rows());
    bool fits = true;
    for (const NodeId node : touched_.rows()) {
      fits = fits && update_row(node, refresh.may_change_groups);
      stale_caps_.insert(node);
    }
    if (fits) return;
    touched_.every_row();
  }
  Scratch scratch;
  rebuild(scratch);
}

// --- caps ---

const CapColumn& Standing::caps() {
  sync_caps();
  return caps_.column();
}

Exactness Standing::cap_exactness() {
  if (!caps_.is_built()) build_caps();
  return caps_.exactness();
}

const std::vector<std::int64_t>& Standing::cap_sums(
    const std::shared_ptr<const Division>& division) {
  sync_caps();
  return caps_.sums(division);
}

std::int64_t Standing::cap_sum(const std::shared_ptr<const Division>& division,
                               std::span<const CellId> cells) {
  sync_caps();
  return caps_.sum_over(division, cells);
}

void Standing::build_caps() {
  stale_caps_.clear();
  caps_.build(filters_, contest_, refused_everywhere_.has_value());
  for (const NodeId node : nominated_rows_) refresh_cap(node);
}

void Standing::sync_caps() {
  if (!caps_.is_built()) build_caps();
  if (stale_caps_.empty()) return;
  for (const NodeId node : stale_caps_.rows()) refresh_cap(node);
  stale_caps_.clear();
}

std::int32_t Standing::cap_now(NodeId node) const {
  if (refused_everywhere_ || !cluster_.nodes().contains(node)) return 0;
  std::int32_t cap = kNoCap;
  const auto lower = [&] {
    for (const NamedFilter& filter : filters_) cap = std::min(cap, filter.pass->cap_at(node));
  };
  lower();
  if (!is_nominated(node)) return cap;
  place_nominated(node);
  lower();
  unplace_nominated(node);
  return cap;
}

std::size_t Standing::bytes() const {
  std::size_t passes = (filters_.size() + scores_.size()) * 128;
  for (const NamedFilter& filter : filters_) passes += filter.pass->bytes();
  for (const NamedScore& score : scores_) passes += score.pass->bytes();
  return contest_.bytes() + groups_.bytes() + group_of_.capacity() * 2 + caps_.bytes() +
         touched_.bytes() + stale_caps_.bytes() + sizeof(*this) + passes + bytes_of(pods_);
}

}  // namespace muster::scheduler
