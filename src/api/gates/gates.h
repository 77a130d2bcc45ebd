#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::api {

// The features a user can switch, by upstream's names where upstream has them.
enum class Gate : std::uint8_t {
  GenericWorkload,
  TopologyAwareWorkloadScheduling,
  CompositePodGroup,
  PodGroupPreemptionPolicy,
  DRAWorkloadResourceClaims,
  WorkloadWithJob,
  MutableMinGroupCount,  // ours: minGroupCount of a CompositePodGroup may change
  EvictionRequestAPI,
  NominatedNodeNameForExpectation,
  ClearingNominatedNodeNameAfterBinding,
  SchedulerAsyncPreemption,
  SchedulerAsyncAPICalls,
  OpportunisticBatching,
  DynamicResourceAllocation,
  DeclarativeValidation,
  DeclarativeValidationBeta,
};
inline constexpr std::size_t kGateCount = 16;

// What is known about a gate before anybody sets it.
struct GateFacts {
  Gate gate;
  std::string_view name;
  bool on_by_default = false;
  bool locked = false;  // cannot be set to anything but its default
  std::vector<Gate> needs = {};
};
// Every gate, in the order of the enumeration.
std::span<const GateFacts> all_gates();
std::string_view gate_name(Gate gate);

// Which features are on. A small value, made once at start and handed to everybody.
class Gates {
 public:
  Gates();  // the defaults

  // The defaults changed by the text of a flag, "CompositePodGroup=true,WorkloadWithJob=false".
  // BadRequest names the unknown gate, the bad value, or the dependency that is not met.
  static Result<Gates> parse(std::string_view flag);

  bool on(Gate gate) const { return on_[static_cast<std::size_t>(gate)]; }
  // A copy with one gate changed; dependencies are not checked.
  Gates with(Gate gate) const { return changed(gate, true); }
  Gates without(Gate gate) const { return changed(gate, false); }

  // "A is enabled, but depends on features that are disabled: [B C]; say A=false as well, or
  // B=true,C=true", for every such gate.
  Result<void> check_dependencies() const;

  friend bool operator==(const Gates&, const Gates&) = default;

 private:
  Gates changed(Gate gate, bool on) const;
  Result<void> assign(std::string_view assignment);

  std::bitset<kGateCount> on_;
};

}  // namespace muster::api
