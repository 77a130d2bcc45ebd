#include "server/core/strategies/qos.h"

#include <array>
#include <map>
#include <string>

#include "api/reading.h"
#include "api/values/quantity.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/pod_level.h"

namespace muster::server {
namespace {

// Sums of cpu and memory; the only two that decide the class.
using Amounts = std::map<std::string, api::Quantity, std::less<>>;

constexpr std::array<std::string_view, 2> kCounted{"cpu", "memory"};

// Adds what the container, or the pod as a whole, states; false if it leaves out (or zeroes) one of
// the two.
bool add(const Json& holder, std::string_view requests_or_limits, Amounts& amounts) {
  bool all = true;
  const Json* stated = api::find_path(holder, std::string("resources.").append(requests_or_limits));
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
  const Json& spec = api::part_of(pod, "spec");
  // A pod that says what it needs as a whole is judged by that alone.
  const auto count = [&](const Json& holder) {
    add(holder, "requests", requests);
    all_limited = add(holder, "limits", limits) && all_limited;
  };
  const auto count_each = [&](std::string_view list) {
    const JsonArray* const containers = api::find_array(spec, list);
    if (containers == nullptr) return;
    for (const Json& container : *containers) count(container);
  };
  if (has_pod_level(spec)) {
    count(spec);
  } else {
    count_each("containers");
    count_each("initContainers");
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return all_limited && requests == limits ? "Guaranteed" : "Burstable";
}

}  // namespace muster::server
