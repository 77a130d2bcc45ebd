#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/views/pod_view.h"

namespace muster::scheduler::twin {

inline bool selects(const api::PodSelector& selector, const api::StringPairs& labels) {
  if (selector.is_null) return false;
  for (const api::NodeRequirement& test : selector.tests) {
    const std::string* value = api::lookup(labels, test.key);
    const bool is_listed = value != nullptr && std::ranges::count(test.values, *value) > 0;
    if (test.op == api::SelectorOperator::In && !is_listed) return false;
    if (test.op == api::SelectorOperator::NotIn && is_listed) return false;
    if (test.op == api::SelectorOperator::Exists && value == nullptr) return false;
    if (test.op == api::SelectorOperator::DoesNotExist && value != nullptr) return false;
  }
  return true;
}

// matchLabelKeys: for each label the owner has, the other has the same value; or has another, or
// none.
inline bool has_same(const std::vector<std::string>& keys, const api::Object& owner,
                     const api::Object& other, bool same) {
  return std::ranges::all_of(keys, [&](const std::string& key) {
    const std::string* ours = api::lookup(owner.meta().labels, key);
    const std::string* theirs = api::lookup(other.meta().labels, key);
    return ours == nullptr || (theirs != nullptr && *theirs == *ours) == same;
  });
}

}  // namespace muster::scheduler::twin
