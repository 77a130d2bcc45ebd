#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "base/time.h"

// What a kubelet would report about its pods, and what it would read from them.
namespace muster::sim {

// On a pod: how long its containers run before they end (seconds, a Go duration such as 1m30s, or
// "forever"; absent: ten seconds if it is a Job's, otherwise until deleted), and with which exit
// code (absent: 0). Several codes, "1,1,0", are for successive runs; the last one repeats.
inline constexpr std::string_view kRunTimeAnnotation = "muster.dev/run-time";
inline constexpr std::string_view kForever = "forever";
inline constexpr Duration kJobRunTime = std::chrono::seconds{10};
inline constexpr std::string_view kExitCodeAnnotation = "muster.dev/exit-code";
// How long the pod takes to stop once deleted; never longer than its grace period.
inline constexpr std::string_view kStopTimeAnnotation = "muster.dev/stop-time";
// The exit code of a container that is told to stop, as a shell reports it: 128 + SIGTERM.
inline constexpr std::int64_t kStoppedCode = 143;

// "90", "1.5s", "1m30s", "500ms"; nullopt if it is not a length of time.
std::optional<Duration> parse_duration(std::string_view text);

// The length of time in an annotation of the pod; an invalid text counts as absent and is
// logged.
std::optional<Duration> annotated_duration(const api::Object& pod, std::string_view annotation);
// How long the pod runs before it ends by itself; none: until it is deleted.
std::optional<Duration> run_time(const api::Object& pod);
// The exit code of the run after `restarts` others, from the pod's annotation; 0 without
// one.
std::int64_t exit_code(const api::Object& pod, std::int64_t restarts);
// Whether containers that ended with this code are started again.
bool restarts_after(const api::Object& pod, std::int64_t code);
// The pause before that, after `restarts` restarts: none the first time, then ten seconds, doubling
// each time, at most five minutes.
Duration restart_pause(std::int64_t restarts);

// Where the containers of a pod are.
struct Containers {
  std::optional<std::int64_t> ended =
      std::nullopt;      // with this code; absent: they run, or wait to be restarted
  bool waiting = false;  // to be restarted
  std::int64_t restarts = 0;
  Time started = {};  // this run; means nothing while waiting
  // The run before, if there was one.
  struct Run {
    std::int64_t code = 0;
    Time started = {}, ended = {};
  };
  std::optional<Run> last = std::nullopt;
};
// The status of a pod whose containers are in this state.
api::Json pod_status(const api::Object& pod, const Containers& containers, Time now);
// What changes in the status of a running pod when its spec does: containers were resized, or one
// was added to look inside.
api::Json changed_status(const api::Object& pod, const Containers& containers, Time now);
// How often its containers were restarted, as its status says.
std::int64_t restart_count(const api::Object& pod);
// Of the spec that the pod's status was written for.
std::int64_t observed_generation(const api::Object& pod);
std::optional<Time> start_time(const api::Object& pod);
// An address in 10.0.0.0/8, so that columns have something to show.
std::string pretend_address(std::uint32_t number);
// The number of such an address; none for other addresses.
std::optional<std::uint32_t> address_number(std::string_view address);
// "" if it has none.
std::string pod_address(const api::Object& pod);

}  // namespace muster::sim
