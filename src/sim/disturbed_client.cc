#include "sim/disturbed_client.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

namespace muster::sim {
namespace {

class DisturbedFeed final : public client::Feed {
 public:
  DisturbedFeed(std::unique_ptr<client::Feed> inner, const Disturbance& disturbance,
                Entropy& entropy)
      : inner_(std::move(inner)), disturbance_(disturbance), entropy_(entropy) {}

  Poll poll(std::vector<client::Event>& out, std::size_t max) override {
    fetched_.clear();
    const Poll inner = inner_->poll(fetched_, max);
    std::ranges::move(fetched_, std::back_inserter(kept_back_));
    if (one_of(disturbance_.late)) return {.synced = false, .more = false};
    const bool single = one_of(disturbance_.single);
    const std::size_t count = std::min(kept_back_.size(), single ? std::size_t{1} : max);
    for (std::size_t i = 0; i < count; ++i) {
      // What a watch shows again after a gap is the newest version, which everybody knows.
      if (one_of(disturbance_.twice)) out.push_back(kept_back_.front());
      out.push_back(std::move(kept_back_.front()));
      kept_back_.pop_front();
    }
    return {.synced = inner.synced && kept_back_.empty(),
            .more = !single && (inner.more || !kept_back_.empty())};
  }

 private:
  bool one_of(unsigned many) { return many > 0 && entropy_.below(many) == 0; }

  const std::unique_ptr<client::Feed> inner_;
  const Disturbance& disturbance_;
  Entropy& entropy_;
  std::vector<client::Event> fetched_;
  std::deque<client::Event> kept_back_;
};

}  // namespace

std::unique_ptr<client::Feed> DisturbedClient::watch(const api::Kind& kind,
                                                     std::function<void()> wake) {
  return std::make_unique<DisturbedFeed>(inner_.watch(kind, std::move(wake)), disturbance_,
                                         entropy_);
}

}  // namespace muster::sim
