#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "base/time.h"

// What a kubelet would report about its node and its pods, and what it would read from them.
namespace muster::sim {

// Nodes with this annotation are played by PretendNodes; a node without it is somebody else's.
inline constexpr std::string_view kPretendAnnotation = "muster.dev/node";
inline constexpr std::string_view kPretendValue = "pretend";
// On a pod: how long it runs before it ends (seconds, a Go duration such as 1m30s, or "forever";
// absent: ten seconds if it is a Job's, else until it is deleted), and with which exit code
// (absent: 0).
inline constexpr std::string_view kRunTimeAnnotation = "muster.dev/run-time";
inline constexpr std::string_view kForever = "forever";
inline constexpr Duration kJobRunTime = std::chrono::seconds{10};
inline constexpr std::string_view kExitCodeAnnotation = "muster.dev/exit-code";
// How long the pod takes to stop once deleted; never longer than its grace period.
inline constexpr std::string_view kStopTimeAnnotation = "muster.dev/stop-time";
// With what a container ends that is told to stop, as a shell says it: 128 + SIGTERM.
inline constexpr std::int64_t kStoppedCode = 143;

// "90", "1.5s", "1m30s", "500ms"; nullopt if it is no length of time.
std::optional<Duration> parse_duration(std::string_view text);

// The length of time an annotation of the pod gives; a text that is none counts as absent and is
// logged.
std::optional<Duration> annotated_duration(const api::Object& pod, std::string_view annotation);
// How long the pod runs before it ends by itself; none: until it is deleted.
std::optional<Duration> run_time(const api::Object& pod);
// What the pod's annotation says; 0 without one.
std::int64_t exit_code(const api::Object& pod);
// What a healthy kubelet reports about itself.
api::Json node_conditions(Time now);
// The status of a pod whose containers run (code absent) or have ended with a code.
api::Json pod_status(const api::Object& pod, std::optional<std::int64_t> code, Time started,
                     Time now);
// What changes in the status of a running pod when its spec does: containers were resized, or one
// was added to look inside.
api::Json changed_status(const api::Object& pod, Time started, Time now);
// Of the spec that the pod's status was written for.
std::int64_t observed_generation(const api::Object& pod);
std::optional<Time> start_time(const api::Object& pod);
// An address in 10.0.0.0/8, so that columns have something to show.
std::string pretend_address(std::uint32_t number);
// The number of such an address; none if it is another's.
std::optional<std::uint32_t> address_number(std::string_view address);
// "" if it has none.
std::string internal_address(const api::Object& node);
std::string pod_address(const api::Object& pod);

}  // namespace muster::sim
