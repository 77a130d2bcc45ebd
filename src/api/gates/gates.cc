#include "api/gates/gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace muster::api {
namespace {

// The workload gates are on, unlike upstream's: workloads are what Muster is for. DRA for groups
// stays off until it works.
const std::vector<GateFacts>& table() {
  static const std::vector<GateFacts> kTable = {
      {.gate = Gate::GenericWorkload, .name = "GenericWorkload", .on_by_default = true},
      {.gate = Gate::TopologyAwareWorkloadScheduling,
       .name = "TopologyAwareWorkloadScheduling",
       .on_by_default = true,
       .needs = {Gate::GenericWorkload}},
      {.gate = Gate::CompositePodGroup,
       .name = "CompositePodGroup",
       .on_by_default = true,
       .needs = {Gate::GenericWorkload, Gate::TopologyAwareWorkloadScheduling}},
      {.gate = Gate::PodGroupPreemptionPolicy,
       .name = "PodGroupPreemptionPolicy",
       .on_by_default = true,
       .needs = {Gate::GenericWorkload}},
      {.gate = Gate::DRAWorkloadResourceClaims,
       .name = "DRAWorkloadResourceClaims",
       .needs = {Gate::DynamicResourceAllocation, Gate::GenericWorkload}},
      {.gate = Gate::WorkloadWithJob,
       .name = "WorkloadWithJob",
       .on_by_default = true,
       .needs = {Gate::GenericWorkload}},
      {.gate = Gate::MutableMinGroupCount, .name = "MutableMinGroupCount", .on_by_default = true},
      {.gate = Gate::EvictionRequestAPI, .name = "EvictionRequestAPI"},
      {.gate = Gate::NominatedNodeNameForExpectation,
       .name = "NominatedNodeNameForExpectation",
       .on_by_default = true},
      {.gate = Gate::ClearingNominatedNodeNameAfterBinding,
       .name = "ClearingNominatedNodeNameAfterBinding",
       .on_by_default = true},
      {.gate = Gate::SchedulerAsyncPreemption,
       .name = "SchedulerAsyncPreemption",
       .on_by_default = true},
      {.gate = Gate::SchedulerAsyncAPICalls, .name = "SchedulerAsyncAPICalls"},
      {.gate = Gate::OpportunisticBatching, .name = "OpportunisticBatching", .on_by_default = true},
      {.gate = Gate::DynamicResourceAllocation,
       .name = "DynamicResourceAllocation",
       .on_by_default = true,
       .locked = true},
      {.gate = Gate::DeclarativeValidation,
       .name = "DeclarativeValidation",
       .on_by_default = true,
       .locked = true},
      {.gate = Gate::DeclarativeValidationBeta,
       .name = "DeclarativeValidationBeta",
       .on_by_default = true}};
  return kTable;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// What Go's flags take for a boolean.
std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"true", "True", "TRUE", "t", "T", "1"})
    if (text == yes) return true;
  for (const std::string_view no : {"false", "False", "FALSE", "f", "F", "0"})
    if (text == no) return false;
  return std::nullopt;
}

}  // namespace

std::span<const GateFacts> all_gates() { return table(); }

std::string_view gate_name(Gate gate) { return table()[static_cast<std::size_t>(gate)].name; }

Gates::Gates() {
  for (const GateFacts& facts : table())
    on_[static_cast<std::size_t>(facts.gate)] = facts.on_by_default;
}

Gates Gates::changed(Gate gate, bool on) const {
  Gates copy = *this;
  copy.on_[static_cast<std::size_t>(gate)] = on;
  return copy;
}

Result<Gates> Gates::parse(std::string_view flag) {
  Gates gates;
  while (!flag.empty()) {
    const std::size_t comma = flag.find(',');
    const std::string_view assignment = trimmed(flag.substr(0, comma));
    flag = comma == std::string_view::npos ? "" : flag.substr(comma + 1);
    if (!assignment.empty()) TRY(gates.assign(assignment));
  }
  TRY(gates.check_dependencies());
  return gates;
}

Result<void> Gates::assign(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = trimmed(assignment.substr(0, equals));
  const auto facts = std::ranges::find(table(), name, &GateFacts::name);
  if (facts == table().end())
    return fail(Reason::BadRequest, "unrecognized feature gate: {}", name);
  if (equals == std::string_view::npos)
    return fail(Reason::BadRequest, "missing bool value for feature gate {}: write {}=true", name,
                name);
  const std::string_view value = trimmed(assignment.substr(equals + 1));
  const std::optional<bool> wanted = parse_bool(value);
  if (!wanted)
    return fail(Reason::BadRequest, "invalid value of feature gate {}={}: want true or false", name,
                value);
  if (facts->locked && *wanted != facts->on_by_default)
    return fail(Reason::BadRequest, "cannot set feature gate {} to {}, feature is locked to {}",
                name, *wanted, facts->on_by_default);
  on_[static_cast<std::size_t>(facts->gate)] = *wanted;
  return {};
}

Result<void> Gates::check_dependencies() const {
  std::vector<std::string> sentences;
  std::vector<std::string> off;
  std::set<std::string> on_instead;
  for (const GateFacts& facts : table()) {
    if (!on(facts.gate)) continue;
    std::vector<std::string_view> missing;
    for (const Gate needed : facts.needs)
      if (!on(needed)) missing.push_back(gate_name(needed));
    if (missing.empty()) continue;
    sentences.push_back(
        fmt::format("{} is enabled, but depends on features that are disabled: [{}]", facts.name,
                    fmt::join(missing, " ")));
    off.push_back(fmt::format("{}=false", facts.name));
    for (const std::string_view name : missing) on_instead.insert(fmt::format("{}=true", name));
  }
  if (sentences.empty()) return {};
  const std::string upstream =
      sentences.size() == 1 ? sentences.front() : fmt::format("[{}]", fmt::join(sentences, ", "));
  return fail(Reason::BadRequest, "{}; say {} as well, or {}", upstream, fmt::join(off, ","),
              fmt::join(on_instead, ","));
}

}  // namespace muster::api
