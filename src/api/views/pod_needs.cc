#include "api/views/pod_needs.h"

#include <algorithm>

namespace muster::api {

// A disk without a writer can be shared, but for one kind that never can. Of two kinds nobody keeps
// pods apart: their drivers do.
bool conflict(const InlineDisk& a, const InlineDisk& b) {
  if (a.type != b.type || a.id != b.id) return false;
  if (a.type == InlineDisk::Type::Azure || a.type == InlineDisk::Type::Cinder) return false;
  if (a.type == InlineDisk::Type::Rbd &&
      std::ranges::none_of(a.monitors, [&](const std::string& monitor) {
        return std::ranges::find(b.monitors, monitor) != b.monitors.end();
      }))
    return false;
  return a.type == InlineDisk::Type::Ebs || !a.read_only || !b.read_only;
}

std::int64_t PodNeeds::scored(std::string_view resource) const {
  if (resource == "cpu") return score_cpu_milli;
  if (resource == "memory") return score_memory;
  const auto differs =
      std::ranges::find(score_huge_pages, resource,
                        [](const auto& entry) -> std::string_view { return entry.first; });
  return differs != score_huge_pages.end() ? differs->second : requests.of(resource);
}

}  // namespace muster::api
