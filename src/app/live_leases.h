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

void sleep_really(std::chrono::seconds time);

// Those of these leases of a namespace whose holder is alive: one that leads renews its lease every
// few seconds, one that stood still for the lease's whole duration was left behind, and may be
// taken over. Clocks of two machines are not compared. Blocks: five seconds if the holders are
// alive, the duration (a minute at most) if one is not.
using Sleep = std::function<void(std::chrono::seconds)>;
Result<std::vector<std::string>> live_leases(client::HttpsClient& client,
                                             std::string_view name_space,
                                             std::span<const std::string_view> names,
                                             const Sleep& sleep = sleep_really);

}  // namespace muster::app
