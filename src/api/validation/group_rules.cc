#include "api/validation/group_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/reading.h"
#include "api/validation/normalize.h"
#include "api/values/names.h"
#include "api/values/well_known.h"

namespace muster::api {
namespace {

constexpr std::string_view kImmutable = "field is immutable";
constexpr std::string_view kCannotBeSet = "field cannot be set once created";
constexpr std::string_view kCannotBeCleared = "field cannot be cleared once set";
constexpr std::array<std::string_view, 2> kPolicies{"basic", "gang"};
constexpr std::array<std::string_view, 2> kModes{"single", "all"};
constexpr std::array<std::string_view, 2> kClaimSources{"resourceClaimName",
                                                        "resourceClaimTemplateName"};
constexpr std::array<std::string_view, 2> kPreemptionPolicies{kPreemptNever, kPreemptLowerPriority};

Messages short_name(std::string_view name) { return check_dns_label(name, LengthWord::Bytes); }
Messages long_name(std::string_view name) { return check_dns_subdomain(name, LengthWord::Bytes); }

// Upstream has the same rule twice and words one case differently.
Messages label_key(std::string_view key) {
  constexpr std::string_view kQualifiedName = "a qualified name ";
  Messages messages = check_qualified_name(key);
  for (std::string& message : messages)
    if (message.starts_with(kQualifiedName))
      message.replace(0, kQualifiedName.size(), "a valid label key ");
  return messages;
}

const schema::Message& message(std::string_view name) {
  return schema::message("scheduling/v1beta1", name);
}

const Json* set_member(const Json* holder, std::string_view name) {
  return holder == nullptr ? nullptr : find_set(*holder, name);
}

bool is_empty(const Json& value) {
  if (const auto* text = value.if_string()) return text->empty();
  if (const auto* list = value.if_array()) return list->empty();
  return false;
}

const Json* filled(const Json* value) {
  return value == nullptr || is_empty(*value) ? nullptr : value;
}

// A list as a member of a union is set only if it holds something; a text is even if it is empty.
bool is_chosen(const Json* holder, std::string_view member) {
  const Json* value = set_member(holder, member);
  return value != nullptr && !(value->is_array() && value->get_array().empty());
}

const JsonArray* as_list(const Json* value) {
  return value == nullptr ? nullptr : value->if_array();
}

}  // namespace

Edit Edit::member(std::string_view name) const {
  return {.now = set_member(now, name), .old = set_member(old, name)};
}

Edit Edit::filled_member(std::string_view name) const {
  const Edit found = member(name);
  return {.now = filled(found.now), .old = filled(found.old)};
}

NamedItems::NamedItems(const JsonArray* items) {
  if (items == nullptr) return;
  for (const Json& item : *items) by_name_.emplace(find_string(item, "name"), &item);
}

const Json* NamedItems::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void refuse_same_names(const JsonArray& items, const schema::Message& message,
                       const FieldPath& path, FieldErrors& errors) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!names.insert(find_string(items[i], "name")).second)
      errors.duplicate(path.index(i), printed_by_go(message, items[i]));
}

bool GroupRules::unchanged(const Edit& field) const {
  if (!update_) return false;
  if (field.now == nullptr || field.old == nullptr) return field.now == field.old;
  return *field.now == *field.old;
}

void GroupRules::immutable(const FieldPath& path) {
  errors_.invalid(path, ShownValue::null(), kImmutable);
}

bool GroupRules::enter(const Edit& field, const FieldPath& path, const Entry& entry) {
  if (unchanged(field)) return false;
  const std::size_t before = errors_.size();
  if (entry.forbidden && field.now != nullptr) errors_.forbidden(path);
  if (entry.fixed && update_) immutable(path);
  if (entry.required && field.now == nullptr) errors_.required(path);
  return field.now != nullptr && errors_.size() == before;
}

void GroupRules::text(const Edit& holder, const FieldPath& path, std::string_view name,
                      const Entry& entry, Check check) {
  const FieldPath here = path.child(name);
  const Edit field = holder.filled_member(name);
  if (enter(field, here, entry))
    errors_.invalid_each(here, text_of(*field.now), check(text_of(*field.now)));
}

void GroupRules::one_of(const Edit& holder, const FieldPath& path,
                        std::span<const std::string_view> members) {
  std::vector<std::string_view> chosen;
  bool same = true;
  for (const std::string_view member : members) {
    const bool now = is_chosen(holder.now, member);
    if (now) chosen.push_back(member);
    same = same && now == is_chosen(holder.old, member);
  }
  if ((update_ && same) || chosen.size() == 1) return;
  std::vector<std::string> quoted;
  for (const std::string_view member : members) quoted.push_back(fmt::format("`{}`", member));
  const std::string choices = fmt::format("{}", fmt::join(quoted, ", "));
  if (chosen.empty())
    errors_.invalid(path, "", "must specify one of: " + choices);
  else
    errors_.invalid(path, fmt::format("{{{}}}", fmt::join(chosen, ", ")),
                    "must specify exactly one of: " + choices);
}

