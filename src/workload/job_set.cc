#include "workload/job_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "api/reading.h"
#include "api/validation/job_set_scheduling.h"
#include "api/values/well_known.h"
#include "workload/names.h"
#include "workload/stamper.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::size_t kLabelMax = 63;

std::string metadata_text(const Json& document, std::string_view member) {
  return std::string(api::find_string(api::part_of(document, "metadata"), member));
}

Owner set_owner(const Json& set) {
  return {.api_version = "jobset.x-k8s.io/v1alpha2",
          .kind = "JobSet",
          .name = metadata_text(set, "name"),
          .uid = metadata_text(set, "uid")};
}

api::StringPairs annotations_of(const Json& set) {
  api::StringPairs out;
  for (const auto& annotation : api::members(api::part_of(set, "metadata"), "annotations"))
    out.emplace_back(api::key_of(annotation), api::text_of(annotation.value()));
  std::ranges::sort(out);
  return out;
}

// "workers-3" is what the fourth Job of "workers" is called.
std::string_view without_index(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size() || name[end] != '-') return {};
  return name.substr(0, end);
}

Policy policy_by(bool gang) { return gang ? Policy(Gang{}) : Policy(Basic{}); }

// What of an item and those below it cannot change in a Workload.
void describe(const Item& item, std::string& out) {
  const Config config = resolve(item);
  out += item.name;
  if (!config.is_gang())
    out += "/basic";
  else if (item.children.empty())
    out += "/gang";
  else
    out += fmt::format("/gang {}", config.gang()->minimum.value_or(0));
  for (const std::string& key : config.topology_keys) out += " in " + key;
  if (config.disruption) out += *config.disruption == Disruption::All ? " all" : " single";
  for (const Claim& claim : config.claims)
    out += fmt::format(" claim {} {} {}", claim.name, static_cast<int>(claim.source),
                       claim.source_name);
  out += " " + config.priority_class + "(";
  for (const Item& child : item.children) describe(child, out);
  out += ")";
}

constexpr std::string_view kLeaves = "podGroupTemplates";
constexpr std::string_view kComposites = "compositePodGroupTemplates";
using Minimums = std::map<std::string, std::int64_t, std::less<>>;  // by name of template

void read_minimums(const Json& holder, Minimums& out) {
  for (const Json& item : api::elements(holder, kLeaves)) {
    const Json& gang = api::part_of(api::part_of(item, "schedulingPolicy"), "gang");
    if (const auto minimum = api::find_integer(gang, "minCount"))
      out.emplace(api::find_string(item, "name"), *minimum);
  }
  for (const Json& item : api::elements(holder, kComposites)) read_minimums(item, out);
}

void write_minimums(const Minimums& minimums, JsonObject& holder) {
  if (Json* leaves = holder.if_contains(kLeaves); leaves != nullptr && leaves->is_array())
    for (Json& item : leaves->get_array()) {
      const auto minimum = minimums.find(api::find_string(item, "name"));
      if (minimum == minimums.end() || !item.is_object()) continue;
      JsonObject& policy = api::ensure_object(item.get_object(), "schedulingPolicy");
      api::ensure_object(policy, "gang")["minCount"] = minimum->second;
    }
  if (Json* composites = holder.if_contains(kComposites);
      composites != nullptr && composites->is_array())
    for (Json& item : composites->get_array())
      if (item.is_object()) write_minimums(minimums, item.get_object());
}

}  // namespace

JobSetMapping::JobSetMapping(const Json& set, const JobOptions& options)
    : set_(set),
      options_(options),
      form_(api::read_job_set_form(set)),
      delegated_(api::delegates_groups(set)) {
  add_templates();
  find_templates_of_jobs();
}

void JobSetMapping::find_templates_of_jobs() {
  template_of_job_.assign(form_.jobs.size(), kNone);
  const auto give = [&](std::size_t job, std::size_t at) {
    if (template_of_job_[job] == kNone && form_.jobs[job].runs()) template_of_job_[job] = at;
  };
  for (std::size_t at = 0; at < templates_.size(); ++at) {
    if (templates_[at].composite) continue;
    if (templates_[at].job != kNone)
      give(templates_[at].job, at);
    else
      for (const std::size_t job : form_.parts[templates_[at].part].jobs) give(job, at);
  }
}

