#include "app/scheduler_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "app/read_text_file.h"

namespace muster::app {

void add_scheduler_flags(CLI::App& verb, SchedulerFlags& flags) {
  verb.add_option("--scheduler-config", flags.config_file,
                  "How to schedule: a KubeSchedulerConfiguration file (docs/scheduler-config.md)")
      ->type_name("FILE");
  verb.add_option("--pack", flags.pack,
                  "Fill nodes that already use this resource first, e.g. nvidia.com/gpu")
      ->type_name("RESOURCE");
}

Result<SchedulerSettings> scheduler_settings(std::string text) {
  scheduler::SchedulerConfig config = TRY(scheduler::read_scheduler_config(text));
  return SchedulerSettings{std::move(text), std::move(config)};
}

Result<SchedulerSettings> scheduler_settings(const SchedulerFlags& flags) {
  if (!flags.pack.empty() && !flags.config_file.empty())
    return fail(Reason::Invalid,
                "--pack {} is a scheduler configuration of its own and cannot be used together "
                "with --scheduler-config; docs/scheduler-config.md shows the lines to add to {}",
                flags.pack, flags.config_file);
  if (!flags.pack.empty()) {
    Result<std::string> text = scheduler::packing_config(flags.pack);
    if (!text) return fail(Reason::Invalid, "--pack: {}", text.error().message);
    return scheduler_settings(std::move(*text));
  }
  if (flags.config_file.empty()) return SchedulerSettings{};
  std::string text = TRY(read_text_file(flags.config_file, "the scheduler configuration"));
  Result<SchedulerSettings> settings = scheduler_settings(std::move(text));
  if (!settings)
    return fail(Reason::Invalid, "--scheduler-config {}: {}", flags.config_file,
                settings.error().message);
  return settings;
}

Result<api::Gates> parse_gates(const std::vector<std::string>& flags) {
  Result<api::Gates> gates = api::Gates::parse(fmt::format("{}", fmt::join(flags, ",")));
  if (!gates)
    return fail(Reason::Invalid, "--feature-gates: {} (docs/feature-gates.md lists the gates)",
                gates.error().message);
  return gates;
}

std::string gates_text(const api::Gates& gates) {
  std::vector<std::string> changed;
  for (const api::GateFacts& facts : api::all_gates())
    if (gates.on(facts.gate) != facts.on_by_default)
      changed.push_back(fmt::format("{}={}", facts.name, gates.on(facts.gate)));
  return fmt::format("{}", fmt::join(changed, ","));
}

}  // namespace muster::app
