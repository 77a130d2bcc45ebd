#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/https/https_client.h"

namespace muster::app {

// How a look sleeps; false: it must end.
using Sleep = std::function<bool(std::chrono::seconds)>;
bool sleep_really(std::chrono::seconds time);

// Returns the leases among `names` whose holder is alive: a leader renews its lease every few
// seconds, and a lease that has not changed for its whole duration was abandoned and may be taken
// over. Clocks of two machines are not compared. Blocks: five seconds if the holders are alive, the
// duration (a minute at most) if one is not. Fails if the server cannot be asked, or if `sleep`
// says to stop before the answer is known.
Result<std::vector<std::string>> live_leases(client::HttpsClient& client,
                                             std::string_view name_space,
                                             std::span<const std::string_view> names,
                                             const Sleep& sleep = sleep_really);

}  // namespace muster::app
