#include "scheduler/config/args_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/reading.h"
#include "api/schema/schema.h"
#include "api/validation/placement_rules.h"
#include "api/values/go_duration.h"
#include "api/values/names.h"
#include "api/views/pod_view.h"

namespace muster::scheduler {
namespace {

using api::elements;
using api::FieldErrors;
using api::FieldPath;
using api::find_integer;
using api::find_set;
using api::find_string;
using api::Json;
using api::JsonObject;

constexpr std::int64_t kUtilizationMax = 100;
constexpr std::int64_t kShapeScoreMax = 10;

// --- parts that several plugins have ---

std::vector<ShapePoint> read_shape(const Json& owner, const FieldPath& path, FieldErrors& errors) {
  std::vector<ShapePoint> shape;
  for (const Json& point : elements(owner, "shape"))
    shape.push_back({.utilization = find_integer(point, "utilization").value_or(0),
                     .score = find_integer(point, "score").value_or(0)});
  if (shape.empty()) {
    errors.required(path, "at least one point must be specified");
    return shape;
  }
  for (std::size_t i = 1; i < shape.size(); ++i)
    if (shape[i - 1].utilization >= shape[i].utilization) {
      const FieldPath point = path.index(i);
      errors.invalid(point.child("utilization"), shape[i].utilization,
                     "values must be sorted in increasing order");
      break;
    }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const FieldPath point = path.index(i);
    if (shape[i].utilization < 0 || shape[i].utilization > kUtilizationMax)
      errors.invalid(point.child("utilization"), shape[i].utilization,
                     "not in valid range [0, 100]");
    if (shape[i].score < 0 || shape[i].score > kShapeScoreMax)
      errors.invalid(point.child("score"), shape[i].score, "not in valid range [0, 10]");
  }
  return shape;
}

// The resources of a score; a weight that is not given or 0 is 1.
std::vector<ResourceWeight> read_resources(const Json& owner) {
  std::vector<ResourceWeight> resources;
  for (const Json& resource : elements(owner, "resources")) {
    const std::int64_t weight = find_integer(resource, "weight").value_or(0);
    resources.push_back({std::string(find_string(resource, "name")), weight == 0 ? 1 : weight});
  }
  return resources;
}

// --- one reader per plugin ---

void read_strategy(const Json& strategy, const FieldPath& path, NodeResourcesFitArgs& into,
                   FieldErrors& errors) {
  static constexpr std::array<std::string_view, 3> kTypes{"LeastAllocated", "MostAllocated",
                                                          "RequestedToCapacityRatio"};
  const std::string_view type = find_string(strategy, "type");
  const auto known = std::ranges::find(kTypes, type);
  if (known == kTypes.end())
    errors.not_supported(path.child("type"), type, kTypes);
  else
    into.strategy = static_cast<AllocationStrategy>(known - kTypes.begin());
  if (std::vector<ResourceWeight> resources = read_resources(strategy); !resources.empty())
    into.resources = std::move(resources);
  const FieldPath list = path.child("resources");
  for (std::size_t i = 0; i < into.resources.size(); ++i) {
    const ResourceWeight& resource = into.resources[i];
    const FieldPath item = list.index(i);
    if (resource.weight <= 0 || resource.weight > 100)
      errors.invalid(
          item.child("weight"), resource.weight,
          fmt::format("resource weight of {} not in valid range (0, 100]", resource.name));
  }
  const FieldPath ratio_path = path.child("requestedToCapacityRatio");
  const Json* ratio = find_set(strategy, "requestedToCapacityRatio");
  if (type == "RequestedToCapacityRatio") {
    if (ratio == nullptr)
      errors.required(ratio_path, "must be specified when type is RequestedToCapacityRatio");
    else
      into.shape = read_shape(*ratio, ratio_path.child("shape"), errors);
  } else if (ratio != nullptr) {
    errors.forbidden(ratio_path, "must be nil when type is not RequestedToCapacityRatio");
  }
}

void read_fit(const Json& args, const FieldPath& path, PluginArgs& into, ConfigErrors& config) {
  FieldErrors& errors = config.fields();
  const FieldPath ignored = path.child("ignoredResources");
  for (std::size_t i = 0; const Json& name : elements(args, "ignoredResources")) {
    errors.invalid_each(ignored.index(i++), api::text_of(name),
                        api::check_qualified_name(api::text_of(name)));
    into.fit.ignored.names.emplace_back(api::text_of(name));
  }
  const FieldPath groups = path.child("ignoredResourceGroups");
  for (std::size_t i = 0; const Json& name : elements(args, "ignoredResourceGroups")) {
    const std::string_view group = api::text_of(name);
    const FieldPath item = groups.index(i++);
    if (group.find('/') != std::string_view::npos)
      errors.invalid(item, group, "resource group name can't contain '/'");
    errors.invalid_each(item, group, api::check_qualified_name(group));
    into.fit.ignored.groups.emplace_back(group);
  }
  if (const Json* strategy = find_set(args, "scoringStrategy"))
    read_strategy(*strategy, path.child("scoringStrategy"), into.fit, errors);
}

void read_balanced(const Json& args, const FieldPath& path, PluginArgs& into,
                   ConfigErrors& config) {
  FieldErrors& errors = config.fields();
  const std::vector<ResourceWeight> resources = read_resources(args);
  if (resources.empty()) return;
  into.balanced_resources.clear();
  std::set<std::string_view> seen;
  const FieldPath list = path.child("resources");
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const FieldPath item = list.index(i);
    if (!seen.insert(resources[i].name).second)
      errors.duplicate(item.child("name"), resources[i].name);
    if (resources[i].weight != 1)
      errors.invalid(item.child("weight"), resources[i].weight, "must be 1");
    into.balanced_resources.push_back(resources[i].name);
  }
}

