#include "api/validation/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "api/reading.h"
#include "api/schema/schema.h"
#include "api/validation/group_rules.h"
#include "api/validation/normalize.h"
#include "api/validation/object_meta.h"
#include "api/values/well_known.h"

// First the rules over the whole tree of templates, which upstream writes by hand and asks on every
// write; then those of single fields (group_rules.h).
namespace muster::api {
namespace {

constexpr std::string_view kPodGroups = "podGroupTemplates";
constexpr std::string_view kComposites = "compositePodGroupTemplates";
constexpr std::array<std::string_view, 2> kTemplateLists{kPodGroups, kComposites};

using Names = std::set<std::string_view>;

// Compares the names of a list with all names before it. Equal names inside the list are left to
// the rules of the list itself.
void collect_names(const JsonArray& templates, const FieldPath& path, Names& taken,
                   FieldErrors& errors) {
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const FieldPath item = path.index(i);
    const std::string_view name = find_string(templates[i], "name");
    if (taken.contains(name)) errors.duplicate(item.child("name"), name);
  }
  for (const Json& item : templates) taken.insert(find_string(item, "name"));
}

void validate_names_below(const Json& holder, const FieldPath& path, Names& taken,
                          FieldErrors& errors) {
  const JsonArray& composites = elements(holder, kComposites);
  const FieldPath list = path.child(kComposites);
  collect_names(composites, list, taken, errors);
  for (std::size_t i = 0; i < composites.size(); ++i) {
    const FieldPath item = list.index(i);
    collect_names(elements(composites[i], kPodGroups), item.child(kPodGroups), taken, errors);
    validate_names_below(composites[i], item, taken, errors);
  }
}

void validate_names(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  Names taken;
  for (const Json& item : elements(spec, kPodGroups)) taken.insert(find_string(item, "name"));
  validate_names_below(spec, path, taken, errors);
}

// Levels of composites at and below the templates of `holder`.
std::size_t composite_levels(const Json& holder) {
  std::size_t levels = 0;
  for (const Json& child : elements(holder, kComposites))
    levels = std::max(levels, 1 + composite_levels(child));
  return levels;
}

void validate_depth(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const JsonArray& roots = elements(spec, kComposites);
  const FieldPath list = path.child(kComposites);
  for (std::size_t i = 0; i < roots.size(); ++i)
    if (1 + composite_levels(roots[i]) >= kTemplateDepthMax) {
      const Json* children = find_set(roots[i], kComposites);
      errors.invalid(list.index(i),
                     children == nullptr ? ShownValue::null() : ShownValue(*children),
                     fmt::format("maximum template hierarchy depth is {}", kTemplateDepthMax));
    }
}

// The priority every template of a workload must agree on.
struct TemplatePriority {
  std::string_view class_name;
  std::optional<std::int64_t> value;
  friend bool operator==(const TemplatePriority&, const TemplatePriority&) = default;
};

bool agree(const Json& holder, std::string_view list, std::optional<TemplatePriority>& first) {
  for (const Json& item : elements(holder, list)) {
    const TemplatePriority priority{find_string(item, "priorityClassName"),
                                    find_integer(item, "priority")};
    if (!first) first = priority;
    if (priority != *first) return false;
    if (list == kComposites && !(agree(item, kComposites, first) && agree(item, kPodGroups, first)))
      return false;
  }
  return true;
}

void validate_priorities(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  std::optional<TemplatePriority> first;
  if (!agree(spec, kPodGroups, first))
    errors.invalid(path, ShownValue::null(), "detected multiple priority configurations");
  else if (!agree(spec, kComposites, first))
    errors.invalid(path, ShownValue::null(),
                   "all priority and priorityClassName values must be identical, detected multiple "
                   "values");
}

void validate_children(const Json& holder, const FieldPath& path, FieldErrors& errors) {
  const JsonArray& composites = elements(holder, kComposites);
  const FieldPath list = path.child(kComposites);
  for (std::size_t i = 0; i < composites.size(); ++i) {
    const FieldPath item = list.index(i);
    if (elements(composites[i], kPodGroups).empty() && elements(composites[i], kComposites).empty())
      errors.invalid(item, find_string(composites[i], "name"),
                     "must have at least one child PodGroupTemplate or CompositePodGroupTemplate");
    validate_children(composites[i], item, errors);
  }
}

// Calls for every template below one that is disrupted as a whole, with the name of that ancestor.
using BelowAll = std::function<void(const Json& item, const FieldPath& path, std::string_view all)>;
void each_below_all(const Json& holder, const FieldPath& path, std::string_view all,
                    const BelowAll& call) {
  for (const std::string_view name : kTemplateLists) {
    const JsonArray& items = elements(holder, name);
    const FieldPath list = path.child(name);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const FieldPath item = list.index(i);
      if (!all.empty()) call(items[i], item, all);
      const Json* mode = find_set(items[i], "disruptionMode");
      const bool whole = mode != nullptr && find_set(*mode, "all") != nullptr;
      each_below_all(items[i], item, all.empty() && whole ? find_string(items[i], "name") : all,
                     call);
    }
  }
}

