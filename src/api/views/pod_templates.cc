#include "api/views/pod_templates.h"

#include <algorithm>
#include <utility>

namespace muster::api {
namespace {

// Users choose the needs of their pods, hence the hash: of many templates with one hash each new
// one is compared with this many, and beyond that not shared.
constexpr int kAlikeMax = 8;
constexpr std::size_t kKeptAtLeast = 64;

}  // namespace

std::shared_ptr<const PodTemplate> PodTemplates::share(PodTemplate&& read) {
  int compared = 0;
  const auto [first, last] = known_.equal_range(read.needs_hash);
  for (auto at = first; at != last && compared < kAlikeMax; ++at, ++compared) {
    std::shared_ptr<const PodTemplate> known = at->second.lock();
    if (known && *known == read) return known;
  }
  // Not make_shared: what is known weakly would keep the memory of what is gone.
  std::shared_ptr<const PodTemplate> kept(new PodTemplate(std::move(read)));
  if (compared == kAlikeMax) return kept;
  if (known_.size() >= std::max(drop_at_, kKeptAtLeast)) drop_unused();
  known_.emplace(kept->needs_hash, kept);
  return kept;
}

// Costs a look at each, as often as their number has doubled.
void PodTemplates::drop_unused() {
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  drop_at_ = 2 * known_.size();
}

}  // namespace muster::api