void JobSetMapping::add_templates() {
  const bool runs =
      std::ranges::any_of(form_.parts, [&](const Form::Part& part) { return form_.runs(part); });
  if (!runs) return;
  std::size_t root = kNone;
  if (form_.root) {
    root = 0;
    templates_.push_back({.name = unique_name("root", true), .composite = true});
  }
  for (std::size_t at = 0; at < form_.parts.size(); ++at)
    if (form_.runs(form_.parts[at])) add_part(at, root);
}

void JobSetMapping::add_part(std::size_t at, std::size_t parent) {
  const Form::Part& part = form_.parts[at];
  if (!part.per_job || part.composite) {
    templates_.push_back({.name = unique_name(name_of(part), !part.per_job),
                          .parent = parent,
                          .part = at,
                          .composite = part.composite});
    if (!part.composite) return;
    parent = templates_.size() - 1;
  }
  for (const std::size_t job : part.jobs) {
    if (!form_.jobs[job].runs()) continue;
    const std::string_view name = form_.jobs[job].name;
    templates_.push_back(
        {.name =
             unique_name(part.composite ? fmt::format("{}-job", name) : std::string(name), false),
         .parent = parent,
         .part = at,
         .job = job});
  }
}

// `shared`: its one group is called by the name alone, which no Job's group may be.
std::string JobSetMapping::unique_name(std::string wanted, bool shared) {
  const auto taken = [&](std::string_view name) {
    return std::ranges::any_of(templates_,
                               [&](const Template& other) { return other.name == name; });
  };
  const std::string_view base = shared ? without_index(wanted) : std::string_view();
  const bool like_a_job =
      !base.empty() &&
      std::ranges::any_of(form_.jobs, [&](const Form::Job& job) { return job.name == base; });
  if (!taken(wanted) && !like_a_job && wanted.size() <= kLabelMax) return wanted;
  const std::string hash = short_hash(wanted);
  return fmt::format("{}-{}", wanted.substr(0, kLabelMax - hash.size() - 1), hash);
}

std::string JobSetMapping::name_of(const Form::Part& part) const {
  if (part.whole == form_.level1 && part.whole != nullptr) return "jobset";
  std::vector<std::string_view> names;
  for (const std::size_t job : part.jobs) names.push_back(form_.jobs[job].name);
  return fmt::format("{}", fmt::join(names, "-"));
}

Config JobSetMapping::root_config() const {
  Config config;
  using Source = Form::Source;
  const bool asked =
      form_.level1 != nullptr && (form_.source != Source::Entries || api::says_group(form_.level1));
  config.policy = policy_by(asked && !form_.in_turn);
  if (form_.level1 == nullptr) return config;
  Config said = map_composite_group_config(composite_group_blocks(*form_.level1));
  // Where replicatedJobs start in turn, the policy is that of each.
  if (form_.in_turn && form_.source == Source::Level1) said.policy.reset();
  return merge(config, said);
}

Config JobSetMapping::part_config(const Form::Part& part) const {
  Config config;
  bool gang = part.gang;
  if (part.composite && form_.source == Form::Source::Templates)
    gang = job_config(part, form_.jobs[part.jobs.front()]).is_gang();
  config.policy = policy_by(gang);
  if (part.whole == nullptr) return config;
  return merge(config, part.composite
                           ? map_composite_group_config(composite_group_blocks(*part.whole))
                           : map_pod_group_config(pod_group_blocks(*part.whole)));
}

Config JobSetMapping::job_config(const Form::Part& part, const Form::Job& job) const {
  Config config;
  config.policy = policy_by(part.gang);
  if (!job.exclusive.empty()) config.topology_keys = {std::string(job.exclusive)};
  if (part.each == nullptr) return config;
  return merge(config, map_pod_group_config(pod_group_blocks(*part.each)));
}

