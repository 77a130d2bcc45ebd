#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/views/pod_view.h"

namespace muster::scheduler {

// Host ports of several pods, sorted by port, protocol and address, so that conflicts are adjacent.
// A pod may have thousands, and so may each of those on its node: nothing
// here costs more than the ports of one, looked up among those of the others.
using HeldPorts = std::vector<api::HostPort>;

// A port that two pods hold is there twice.
void add_ports(HeldPorts& held, std::span<const api::HostPort> ports);
// They must be there.
void remove_ports(HeldPorts& held, std::span<const api::HostPort> ports);

// Whether one of the ports is held already; 0.0.0.0 stands for every address, on either side.
// `held` is in the order of HeldPorts. `looks`, for tests: entries that were compared.
bool is_any_held(std::span<const api::HostPort> ports, std::span<const api::HostPort> held,
                 std::uint64_t* looks = nullptr);

}  // namespace muster::scheduler
