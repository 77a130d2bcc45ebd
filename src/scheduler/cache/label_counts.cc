#include "scheduler/cache/label_counts.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "base/check.h"
#include "scheduler/cache/text_hash.h"

namespace muster::scheduler {
namespace {

constexpr char kSlot = 0;  // its address is the key

std::uint64_t hash_of(std::string_view name_space, std::string_view key, std::string_view value) {
  std::uint64_t hash = 0;
  for (const std::string_view part : {name_space, key, value})
    hash = (std::rotl(hash, 23) ^ TextHash{}(part)) * 0x9e3779b97f4a7c15ULL;
  return hash;
}

}  // namespace

LabelCounts& LabelCounts::of(Cluster& cluster) {
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(&kSlot);
  if (slot == nullptr) slot = std::make_unique<LabelCounts>();
  return static_cast<LabelCounts&>(*slot);
}

void LabelCounts::add(const api::ObjectMeta& pod) {
  for (const auto& [key, value] : pod.labels) ++counts_[hash_of(pod.name_space, key, value)];
}

void LabelCounts::remove(const api::ObjectMeta& pod) {
  for (const auto& [key, value] : pod.labels) {
    const auto at = counts_.find(hash_of(pod.name_space, key, value));
    CHECK(at != counts_.end());
    if (--at->second == 0) counts_.erase(at);
  }
}

bool LabelCounts::may_match(const Term& term) const {
  if (term.namespace_selector) return true;
  return std::ranges::all_of(term.selector.tests, [&](const api::NodeRequirement& test) {
    if (test.op != api::SelectorOperator::In) return true;
    return std::ranges::any_of(term.namespaces, [&](const std::string& name_space) {
      return std::ranges::any_of(test.values, [&](const std::string& value) {
        return counts_.contains(hash_of(name_space, test.key, value));
      });
    });
  });
}

}  // namespace muster::scheduler
