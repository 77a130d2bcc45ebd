#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "api/gates/gates.h"
#include "base/result.h"
#include "scheduler/config/scheduler_config.h"

namespace muster::app {

// The flags that say how the scheduler decides, as given.
struct SchedulerFlags {
  std::string config_file;  // --scheduler-config
  std::string pack;         // --pack
};
void add_scheduler_flags(CLI::App& verb, SchedulerFlags& flags);

// How a scheduler decides, and the text it was read from; empty: the defaults.
struct SchedulerSettings {
  std::string text;
  scheduler::SchedulerConfig config;
};
Result<SchedulerSettings> scheduler_settings(const SchedulerFlags& flags);
Result<SchedulerSettings> scheduler_settings(std::string text);

// Several --feature-gates flags together.
Result<api::Gates> parse_gates(const std::vector<std::string>& flags);
// The flag's text for these gates; empty for the defaults.
std::string gates_text(const api::Gates& gates);

// Where `muster up` publishes its settings, for explanations and for the curious.
inline constexpr std::string_view kSettingsNamespace = "kube-public";
inline constexpr std::string_view kSettingsName = "muster-scheduler";
inline constexpr std::string_view kSettingsConfig = "config.yaml";
inline constexpr std::string_view kSettingsGates = "feature-gates";

}  // namespace muster::app
