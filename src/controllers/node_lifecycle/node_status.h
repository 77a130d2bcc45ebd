#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/object.h"
#include "api/request.h"
#include "base/time.h"

// What a node says about itself, and what is written about one that has fallen silent.
namespace muster::controllers {

enum class Readiness : std::uint8_t {
  Unsaid,  // it never reported
  True,
  False,
  Unknown  // somebody wrote that it is silent
};
Readiness readiness(const api::Object& node);

// When the kubelet last wrote the Ready condition, as it wrote it; "" if it never did. Declaring a
// node silent leaves it unchanged.
std::string heartbeat_text(const api::Object& node);

// Sets each condition that a kubelet reports to Unknown; none if they are already. The uid makes it
// an error for a later node of the name.
std::optional<api::Request> declare_silent(const api::Object& node, Time now);

// Marks a pod not ready; none if it does not claim to be ready. A silent kubelet cannot do it.
std::optional<api::Request> declare_not_ready(const api::Object& pod, Time now);

// Region and zone of a node, as one text; those that fail together.
std::string zone_of(const api::Object& node);

}  // namespace muster::controllers