// Ours (KEP-6012): what is disrupted as a whole has no parts that go one by one. Asked on create
// alone, as neither modes nor the tree can change later.
void validate_disruption_nesting(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  each_below_all(spec, path, "",
                 [&](const Json& item, const FieldPath& item_path, std::string_view all) {
                   const Json* mode = find_set(item, "disruptionMode");
                   if (mode != nullptr && find_set(*mode, "single") != nullptr)
                     errors.invalid(item_path.child("disruptionMode"), *mode,
                                    fmt::format("must not be `single` below template \"{}\", whose "
                                                "disruptionMode is `all`",
                                                cut_utf8(all, kLimits.path_bytes)));
                 });
}

void validate_tree(const Json& spec, FieldErrors& errors) {
  const FieldPath path("spec");
  validate_names(spec, path, errors);
  validate_depth(spec, path, errors);
  validate_priorities(spec, path, errors);
  validate_children(spec, path, errors);
}

void validate_fields(const Edit& spec, GroupRules& rules, const Gates& gates) {
  const FieldPath path("spec");
  rules.one_of(spec, path, kTemplateLists);
  rules.controller_ref(spec, path);
  rules.pod_group_templates(spec, path);
  rules.composite_templates(spec, path, {.forbidden = !gates.on(Gate::CompositePodGroup)});
}

}  // namespace

FieldErrors validate_workload(const Json& document, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta(document, {}, errors);
  const Json& spec = part_or_empty(document, "spec");
  validate_tree(spec, errors);
  const FieldPath path("spec");
  validate_disruption_nesting(spec, path, errors);
  GroupRules rules(GroupRules::Write::Create, gates, errors);
  validate_fields({.now = &spec}, rules, gates);
  return errors;
}

FieldErrors validate_workload_update(const Json& now, const Json& old, const Gates& gates) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_tree(part_or_empty(now, "spec"), errors);
  const schema::Message& message = schema::message("scheduling/v1beta1", "WorkloadSpec");
  const Json now_spec = normalized(message, part_or_empty(now, "spec"));
  const Json old_spec = normalized(message, part_or_empty(old, "spec"));
  GroupRules rules(GroupRules::Write::Update, gates, errors);
  validate_fields({.now = &now_spec, .old = &old_spec}, rules, gates);
  return errors;
}

std::vector<std::string> workload_warnings(const Json& document) {
  std::vector<std::string> warnings;
  const FieldPath path("spec");
  each_below_all(part_or_empty(document, "spec"), path, "",
                 [&](const Json& item, const FieldPath& item_path, std::string_view all) {
                   if (find_set(item, "disruptionMode") == nullptr)
                     warnings.push_back(fmt::format(
                         "{}: unset below template \"{}\", whose disruptionMode is all: "
                         "its groups are disrupted only together with it",
                         item_path.child("disruptionMode").text(), all));
                 });
  return warnings;
}

}  // namespace muster::api
