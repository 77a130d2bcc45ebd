#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/object.h"
#include "api/request.h"
#include "base/time.h"

// What a node says of itself, and what is said of one that has fallen silent.
namespace muster::controllers {

enum class Readiness : std::uint8_t {
  Unsaid,  // it never reported
  True,
  False,
  Unknown  // somebody wrote that it is silent
};
Readiness readiness(const api::Object& node);

// When the kubelet last wrote the Ready condition, as it wrote it; "" if it never did. Whoever
// declares a node silent leaves it as it was.
std::string heartbeat_text(const api::Object& node);

// Says of each condition that a kubelet reports that nobody knows; none if that is said already.
// The uid makes it an error for a namesake.
std::optional<api::Request> declare_silent(const api::Object& node, Time now);

// Says of a pod that it is not ready; none if it does not claim to be. A silent kubelet cannot.
std::optional<api::Request> declare_not_ready(const api::Object& pod, Time now);

// Region and zone of a node, as one text; those that fail together.
std::string zone_of(const api::Object& node);

}  // namespace muster::controllers
