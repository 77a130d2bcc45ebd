#pragma once

#include <cstdint>
#include <string_view>

#include "api/values/string_pairs.h"

// How a node without a machine is marked, and how it is made to fail.
namespace muster::api {

// Nodes with this annotation are played by sim::PretendNodes; a node without it is somebody else's.
inline constexpr std::string_view kPretendAnnotation = "muster.dev/node";
inline constexpr std::string_view kPretendValue = "pretend";
// On a pretend node: "not-ready" makes its kubelet report that it is not ready; any value other
// than "" and "false" makes it fall silent, as if the machine had lost power.
inline constexpr std::string_view kFailAnnotation = "muster.dev/fail";
inline constexpr std::string_view kFailNotReady = "not-ready";

enum class PretendHealth : std::uint8_t { Healthy, NotReady, Silent };

inline bool is_pretend(const StringPairs& annotations) {
  const std::string* mark = lookup(annotations, kPretendAnnotation);
  return mark != nullptr && *mark == kPretendValue;
}

inline PretendHealth pretend_health(const StringPairs& annotations) {
  const std::string* fail = lookup(annotations, kFailAnnotation);
  if (fail == nullptr || fail->empty() || *fail == "false") return PretendHealth::Healthy;
  return *fail == kFailNotReady ? PretendHealth::NotReady : PretendHealth::Silent;
}

}  // namespace muster::api
