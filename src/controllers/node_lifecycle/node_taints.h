#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/object.h"
#include "api/request.h"
#include "base/time.h"

// The taints that say what is wrong with a node. NoSchedule ones follow its conditions at once; the
// NoExecute ones, which drive pods away, come when it is the node's turn.
namespace muster::controllers {

inline constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";

// What becomes of the NoExecute taints of a node that is not ready.
enum class Driving : std::uint8_t {
  Keep,   // an existing one is replaced if the reason has changed; none is added
  Start,  // it gets one
  Stop    // they are removed: everything is down, so nothing would be gained
};

// Whether it has the NoExecute taint of a node that is not ready, of either reason.
bool drives_pods_away(const api::Object& node);

// Gives the node the taints it should have, or none if it has them. Taints of other keys and
// effects stay. The resource version makes it a conflict if somebody else wrote first: taints are
// one list.
std::optional<api::Request> correct_taints(const api::Object& node, Driving driving, Time now);

}  // namespace muster::controllers