void GroupRules::controller_ref(const Edit& spec, const FieldPath& path) {
  const FieldPath here = path.child("controllerRef");
  const Edit reference = spec.member("controllerRef");
  if (!enter(reference, here, {})) return;
  text(reference, here, "apiGroup", {.fixed = false}, long_name);
  text(reference, here, "kind", {.fixed = false, .required = true}, check_path_segment);
  text(reference, here, "name", {.fixed = false, .required = true}, check_path_segment);
}

void GroupRules::parent_name(const Edit& spec, const FieldPath& path, const Entry& entry) {
  const FieldPath here = path.child("parentCompositePodGroupName");
  const Edit parent = spec.member("parentCompositePodGroupName");
  if (enter(parent, here, entry))
    errors_.invalid_each(here, text_of(*parent.now), long_name(text_of(*parent.now)));
}

void GroupRules::workload_ref(const Edit& spec, const FieldPath& path, const Entry& entry) {
  const FieldPath here = path.child("workloadRef");
  const Edit reference = spec.member("workloadRef");
  if (!enter(reference, here, entry)) return;
  text(reference, here, "workloadName", {.fixed = false, .required = true}, long_name);
  text(reference, here, "templateName", {.fixed = false, .required = true}, short_name);
}

void GroupRules::policy(const Edit& holder, const FieldPath& path, std::string_view minimum) {
  const FieldPath here = path.child("schedulingPolicy");
  const Edit policy = holder.member("schedulingPolicy");
  if (unchanged(policy)) return;
  one_of(policy, here, kPolicies);
  const FieldPath basic_path = here.child("basic");
  enter(policy.member("basic"), basic_path, {});

  const FieldPath gang_path = here.child("gang");
  const Edit gang = policy.member("gang");
  if (update_ && (gang.now == nullptr) != (gang.old == nullptr)) {
    errors_.invalid(gang_path, ShownValue::null(),
                    gang.now == nullptr ? kCannotBeCleared : kCannotBeSet);
    return;
  }
  if (gang.now == nullptr || unchanged(gang)) return;
  const FieldPath minimum_path = gang_path.child(minimum);
  const std::int64_t count = find_integer(*gang.now, minimum).value_or(0);
  if (count == 0)  // in Go there is no telling zero from missing
    errors_.required(minimum_path);
  else if (count < 0)
    errors_.invalid(minimum_path, count, "must be greater than or equal to 1");
}

void GroupRules::policy_block(const Edit& policy, const FieldPath& here, std::string_view minimum) {
  one_of(policy, here, kPolicies);
  const Json* gang = set_member(policy.now, "gang");
  const auto count = gang == nullptr ? std::nullopt : find_integer(*gang, minimum);
  if (!count || *count >= 1) return;
  const FieldPath gang_path = here.child("gang");
  errors_.invalid(gang_path.child(minimum), *count, "must be greater than or equal to 1");
}

void GroupRules::constraints(const Edit& holder, const FieldPath& path, const Entry& entry) {
  const FieldPath here = path.child("schedulingConstraints");
  const Edit constraints = holder.member("schedulingConstraints");
  if (enter(constraints, here, entry)) constraints_block(*constraints.now, here);
}

void GroupRules::constraints_block(const Json& constraints, const FieldPath& here) {
  const FieldPath topology_path = here.child("topology");
  const JsonArray& topology = elements(constraints, "topology");
  if (topology.size() > kTopologyConstraintsMax) {
    errors_.too_many(topology_path, topology.size(), kTopologyConstraintsMax);
    return;
  }
  for (std::size_t i = 0; i < topology.size(); ++i) {
    const FieldPath item_path = topology_path.index(i);
    text({.now = &topology[i]}, item_path, "key", {.fixed = false, .required = true}, label_key);
  }
}

void GroupRules::claims(const Edit& holder, const FieldPath& path) {
  const FieldPath here = path.child("resourceClaims");
  const Edit claims = holder.filled_member("resourceClaims");
  if (unchanged(claims)) return;
  if (update_) immutable(here);
  if (const JsonArray* items = as_list(claims.now)) {
    if (!update_)
      claims_block(*items, here);
    else if (items->size() > kGroupClaimsMax)
      errors_.too_many(here, items->size(), kGroupClaimsMax);
  }
}

void GroupRules::claims_block(const JsonArray& claims, const FieldPath& here) {
  if (claims.size() > kGroupClaimsMax) {
    errors_.too_many(here, claims.size(), kGroupClaimsMax);
    return;
  }
  refuse_same_names(claims, message("PodGroupResourceClaim"), here, errors_);
  for (std::size_t i = 0; i < claims.size(); ++i) claim(claims[i], here.index(i));
}

