#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/condition.h"
#include "api/views/int_or_percent.h"

namespace muster::api {

// The fields of a LeaderWorkerSet that controllers read; templates are in the document.
struct LeaderWorkerSetView : View {
  static std::unique_ptr<LeaderWorkerSetView> read(const Object& set);

  enum class Restart : std::uint8_t { OnPodRestart, AfterStart, None };

  std::int32_t replicas = 1;  // groups
  std::int32_t size = 1;      // pods of a group
  Restart restart = Restart::OnPodRestart;
  bool waits_for_leader = false;  // startupPolicy LeaderReady
  std::int32_t partition = 0;
  IntOrPercent unavailable_max{.value = 1};
  IntOrPercent surge_max{};
  bool own_subdomains = false;   // subdomainPolicy UniquePerReplica
  bool says_scheduling = false;  // spec.scheduling, even an empty one

  struct Status {
    std::int64_t observed_generation = 0;
    std::int32_t replicas = 0;
    std::int32_t ready = 0;
    std::int32_t updated = 0;
    std::string selector;  // hpaPodSelector
    std::vector<Condition> conditions;
  };
  Status status;
};

}  // namespace muster::api