// The added affinity is judged and read as the affinity of a pod is, and so means the same.
void read_node_affinity(const Json& args, const FieldPath& path, PluginArgs& into,
                        ConfigErrors& config) {
  const Json* added = find_set(args, "addedAffinity");
  if (added == nullptr) return;
  const JsonObject affinity{{"nodeAffinity", *added}};
  FieldErrors found;
  const FieldPath here("");
  api::validate_affinity(affinity, here, found);
  for (const Cause& cause : found.causes()) {
    const std::string_view inner = std::string_view(cause.field).substr(cause.field.find('.', 1));
    const std::string field = fmt::format("{}.addedAffinity{}", path.text(), inner);
    config.add(field, fmt::format("{}: {}", field, cause.message));
  }
  const auto pod = api::PodView::of(JsonObject{{"spec", JsonObject{{"affinity", affinity}}}});
  into.node_affinity = {.has_required = pod->needs.has_required,
                        .required = pod->needs.required,
                        .preferred = pod->needs.preferred};
}

// What is said of a field that takes few answers; empty if nothing is, or something else.
std::string_view choose(const Json& args, const FieldPath& path, std::string_view field,
                        const std::array<std::string_view, 2>& answers, FieldErrors& errors) {
  const Json* said = find_set(args, field);
  if (said == nullptr) return {};
  const std::string_view answer = api::text_of(*said);
  if (std::ranges::find(answers, answer) != answers.end()) return answer;
  errors.not_supported(path.child(field), answer, answers);
  return {};
}

void read_duration(const Json& args, const FieldPath& path, std::string_view field, Duration& into,
                   FieldErrors& errors) {
  const Json* said = find_set(args, field);
  if (said == nullptr) return;
  const std::optional<Duration> duration = api::parse_go_duration(api::text_of(*said));
  if (!duration)
    return errors.invalid(path.child(field), api::text_of(*said),
                          "must be a length of time such as 10m");
  into = *duration;
}

void read_preemption(const Json& args, const FieldPath& path, PluginArgs& into,
                     ConfigErrors& config) {
  FieldErrors& errors = config.fields();
  PreemptionArgs& preemption = into.preemption;
  const FieldPath percentage = path.child("minCandidateNodesPercentage");
  const FieldPath absolute = path.child("minCandidateNodesAbsolute");
  const std::int64_t share =
      find_integer(args, "minCandidateNodesPercentage").value_or(preemption.candidates_percentage);
  const std::int64_t least =
      find_integer(args, "minCandidateNodesAbsolute").value_or(preemption.candidates_min);
  if (share < 0 || share > 100) errors.invalid(percentage, share, "not in valid range [0, 100]");
  if (least < 0) errors.invalid(absolute, least, "not in valid range [0, inf)");
  if (share == 0 && least == 0) {
    errors.invalid(percentage, share,
                   "cannot be zero at the same time as minCandidateNodesAbsolute");
    errors.invalid(absolute, least,
                   "cannot be zero at the same time as minCandidateNodesPercentage");
  }
  preemption.candidates_percentage = static_cast<std::int32_t>(share);
  preemption.candidates_min = static_cast<std::int32_t>(least);
  preemption.violates_budgets =
      choose(args, path, "pdbViolations", {"Allow", "Never"}, errors) != "Never";
  if (choose(args, path, "mode", {"Search", "Upstream"}, errors) == "Upstream")
    preemption.mode = PreemptionArgs::Mode::Upstream;
  read_duration(args, path, "victimPatience", preemption.victim_patience, errors);
  read_duration(args, path, "reserveAfter", preemption.reserve_after, errors);
  if (const auto steps = find_integer(args, "stepsMax")) {
    if (*steps < 1) errors.invalid(path.child("stepsMax"), *steps, "must be at least 1");
    preemption.steps_max = static_cast<std::uint64_t>(std::max<std::int64_t>(1, *steps));
  }
  const std::int64_t reserved =
      find_integer(args, "reserveNodesPercentage").value_or(preemption.reserve_nodes_percentage);
  if (reserved < 0 || reserved > 100)
    errors.invalid(path.child("reserveNodesPercentage"), reserved, "not in valid range [0, 100]");
  preemption.reserve_nodes_percentage = static_cast<std::int32_t>(reserved);
}

