#include "store/engines/memory.h"

#include <algorithm>
#include <deque>
#include <ranges>
#include <utility>

#include "store/engines/ledger.h"

namespace muster::store {
namespace {

class MemoryEngine final : public Engine {
 public:
  Result<Contents> load() override {
    Contents contents;
    contents.revision = ledger_.revision();
    contents.compacted = compacted_;
    contents.waypoint = waypoint_;
    contents.objects = ledger_.objects();
    contents.recent.assign(history_.begin(), history_.end());
    return contents;
  }

  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) override {
    Ledger::Decision decision = ledger_.decide(batch);
    ledger_.accept(decision);
    for (const Change& change : decision.changes) {
      history_.push_back(change);
      history_bytes_ += memory_held_by(change);
    }
    while (history_.size() > kRecentChangesMax || history_bytes_ > kRecentBytesMax) forget_oldest();
    if (sink_ && !decision.changes.empty()) sink_(decision.changes);
    return std::move(decision.outcomes);
  }

  void set_sink(Sink sink) override { sink_ = std::move(sink); }

  Result<Revision> compact(Revision revision) override {
    if (revision > ledger_.revision())
      return fail(Reason::BadRequest, "cannot compact to revision {}: the newest is {}",
                  revision.value, ledger_.revision().value);
    std::size_t forgotten = 0;
    while (!history_.empty() && history_.front().revision <= revision) {
      if (++forgotten > kCompactionSlice) return compacted_;
      forget_oldest();
    }
    compacted_ = std::max(compacted_, revision);
    return compacted_;
  }

  HistorySize history() const override {
    return {.changes = history_.size(), .bytes = history_bytes_};
  }

  Revision revision_that_leaves(const HistorySize& most) const override {
    HistorySize left;
    for (const Change& change : std::views::reverse(history_)) {
      ++left.changes;
      left.bytes += memory_held_by(change);
      if (left.changes > most.changes || left.bytes > most.bytes) return change.revision;
    }
    return compacted_;
  }

  Result<void> remember(Waypoint waypoint) override {
    waypoint_ = waypoint;
    return {};
  }

  Result<void> probe() override { return {}; }

  Result<void> copy_to(const std::string&) override {
    return fail(Reason::MethodNotAllowed,
                "this store keeps nothing on disk: nothing can be copied");
  }

 private:
  void forget_oldest() {
    compacted_ = history_.front().revision;
    history_bytes_ -= memory_held_by(history_.front());
    history_.pop_front();
  }

  Ledger ledger_;
  std::deque<Change> history_;  // every change after compacted_
  std::size_t history_bytes_ = 0;
  Revision compacted_;
  std::optional<Waypoint> waypoint_;
  Sink sink_;
};

}  // namespace

std::unique_ptr<Engine> make_memory_engine() { return std::make_unique<MemoryEngine>(); }

}  // namespace muster::store