Item JobSetMapping::item(std::size_t at) const {
  const Template& from = templates_[at];
  Item out{.name = from.name};
  if (from.part == kNone) {
    out.defaults = root_config();
    out.path = "spec.scheduling";
    out.callbacks.push_back(default_minimum(form_.count_children()));
  } else {
    const Form::Part& part = form_.parts[from.part];
    const bool of_job = from.job != kNone;
    out.defaults = of_job ? job_config(part, form_.jobs[from.job]) : part_config(part);
    out.path = of_job ? part.each_path : part.whole_path;
    out.callbacks.push_back(default_minimum(of_job           ? form_.jobs[from.job].pods
                                            : from.composite ? form_.count_jobs(part)
                                                             : form_.count_pods(part)));
  }
  for (const Form::Part& part : form_.parts)
    if (!part.jobs.empty() && out.defaults.priority_class.empty())
      out.defaults.priority_class = form_.jobs[part.jobs.front()].priority_class;
  for (std::size_t below = at + 1; below < templates_.size(); ++below)
    if (templates_[below].parent == at) out.children.push_back(item(below));
  return out;
}

std::string JobSetMapping::workload_name() const {
  return workload::workload_name(metadata_text(set_, "name"), metadata_text(set_, "uid"));
}

Result<Json> JobSetMapping::workload() const {
  api::FieldErrors errors;
  api::validate_job_set_scheduling(set_, nullptr, options_.gates, errors);
  if (!errors.empty()) {
    Error error = make_error(Reason::Invalid, "{}", errors.text());
    error.causes = errors.causes();
    return fail(std::move(error));
  }
  Json document =
      TRY(build(roots(), {.name = workload_name(),
                          .name_space = metadata_text(set_, "namespace"),
                          .owner = set_owner(set_),
                          .allowed = {.policies = {PolicyKind::Basic, PolicyKind::Gang},
                                      .disruption_modes = {Disruption::Single, Disruption::All}},
                          .annotations = annotations_of(set_),
                          .gates = options_.gates}));
  api::ensure_object(api::ensure_object(document.as_object(), "metadata"),
                     "annotations")[kShapeAnnotation] = shape();
  return document;
}

std::vector<Item> JobSetMapping::roots() const {
  std::vector<Item> out;
  for (std::size_t at = 0; at < templates_.size(); ++at)
    if (templates_[at].parent == kNone) out.push_back(item(at));
  return out;
}

std::string JobSetMapping::shape() const {
  std::string text = delegated_ ? "delegated " : "";
  for (const Item& root : roots()) describe(root, text);
  return short_hash(text);
}

std::string JobSetMapping::group_name(const Template& from, std::int32_t index,
                                      std::int32_t attempt) const {
  std::string name = workload_name();
  // No replicatedJob has a dot in its name.
  if (attempt > 0) name += fmt::format(".{}", attempt);
  if (from.job == kNone) return fmt::format("{}-{}", name, from.name);
  return fmt::format("{}-{}-{}", name, form_.jobs[from.job].name, index);
}

bool JobSetMapping::makes(const Template& from) const { return from.composite || !delegated_; }

void JobSetMapping::visit_groups(std::int32_t attempt,
                                 const std::function<Next(Group group)>& visit) const {
  for (const Template& from : templates_) {
    if (!makes(from)) continue;
    const std::int64_t count = from.job == kNone ? 1 : form_.jobs[from.job].replicas;
    const std::int64_t pods = from.composite      ? 0
                              : from.job == kNone ? form_.count_pods(form_.parts[from.part])
                                                  : form_.jobs[from.job].pods;
    const std::string parent =
        from.parent == kNone ? std::string() : group_name(templates_[from.parent], 0, attempt);
    for (std::int32_t index = 0; index < count; ++index) {
      const Next next = visit(
          {.kind = from.composite ? &api::kinds::composite_pod_group() : &api::kinds::pod_group(),
           .name = group_name(from, index, attempt),
           .template_name = from.name,
           .parent = parent,
           .pods = pods,
           .composite = from.composite});
      if (next == Next::End) return;
      if (next == Next::Template) break;
    }
  }
}

