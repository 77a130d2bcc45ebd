#include "scheduler/cache/host_ports.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/check.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kEveryAddress = "0.0.0.0";

bool is_before(const api::HostPort& a, const api::HostPort& b) {
  return std::tie(a.port, a.protocol, a.ip) < std::tie(b.port, b.protocol, b.ip);
}

}  // namespace

void add_ports(HeldPorts& held, std::span<const api::HostPort> ports) {
  const auto known = static_cast<std::ptrdiff_t>(held.size());
  held.insert(held.end(), ports.begin(), ports.end());
  std::ranges::sort(held.begin() + known, held.end(), is_before);
  std::ranges::inplace_merge(held, held.begin() + known, is_before);
}

void remove_ports(HeldPorts& held, std::span<const api::HostPort> ports) {
  HeldPorts gone(ports.begin(), ports.end());
  std::ranges::sort(gone, is_before);
  auto next = gone.begin();
  std::erase_if(held, [&](const api::HostPort& port) {
    if (next == gone.end() || *next != port) return false;
    ++next;
    return true;
  });
  CHECK(next == gone.end());
}

bool is_any_held(std::span<const api::HostPort> ports, std::span<const api::HostPort> held,
                 std::uint64_t* looks) {
  // The first that is held by this address or one after it.
  const auto first_at = [&](const api::HostPort& port, std::string_view address) {
    return std::ranges::partition_point(held, [&](const api::HostPort& other) {
      if (looks != nullptr) ++*looks;
      return std::tuple<std::int32_t, std::string_view, std::string_view>(
                 other.port, other.protocol, other.ip) <
             std::tuple<std::int32_t, std::string_view, std::string_view>(port.port, port.protocol,
                                                                          address);
    });
  };
  const auto is_held = [&](const api::HostPort& port, std::string_view address) {
    const auto at = first_at(port, address);
    return at != held.end() && at->port == port.port && at->protocol == port.protocol &&
           (at->ip == address || address.empty());
  };
  return std::ranges::any_of(ports, [&](const api::HostPort& port) {
    if (port.ip == kEveryAddress) return is_held(port, {});
    return is_held(port, port.ip) || is_held(port, kEveryAddress);
  });
}

}  // namespace muster::scheduler
