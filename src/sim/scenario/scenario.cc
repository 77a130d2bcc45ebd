#include "sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/scenario/invariants.h"
#include "sim/scenario/observation.h"

namespace muster::sim {
namespace {

constexpr std::string_view kExpectedToFail = "expected to fail:";

Result<Scenario::Step> read_step(const Line& line) {
  Scenario::Step step{.line = line.number, .text = line.text, .act = {}, .expectations = {}};
  step.act = TRY(read_action(line));
  if (takes_expectations(line.words.front()))
    for (const Line& below : line.below) step.expectations.push_back(TRY(read_expectation(below)));
  return step;
}

// Takes the block below a line "configuration" out of the text, as the scheduler configuration that
// it is; blank lines stay, so that line numbers do. What every file begins with may be left out.
std::string take_configuration(std::string& text) {
  std::string block;
  std::string rest;
  bool is_inside = false;
  for (std::string_view left = text; !left.empty();) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    is_inside = line == "configuration" || (is_inside && (line.empty() || line.front() == ' '));
    if (is_inside && line != "configuration") block += fmt::format("{}\n", line);
    rest += is_inside ? "\n" : fmt::format("{}\n", line);
  }
  text = std::move(rest);
  if (block.empty() || block.find("apiVersion:") != std::string::npos) return block;
  // A member of the block's own indentation cannot follow one without: the head is indented too.
  const std::string margin = block.substr(0, block.find_first_not_of(' '));
  return fmt::format(
      "{0}apiVersion: kubescheduler.config.k8s.io/v1\n{0}kind: KubeSchedulerConfiguration\n{1}",
      margin, block);
}

Result<Scenario> read_scenario(std::string_view written) {
  Scenario scenario;
  std::string text(written);
  if (const std::string config = take_configuration(text); !config.empty()) {
    Result<scheduler::SchedulerConfig> read = scheduler::read_scheduler_config(config);
    if (!read) return fail(Reason::Invalid, " the configuration: {}", read.error().message);
    scenario.scheduler = std::move(*read);
  }
  const std::vector<Line> lines = TRY(read_lines(text));
  for (const Line& line : lines) {
    if (line.text.starts_with(kExpectedToFail)) {
      scenario.known_fault = line.text.substr(kExpectedToFail.size());
      scenario.known_fault.erase(0, scenario.known_fault.find_first_not_of(' '));
      if (scenario.known_fault.empty()) return fail_at(line, "say why it is expected to fail");
      continue;
    }
    scenario.steps.push_back(TRY(read_step(line)));
  }
  if (scenario.steps.empty()) return fail(Reason::Invalid, "1: the scenario is empty");
  return scenario;
}

std::string indented(std::string_view text, std::string_view margin) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("{}{}\n", margin, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// One line about every lone pod and every group of pods that was sent.
std::string everybody(const Stage& stage) {
  const Cast& cast = stage.cast();
  std::string text;
  const auto print = [&](const Cast::Subject& subject) {
    text += fmt::format("    {:<20} {}\n", subject.text, describe(stage, subject));
  };
  for (std::size_t id = 0; id < cast.group_count(); ++id)
    if (const Cast::Group& group = cast.group(id); group.is_leaf() && !group.retired)
      print({.text = group.path, .group = id, .pods = cast.members(id)});
  for (std::size_t id = 0; id < cast.pod_count(); ++id)
    if (const Cast::Pod& pod = cast.pod(id); !pod.group && pod.sent && !pod.retired)
      print({.text = pod.path, .group = {}, .pods = {id}});
  return text;
}

// One run of a scenario.
class Play {
 public:
  Play(const Scenario& scenario, ScenarioOptions options)
      : scenario_(scenario),
        options_(std::move(options)),
        stage_(options_.seed, config_of(scenario, options_)) {}

  // What is wrong; empty if nothing. It ends at the first step where something is.
  std::string run() {
    for (const Scenario::Step& step : scenario_.steps)
      if (std::string wrong = play(step); !wrong.empty()) return wrong;
    return {};
  }
  std::string history() const { return stage_.history(); }

 private:
  static scheduler::SchedulerConfig config_of(const Scenario& scenario,
                                              const ScenarioOptions& options) {
    scheduler::SchedulerConfig config = scenario.scheduler;
    if (options.profiles) config.profiles = *options.profiles;
    return config;
  }

  std::string play(const Scenario::Step& step) {
    if (options_.say) options_.say(fmt::format("{}\n", step.text));
    stage_.begin_step();
    if (const Result<void> done = step.act(stage_); !done)
      return complain(step.line, fmt::format("`{}` failed: {}", step.text, done.error().message));
    if (options_.say && !step.expectations.empty())
      options_.say(everybody(stage_) + indented(cluster_map(stage_), "      "));
    std::string wrong;
    for (const std::string& broken : invariants_.broken(stage_))
      wrong += complain(step.line, fmt::format("after `{}`: {}", step.text, broken));
    for (const Expectation& expectation : step.expectations)
      if (const auto instead = expectation.unmet(stage_))
        wrong += complain(expectation.line, fmt::format("expected: {}\n  is the case: {}",
                                                        expectation.text, *instead));
    if (!wrong.empty()) wrong += indented(cluster_map(stage_), "    ");
    return wrong;
  }

  std::string complain(int line, std::string_view what) const {
    return fmt::format("{}:{}: {}\n", scenario_.file, line, what);
  }

  const Scenario& scenario_;
  const ScenarioOptions options_;
  Stage stage_;
  Invariants invariants_;
};

// Where two texts begin to differ, to help find out why.
std::string first_difference(std::string_view a, std::string_view b) {
  const auto parts = std::ranges::mismatch(a, b);
  const auto at = static_cast<std::size_t>(parts.in1 - a.begin());
  const std::size_t start = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  const auto line = [&](std::string_view text) {
    return start >= text.size() ? std::string_view("(ends here)")
                                : text.substr(start, text.find('\n', start) - start);
  };
  return fmt::format("  first run: {}\n  second run: {}\n", line(a), line(b));
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view file, std::string_view text) {
  Result<Scenario> scenario = read_scenario(text);
  if (!scenario) return fail(Reason::Invalid, "{}:{}", file, scenario.error().message);
  scenario->file = file;
  return scenario;
}

std::string run_scenario(const Scenario& scenario, const ScenarioOptions& options) {
  Play first(scenario, options);
  std::string wrong = first.run();
  Play second(scenario, {.seed = options.seed, .say = {}, .profiles = options.profiles});
  second.run();
  if (first.history() != second.history())
    return fmt::format("{}: two runs with seed {} have different histories\n{}{}", scenario.file,
                       options.seed, first_difference(first.history(), second.history()), wrong);
  if (scenario.known_fault.empty()) return wrong;
  if (!wrong.empty()) {
    if (options.say)
      options.say(fmt::format("fails as expected ({}):\n{}", scenario.known_fault, wrong));
    return {};
  }
  return fmt::format("{}: expected to fail ({}), but it passes: take that line away\n",
                     scenario.file, scenario.known_fault);
}

}  // namespace muster::sim