void read_pod_affinity(const Json& args, const FieldPath& path, PluginArgs& into,
                       ConfigErrors& config) {
  InterPodAffinityArgs& affinity = into.pod_affinity;
  const std::int64_t weight =
      find_integer(args, "hardPodAffinityWeight").value_or(affinity.hard_pod_affinity_weight);
  if (weight < 0 || weight > 100)
    config.fields().invalid(path.child("hardPodAffinityWeight"), weight,
                            "not in valid range [0, 100]");
  affinity.hard_pod_affinity_weight = static_cast<std::int32_t>(weight);
  affinity.ignore_preferred_terms_of_existing_pods =
      api::find_true(args, "ignorePreferredTermsOfExistingPods");
}

void read_default_spread(const Json& written, const FieldPath& path, PodTopologySpreadArgs& into,
                         std::set<std::pair<std::string, bool>>& seen, FieldErrors& errors) {
  PodTopologySpreadArgs::Constraint constraint;
  constraint.topology_key = find_string(written, "topologyKey");
  if (constraint.topology_key.empty())
    errors.required(path.child("topologyKey"), "can not be empty");
  else
    errors.invalid_each(path.child("topologyKey"), constraint.topology_key,
                        api::check_qualified_name(constraint.topology_key));
  const std::int64_t skew = find_integer(written, "maxSkew").value_or(0);
  if (skew <= 0) errors.invalid(path.child("maxSkew"), skew, "must be greater than zero");
  constraint.max_skew = static_cast<std::int32_t>(skew);
  constraint.is_hard = choose(written, path, "whenUnsatisfiable",
                              {"DoNotSchedule", "ScheduleAnyway"}, errors) == "DoNotSchedule";
  if (find_set(written, "whenUnsatisfiable") == nullptr)
    errors.required(path.child("whenUnsatisfiable"), "");
  if (find_set(written, "labelSelector") != nullptr)
    errors.forbidden(path.child("labelSelector"),
                     "constraint must not define a selector, as they are deduced for each pod");
  if (!seen.emplace(constraint.topology_key, constraint.is_hard).second)
    errors.duplicate(path, fmt::format("{{{}, {}}}", constraint.topology_key,
                                       constraint.is_hard ? "DoNotSchedule" : "ScheduleAnyway"));
  into.default_constraints.push_back(std::move(constraint));
}

void read_spread(const Json& args, const FieldPath& path, PluginArgs& into, ConfigErrors& config) {
  FieldErrors& errors = config.fields();
  into.spread.is_system_defaulting =
      choose(args, path, "defaultingType", {"System", "List"}, errors) != "List";
  const auto constraints = api::elements(args, "defaultConstraints");
  if (into.spread.is_system_defaulting && !constraints.empty())
    errors.invalid(path.child("defaultingType"), "System",
                   "when .defaultConstraints are not empty");
  const FieldPath list = path.child("defaultConstraints");
  std::set<std::pair<std::string, bool>> seen;  // topology key, and whether it is hard
  std::size_t index = 0;
  for (const Json& written : constraints) {
    const FieldPath at = list.index(index++);
    read_default_spread(written, at, into.spread, seen, errors);
  }
}