void GroupRules::claim(const Json& claim, const FieldPath& path) {
  const Edit edit{.now = &claim};
  one_of(edit, path, kClaimSources);
  text(edit, path, "name", {.fixed = false, .required = true}, short_name);
  for (const std::string_view source : kClaimSources) {
    const FieldPath here = path.child(source);
    if (const Json* name = find_set(claim, source))
      errors_.invalid_each(here, text_of(*name), long_name(text_of(*name)));
  }
}

void GroupRules::disruption_mode(const Edit& holder, const FieldPath& path, const Entry& entry) {
  const FieldPath here = path.child("disruptionMode");
  const Edit mode = holder.member("disruptionMode");
  if (enter(mode, here, entry)) disruption_block(mode, here);
}

void GroupRules::disruption_block(const Edit& mode, const FieldPath& here) {
  one_of(mode, here, kModes);
}

void GroupRules::priority(const Edit& holder, const FieldPath& path) {
  text(holder, path, "priorityClassName", {}, long_name);
  const FieldPath here = path.child("priority");
  const Edit priority = holder.member("priority");
  if (enter(priority, here, {})) {
    const std::int64_t value = integer_of(*priority.now).value_or(0);
    if (value > kGroupPriorityMax)
      errors_.invalid(here, value,
                      fmt::format("must be less than or equal to {}", kGroupPriorityMax));
  }
  preemption_policy(holder, path);
}

void GroupRules::preemption_policy(const Edit& holder, const FieldPath& path) {
  const FieldPath here = path.child("preemptionPolicy");
  const Edit policy = holder.member("preemptionPolicy");
  if (!enter(policy, here, {.forbidden = !gates_.on(Gate::PodGroupPreemptionPolicy)})) return;
  const std::string_view name = text_of(*policy.now);
  if (name != kPreemptNever && name != kPreemptLowerPriority)
    errors_.not_supported(here, name, kPreemptionPolicies);
}

void GroupRules::pod_group_templates(const Edit& holder, const FieldPath& path) {
  const FieldPath here = path.child("podGroupTemplates");
  templates(holder.filled_member("podGroupTemplates"), here, {},
            {message("PodGroupTemplate"), &GroupRules::pod_group_template});
}

void GroupRules::composite_templates(const Edit& holder, const FieldPath& path,
                                     const Entry& entry) {
  const FieldPath here = path.child("compositePodGroupTemplates");
  templates(holder.filled_member("compositePodGroupTemplates"), here, entry,
            {message("CompositePodGroupTemplate"), &GroupRules::composite_template});
}

void GroupRules::templates(const Edit& list, const FieldPath& path, const Entry& entry,
                           const TemplateKind& kind) {
  if (unchanged(list)) return;
  const std::size_t before = errors_.size();
  const JsonArray* items = as_list(list.now);
  if (items != nullptr && entry.forbidden) errors_.forbidden(path);
  if (items != nullptr && items->size() > kTemplatesMax)
    errors_.too_many(path, items->size(), kTemplatesMax);
  if (update_) fixed_set(list, path);
  if (items == nullptr || errors_.size() != before) return;
  refuse_same_names(*items, kind.message, path, errors_);
  const NamedItems old_items(as_list(list.old));
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Json& now = (*items)[i];
    const Edit item{.now = &now, .old = old_items.find(find_string(now, "name"))};
    if (!unchanged(item)) (this->*kind.rules)(item, path.index(i));
  }
}

void GroupRules::fixed_set(const Edit& list, const FieldPath& path) {
  const JsonArray* now = as_list(list.now);
  const JsonArray* old = as_list(list.old);
  const NamedItems old_items(old);
  const NamedItems new_items(now);
  for (std::size_t i = 0; now != nullptr && i < now->size(); ++i)
    if (old_items.find(find_string((*now)[i], "name")) == nullptr)
      errors_.forbidden(path.index(i), "item may not be added");
  for (std::size_t i = 0; old != nullptr && i < old->size(); ++i)
    if (new_items.find(find_string((*old)[i], "name")) == nullptr)
      errors_.forbidden(path, "item may not be removed");
}

void GroupRules::pod_group_template(const Edit& item, const FieldPath& path) {
  text(item, path, "name", {.fixed = false, .required = true}, short_name);
  policy(item, path, "minCount");
  constraints(item, path, {.forbidden = !gates_.on(Gate::TopologyAwareWorkloadScheduling)});
  claims(item, path);
  disruption_mode(item, path, {});
  priority(item, path);
}

void GroupRules::composite_template(const Edit& item, const FieldPath& path) {
  text(item, path, "name", {.fixed = false, .required = true}, short_name);
  policy(item, path, "minGroupCount");
  constraints(item, path, {});
  disruption_mode(item, path, {});
  priority(item, path);
  pod_group_templates(item, path);
  composite_templates(item, path, {});
}

}  // namespace muster::api
