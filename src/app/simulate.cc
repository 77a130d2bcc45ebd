#include "app/simulate.h"

#include <fmt/format.h>

#include "app/read_text_file.h"
#include "base/log.h"
#include "sim/scenario/scenario.h"

namespace muster::app {

Result<void> simulate(const std::string& path) {
  const std::string text = TRY(read_text_file(path, "the scenario"));
  const sim::Scenario scenario = TRY(sim::parse_scenario(path, text));
  set_log_level(LogLevel::Error);
  const std::string wrong = sim::run_scenario(
      scenario, {.seed = 1, .say = [](std::string_view line) { fmt::print("{}", line); }});
  if (!wrong.empty()) return fail(Reason::Invalid, "the scenario fails:\n{}", wrong);
  return {};
}

}  // namespace muster::app