void read_volume_binding(const Json& args, const FieldPath& path, PluginArgs& into,
                         ConfigErrors& config) {
  FieldErrors& errors = config.fields();
  constexpr std::int64_t kSecondsMax = 1'000'000'000;
  const FieldPath timeout = path.child("bindTimeoutSeconds");
  if (const auto seconds = find_integer(args, "bindTimeoutSeconds")) {
    if (*seconds < 0)
      errors.invalid(timeout, *seconds,
                     "invalid BindTimeoutSeconds, should not be a negative value");
    into.volume_binding.bind_timeout =
        std::chrono::seconds{std::clamp<std::int64_t>(*seconds, 0, kSecondsMax)};
  }
  if (find_set(args, "shape") == nullptr) return;
  into.volume_binding.shape.clear();
  const FieldPath shape = path.child("shape");
  for (const ShapePoint& point : read_shape(args, shape, errors))
    into.volume_binding.shape.push_back(
        {.utilization = point.utilization, .score = point.score * 100 / kShapeScoreMax});
}

void read_node_sets(const Json& args, const FieldPath& path, PluginArgs& into,
                    ConfigErrors& config) {
  FieldErrors& errors = config.fields();
  const FieldPath list = path.child("placements");
  std::set<std::string_view> names;
  for (std::size_t index = 0; const Json& written : api::elements(args, "placements")) {
    const FieldPath at = list.index(index++);
    const std::string_view name = find_string(written, "name");
    errors.invalid_each(at.child("name"), name, api::check_dns_label(name));
    if (!names.insert(name).second) errors.duplicate(at.child("name"), name);
    const std::string_view text = find_string(written, "selector");
    Result<api::LabelSelector> selector = api::LabelSelector::parse(text);
    if (text.empty())
      errors.required(at.child("selector"), "the labels of the nodes, as in kubectl get nodes -l");
    else if (!selector)
      errors.invalid(at.child("selector"), text, selector.error().message);
    else
      into.node_sets.sets.push_back({std::string(name), std::move(*selector)});
  }
}

// Devices are not allocated, so there is nothing that its timeouts could end. They are only judged.
void read_dynamic_resources(const Json& args, const FieldPath& path, PluginArgs&,
                            ConfigErrors& config) {
  Duration unused{};
  for (const std::string_view field : {"filterTimeout", "bindingTimeout"})
    read_duration(args, path, field, unused, config.fields());
}

struct ArgsRule {
  std::string_view plugin;
  void (*read)(const Json& args, const FieldPath& path, PluginArgs& into, ConfigErrors& config);
};
// The message of each is the name of the plugin and "Args".
constexpr std::array kRules{
    ArgsRule{"DefaultPreemption", read_preemption},
    ArgsRule{"DynamicResources", read_dynamic_resources},
    ArgsRule{"InterPodAffinity", read_pod_affinity},
    ArgsRule{"NodeAffinity", read_node_affinity},
    ArgsRule{"NodeResourcesBalancedAllocation", read_balanced},
    ArgsRule{"NodeResourcesFit", read_fit},
    ArgsRule{"NodeSetPlacements", read_node_sets},
    ArgsRule{"PodTopologySpread", read_spread},
    ArgsRule{"VolumeBinding", read_volume_binding},
};

}  // namespace

void read_plugin_args(std::string_view plugin, const Json& args, const FieldPath& path,
                      PluginArgs& into, ConfigErrors& errors) {
  const auto rule = std::ranges::find(kRules, plugin, &ArgsRule::plugin);
  if (rule == kRules.end())
    return errors.fields().forbidden(path, fmt::format("plugin {} takes no arguments", plugin));
  const std::string kind = fmt::format("{}Args", plugin);
  const std::string_view said = find_string(args, "kind");
  if (!args.is_object() || (!said.empty() && said != kind))
    return errors.fields().invalid(path, args, "has to match plugin args");
  std::string wrong_at;
  const Result<api::Decoded> decoded =
      api::decode(api::schema::message("kubescheduler/v1", kind), {args, {}}, wrong_at);
  if (!decoded)
    return errors.add(wrong_at.empty() ? path.text() : fmt::format("{}.{}", path.text(), wrong_at),
                      fmt::format("{}: {}", path.text(), decoded.error().message));
  for (const std::string& unknown : decoded->unknown) {
    // `unknown field "a.b"`: the path continues ours.
    const std::size_t quote = unknown.find('"');
    const std::string member =
        fmt::format("{}.{}", path.text(), unknown.substr(quote + 1, unknown.size() - quote - 2));
    errors.add(member,
               fmt::format("strict decoding error: {}\"{}\"", unknown.substr(0, quote), member));
  }
  rule->read(decoded->document, path, into, errors);
}

}  // namespace muster::scheduler
