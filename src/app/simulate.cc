#include "app/simulate.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "sim/scenario/scenario.h"

namespace muster::app {

Result<void> simulate(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf()))
    return fail(Reason::NotFound, "cannot read the scenario {}: {}", path, std::strerror(errno));
  const sim::Scenario scenario = TRY(sim::parse_scenario(path, text.str()));
  set_log_level(LogLevel::Error);
  const std::string wrong = sim::run_scenario(
      scenario, {.seed = 1, .say = [](std::string_view line) { fmt::print("{}", line); }});
  if (!wrong.empty()) return fail(Reason::Invalid, "the scenario fails:\n{}", wrong);
  return {};
}

}  // namespace muster::app
