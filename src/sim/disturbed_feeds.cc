#include "sim/disturbed_feeds.h"

#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace muster::sim {
namespace {

using client::Event;

constexpr unsigned kSilentPollsMax = 10;

class DisturbedFeed final : public client::Feed {
 public:
  DisturbedFeed(std::unique_ptr<client::Feed> inner, const Disturbance& disturbance,
                Entropy& entropy)
      : inner_(std::move(inner)), disturbance_(disturbance), entropy_(entropy) {}

  Poll poll(std::vector<Event>& out, std::size_t max) override {
    if (is_silent()) return {.synced = synced_, .more = false};
    Poll polled;
    do {
      std::vector<Event> events;
      polled = inner_->poll(events, max);
      arrived_.insert(arrived_.end(), std::make_move_iterator(events.begin()),
                      std::make_move_iterator(events.end()));
    } while (after_silence_ && polled.more);  // a gap ends with everything there is
    if (std::exchange(after_silence_, false) && draw(disturbance_.gaps)) keep_differences();

    const std::size_t count = draw(disturbance_.single) ? 1 : max;
    for (std::size_t i = 0; i < count && !arrived_.empty(); ++i) {
      hand_over(out, std::move(arrived_.front()));
      arrived_.pop_front();
      if (draw(disturbance_.twice)) repeat_one(out);
    }
    synced_ = polled.synced && arrived_.empty();
    return {.synced = synced_, .more = polled.more || !arrived_.empty()};
  }

 private:
  using Objects = std::map<std::string, api::ObjectPtr>;  // by namespace/name

  bool draw(unsigned one_of) { return one_of > 0 && entropy_.below(one_of) == 0; }

  bool is_silent() {
    if (silent_polls_ == 0 && draw(disturbance_.late))
      silent_polls_ = 1 + entropy_.below(kSilentPollsMax);
    if (silent_polls_ == 0) return false;
    --silent_polls_;
    after_silence_ = true;
    return disturbance_.late > 0;  // who has calmed down is silent no more
  }

  static void note(Objects& objects, const Event& event) {
    if (event.type == Event::Type::Deleted)
      objects.erase(api::key_text(event.object->meta()));
    else
      objects[api::key_text(event.object->meta())] = event.object;
  }

  void hand_over(std::vector<Event>& out, Event event) {
    note(handed_over_, event);
    out.push_back(std::move(event));
  }

  void repeat_one(std::vector<Event>& out) {
    if (handed_over_.empty()) return;
    const auto which = static_cast<std::ptrdiff_t>(entropy_.below(handed_over_.size()));
    out.push_back({Event::Type::Modified, std::next(handed_over_.begin(), which)->second});
  }

  // What a fresh listing would show: nothing of what came and went, one change where there were
  // many, and two lives where one object took the name of another.
  void keep_differences() {
    Objects now = handed_over_;
    for (const Event& event : arrived_) note(now, event);
    arrived_.clear();
    for (const auto& [key, object] : now) {
      const auto before = handed_over_.find(key);
      const bool known = before != handed_over_.end();
      if (known && before->second->revision() == object->revision()) continue;
      const bool same = known && before->second->meta().uid == object->meta().uid;
      if (known && !same) arrived_.push_back({Event::Type::Deleted, before->second});
      arrived_.push_back({same ? Event::Type::Modified : Event::Type::Added, object});
    }
    for (const auto& [key, object] : handed_over_)
      if (!now.contains(key)) arrived_.push_back({Event::Type::Deleted, object});
  }

  const std::unique_ptr<client::Feed> inner_;
  const Disturbance& disturbance_;
  Entropy& entropy_;
  std::deque<Event> arrived_;  // not yet handed over
  Objects handed_over_;        // what the component knows
  std::uint64_t silent_polls_ = 0;
  bool after_silence_ = false;
  bool synced_ = false;
};

}  // namespace

std::unique_ptr<client::Feed> DisturbedClient::watch(const api::Kind& kind,
                                                     std::function<void()> wake) {
  return std::make_unique<DisturbedFeed>(inner_.watch(kind, std::move(wake)), disturbance_,
                                         entropy_);
}

}  // namespace muster::sim