std::vector<JobSetMapping::Group> JobSetMapping::groups(std::int32_t attempt) const {
  std::vector<Group> out;
  visit_groups(attempt, [&](Group group) {
    out.push_back(std::move(group));
    return Next::Group;
  });
  return out;
}

JobSetMapping::GroupNames JobSetMapping::group_names(std::int32_t attempt) const {
  GroupNames out;
  for (const Template& from : templates_) {
    if (!makes(from)) continue;
    std::string name = group_name(from, 0, attempt);
    if (from.job == kNone) {
      out.shared_.emplace(from.composite, std::move(name));
      continue;
    }
    name.erase(name.rfind('-'));
    out.of_jobs_.emplace(std::pair(from.composite, std::move(name)), form_.jobs[from.job].replicas);
  }
  return out;
}

bool JobSetMapping::GroupNames::contains(std::string_view name, bool composite) const {
  if (shared_.contains({composite, std::string(name)})) return true;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return false;
  const auto of_job = of_jobs_.find({composite, std::string(name.substr(0, dash))});
  if (of_job == of_jobs_.end()) return false;
  const std::string_view digits = name.substr(dash + 1);
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  return error == std::errc() && end == digits.data() + digits.size() && index >= 0 &&
         index < of_job->second && std::to_string(index) == digits;  // no leading zeros
}

JobSetMapping::GroupMaker::GroupMaker(const JobSetMapping& mapping, const Json& workload)
    : stamper_(workload), owners_{set_owner(mapping.set_), workload_owner(workload)} {}

std::optional<Error> JobSetMapping::GroupMaker::fault(const Group& group) const {
  const Stamper::Template* found = stamper_.find(group.template_name);
  if (found != nullptr && found->composite == group.composite) return std::nullopt;
  Result<Json> made = make(group);
  return made ? std::nullopt : std::optional(std::move(made.error()));
}

Result<Json> JobSetMapping::GroupMaker::make(const Group& group) const {
  const Stamper::Group stamp{.name = group.name,
                             .template_name = group.template_name,
                             .parent = group.parent,
                             .owners = owners_};
  Json document = TRY(group.composite ? stamper_.composite(stamp) : stamper_.pod_group(stamp));
  // Pods that must be together, yet may start before all of them fit, start where there is room
  // for all.
  const Json& spec = api::part_of(document, "spec");
  const Json& gang = api::part_of(api::part_of(spec, "schedulingPolicy"), "gang");
  if (!group.composite && api::find_set(spec, "schedulingConstraints") != nullptr &&
      api::find_integer(gang, "minCount").value_or(1) < group.pods)
    api::ensure_object(api::ensure_object(document.as_object(), "metadata"),
                       "annotations")[api::kExpectedPodsAnnotation] = std::to_string(group.pods);
  return document;
}

JobSetMapping::Link JobSetMapping::link(std::size_t replicated_job, std::int32_t index,
                                        std::int32_t attempt) const {
  const std::size_t at = template_of_job_.at(replicated_job);
  if (at == kNone) return {};
  const Template& from = templates_[at];
  if (!delegated_) return {.pod_group = group_name(from, index, attempt)};
  return {.template_name = from.name,
          .parent = from.parent == kNone ? std::string()
                                         : group_name(templates_[from.parent], 0, attempt)};
}

Json resized_templates(const Json& stored, const Json& wanted) {
  Minimums minimums;
  read_minimums(api::part_of(wanted, "spec"), minimums);
  JsonObject templates;
  for (const std::string_view list : {kLeaves, kComposites})
    if (const JsonArray& items = api::elements(api::part_of(stored, "spec"), list); !items.empty())
      templates[list] = items;
  write_minimums(minimums, templates);
  return templates;
}

}  // namespace muster::workload
