#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/https/https_client.h"

namespace muster::app {

// Those of these leases of a namespace whose holder is alive: one that leads renews its lease every
// two seconds, one that stands still was left behind. Clocks of two machines are not compared.
// Blocks, for five seconds if any is held.
Result<std::vector<std::string>> live_leases(client::HttpsClient& client,
                                             std::string_view name_space,
                                             std::span<const std::string_view> names);

}  // namespace muster::app
