#include "scheduler/groups/namespace_turns.h"

#include <algorithm>

#include "base/check.h"

namespace muster::scheduler {

std::size_t NamespaceTurns::left(std::string_view name_space, Time now) const {
  const auto at = paid_at_.find(name_space);
  if (at == paid_at_.end() || at->second <= now) return options_.burst;
  const auto owed =
      static_cast<std::size_t>((at->second - now + options_.each - Duration{1}) / options_.each);
  return owed >= options_.burst ? 0 : options_.burst - owed;
}

void NamespaceTurns::charge(std::string_view name_space, std::size_t steps, Time now) {
  if (steps == 0) return;
  constexpr std::size_t kForgottenMin = 64;
  auto at = paid_at_.find(name_space);
  if (at == paid_at_.end()) at = paid_at_.emplace(name_space, now).first;
  at->second = std::max(at->second, now) + options_.each * static_cast<std::int64_t>(steps);
  if (paid_at_.size() < 2 * pruned_to_ + kForgottenMin) return;
  std::erase_if(paid_at_, [now](const auto& entry) { return entry.second <= now; });
  pruned_to_ = paid_at_.size();
}

Time NamespaceTurns::when(std::string_view name_space, std::size_t steps) const {
  CHECK(steps <= options_.burst);
  const auto at = paid_at_.find(name_space);
  if (at == paid_at_.end()) return Time::min();
  return at->second - options_.each * static_cast<std::int64_t>(options_.burst - steps);
}

}  // namespace muster::scheduler
