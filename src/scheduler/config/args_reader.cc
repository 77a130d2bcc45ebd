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
  static constexpr std::array<std::string_view, 2> kAnswers{"Allow", "Never"};
  const Json* budgets = find_set(args, "pdbViolations");
  if (budgets == nullptr) return;
  const std::string_view answer = api::text_of(*budgets);
  if (std::ranges::find(kAnswers, answer) == kAnswers.end())
    errors.not_supported(path.child("pdbViolations"), answer, kAnswers);
  preemption.violates_budgets = answer != "Never";
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

// Default constraints are refused, not ignored: which pods belong to a service is not known here.
void read_spread(const Json& args, const FieldPath& path, PluginArgs& into, ConfigErrors& config) {
  into.spread.is_system_defaulting = find_string(args, "defaultingType") != "List";
  if (!api::elements(args, "defaultConstraints").empty())
    config.fields().forbidden(path.child("defaultConstraints"), "not supported yet");
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

// Devices are not allocated, so there is nothing that its timeouts could end.
void read_dynamic_resources(const Json&, const FieldPath&, PluginArgs&, ConfigErrors&) {}

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
  const Result<api::Decoded> decoded =
      api::decode(api::schema::message("kubescheduler/v1", kind), {args, {}});
  if (!decoded) return errors.add(path.text(), decoded.error().message);
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
