#include <algorithm>
#include <optional>

#include "scheduler/groups/forest_walk.h"
#include "scheduler/groups/workload_forest.h"

namespace muster::scheduler {

// Groups are found again by their keys: any of them may be gone by now, and then what was below it
// is elsewhere. A circle is walked once.
const GroupKey* WorkloadForest::next(ForestWalk& walk) const {
  constexpr std::size_t kLevels = kTreeDepthMax + 2;
  std::vector<GroupKey>& path = walk.path_;
  if (!std::exchange(walk.has_begun_, true)) {
    path.push_back(walk.top_);
    return &path.back();
  }
  const auto is_on_path = [&path](const Node* node) {
    return std::ranges::find(path, node->key) != path.end();
  };
  for (std::optional<GroupKey> passed; !path.empty(); path.pop_back()) {
    if (const Node* at = find_node(path.back()); at != nullptr && path.size() < kLevels) {
      const auto& below = walk.over_ == ForestWalk::Over::Busy ? at->busy_children : at->children;
      auto child = passed ? below.upper_bound(*passed) : below.begin();
      child = std::find_if_not(child, below.end(), is_on_path);
      if (child != below.end()) {
        path.push_back((*child)->key);
        return &path.back();
      }
    }
    passed = path.back();
  }
  return nullptr;
}

}  // namespace muster::scheduler
