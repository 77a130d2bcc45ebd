#include "server/core/strategies/qos.h"

#include <array>
#include <map>
#include <string>

#include "api/values/quantity.h"
#include "server/core/strategies/document.h"

namespace muster::server {
namespace {

// Sums of cpu and memory; the only two that decide the class.
using Amounts = std::map<std::string, api::Quantity, std::less<>>;

constexpr std::array<std::string_view, 2> kCounted{"cpu", "memory"};

// Adds what the container states; false if it leaves out (or zeroes) one of the two.
bool add(const Json& container, std::string_view requests_or_limits, Amounts& amounts) {
  bool all = true;
  const Json* stated =
      api::find_path(container, std::string("resources.").append(requests_or_limits));
  for (const std::string_view name : kCounted) {
    const auto amount =
        api::Quantity::parse(stated == nullptr ? "" : api::find_string(*stated, name));
    if (amount && amount->sign() > 0)
      amounts[std::string(name)] += *amount;
    else
      all = false;
  }
  return all;
}

}  // namespace

std::string_view pod_qos_class(const Json& pod) {
  Amounts requests;
  Amounts limits;
  bool all_limited = true;
  const Json* spec = api::find(pod, "spec");
  for (const std::string_view member : {"containers", "initContainers"}) {
    const JsonArray* containers = spec == nullptr ? nullptr : api::find_array(*spec, member);
    if (containers == nullptr) continue;
    for (const Json& container : *containers) {
      add(container, "requests", requests);
      all_limited = add(container, "limits", limits) && all_limited;
    }
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return all_limited && requests == limits ? "Guaranteed" : "Burstable";
}

}  // namespace muster::server
