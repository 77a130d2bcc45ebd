#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace muster::scheduler {

// The questions of a scheduling cycle that plugins answer, by upstream's names. Our interfaces
// (plugin.h) are fewer: a Filter answers preFilter and filter, a Score preScore and score.
enum class ExtensionPoint : std::uint8_t {
  PreEnqueue,
  QueueSort,
  PreFilter,
  Filter,
  PostFilter,
  PreScore,
  Score,
  Reserve,
  Permit,
  PreBind,
  Bind,
  PostBind,
  PlacementGenerate,
  PlacementFeasible,
  PlacementScore,
  PodGroupPostFilter,
};
inline constexpr std::size_t kExtensionPoints = 16;

// As a configuration and metrics spell it: "preFilter".
constexpr std::string_view point_name(ExtensionPoint point) {
  constexpr std::string_view kNames[kExtensionPoints] = {"preEnqueue",
                                                         "queueSort",
                                                         "preFilter",
                                                         "filter",
                                                         "postFilter",
                                                         "preScore",
                                                         "score",
                                                         "reserve",
                                                         "permit",
                                                         "preBind",
                                                         "bind",
                                                         "postBind",
                                                         "placementGenerate",
                                                         "placementFeasible",
                                                         "placementScore",
                                                         "podGroupPostFilter"};
  return kNames[static_cast<std::size_t>(point)];
}

// Some of the points.
class Points {
 public:
  Points() = default;
  Points(std::initializer_list<ExtensionPoint> points) {
    for (const ExtensionPoint point : points) add(point);
  }
  static Points all() {
    Points points;
    points.bits_.set();
    return points;
  }
  void add(ExtensionPoint point) { bits_.set(static_cast<std::size_t>(point)); }
  bool contains(ExtensionPoint point) const { return bits_.test(static_cast<std::size_t>(point)); }
  bool empty() const { return bits_.none(); }

 private:
  std::bitset<kExtensionPoints> bits_;
};

}  // namespace muster::scheduler
