#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"

namespace muster::api {

// What a Service has been given, read once per object: a new Service must get something different
// from every other.
struct ServiceView : View {
  static std::unique_ptr<ServiceView> read(const Object& service);

  std::string cluster_ip;                // empty if it has none, "None" if it wants none
  std::vector<std::int64_t> node_ports;  // without the zeros
};

}  // namespace muster::api
