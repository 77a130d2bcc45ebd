#include "scheduler/half_bound.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::scheduler {

void HalfBound::refused(const api::Object& pod, const std::string& why, Time now) {
  const std::optional<GroupKey> leaf = model_.leaf_of(pod);
  if (!leaf) return;
  const auto [at, is_new] = suspects_.try_emplace(*leaf, Suspect{now + kPatience, why});
  if (!is_new) at->second.why = why;
}

bool HalfBound::is_half_bound(const GroupSpec& leaf) const {
  const std::size_t bound = model_.members(leaf.key, PodRole::Running).size();
  return leaf.gang && bound > 0 && bound < static_cast<std::size_t>(leaf.minimum);
}

void HalfBound::run(Time now) {
  for (auto at = suspects_.begin(); at != suspects_.end();) {
    auto& [key, suspect] = *at;
    if (now < suspect.due) {
      ++at;
      continue;
    }
    const GroupSpec* const leaf = model_.forest().find(key);
    if (leaf == nullptr || leaf->object == nullptr || !is_half_bound(*leaf)) {
      at = suspects_.erase(at);
      continue;
    }
    report_.half_bound(
        *leaf->object,
        fmt::format("only {} of the {} pods that it needs are bound; the last refusal: {}",
                    model_.members(key, PodRole::Running).size(), leaf->minimum, suspect.why),
        now);
    suspect.due = now + kPatience;
    ++at;
  }
}

std::optional<Time> HalfBound::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [key, suspect] : suspects_)
    next = next ? std::min(*next, suspect.due) : suspect.due;
  return next;
}

}  // namespace muster::scheduler
