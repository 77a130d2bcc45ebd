#include "scheduler/cache/host_ports.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace muster::scheduler {
namespace {

using api::HostPort;

// As it is written in the documents of Kubernetes.
bool are_in_the_way(const std::vector<HostPort>& ports, const std::vector<HostPort>& held) {
  for (const HostPort& a : ports)
    for (const HostPort& b : held)
      if (a.port == b.port && a.protocol == b.protocol &&
          (a.ip == b.ip || a.ip == "0.0.0.0" || b.ip == "0.0.0.0"))
        return true;
  return false;
}

TEST(HostPorts, AreHeldAsEachPairOfThemSays) {
  std::mt19937 random(7);
  const auto make = [&](std::size_t most) {
    std::vector<HostPort> ports(random() % (most + 1));
    for (HostPort& port : ports)
      port = {.ip = std::vector<std::string>{"0.0.0.0", "10.0.0.1", "::1"}[random() % 3],
              .protocol = random() % 2 == 0 ? "TCP" : "UDP",
              .port = static_cast<std::int32_t>(1 + random() % 6)};
    return ports;
  };
  int taken = 0;
  for (int i = 0; i < 2'000; ++i) {
    HeldPorts held;
    std::vector<std::vector<HostPort>> pods;
    for (std::size_t pod = 0; pod < random() % 4; ++pod) {
      pods.push_back(make(3));
      add_ports(held, pods.back());
    }
    const std::vector<HostPort> wanted = make(2);
    const bool is_taken = is_any_held(wanted, held);
    EXPECT_EQ(is_taken, are_in_the_way(wanted, held));
    taken += is_taken ? 1 : 0;
    for (const auto& ports : pods) remove_ports(held, ports);
    EXPECT_TRUE(held.empty());
  }
  EXPECT_GT(taken, 100);
}

// Each port of a pod was compared with each on the node: 49 million steps for 7,000 of both, on
// every node.
TEST(HostPorts, AreLookedUpAndNotComparedOneByOne) {
  const auto make = [](int count, const std::string& protocol) {
    std::vector<HostPort> ports;
    for (int i = 0; i < count; ++i)
      ports.push_back({.ip = "10.0.0.1", .protocol = protocol, .port = 1 + i});
    return ports;
  };
  HeldPorts held;
  add_ports(held, make(7'000, "TCP"));
  std::uint64_t looks = 0;
  EXPECT_FALSE(is_any_held(make(7'000, "UDP"), held, &looks));
  EXPECT_LE(looks, 7'000U * 2 * 14);
}

}  // namespace
}  // namespace muster::scheduler
