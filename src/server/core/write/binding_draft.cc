#include "server/core/write/binding_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/write/binding.h"

namespace muster::server {
namespace {

// Longer chains of parents are no tree that anybody schedules.
constexpr int kClimbMax = 16;

const api::Kind& group_kind(std::string_view name) {
  return name == "PodGroup" ? api::kinds::pod_group() : api::kinds::composite_pod_group();
}

std::string_view text_at(const Json& document, std::string_view path) {
  const Json* found = api::find_path(document, path);
  return found == nullptr ? std::string_view() : api::text_of(*found);
}

// Sets a condition as metav1's helper does. False if the group says so already.
bool set_group_condition(Json& group, const Json& wanted, Time now) {
  JsonArray& conditions =
      api::ensure_array(api::ensure_object(group.get_object(), "status"), "conditions");
  const std::string_view type = api::find_string(wanted, "type");
  auto at = std::ranges::find_if(
      conditions, [&](const Json& standing) { return api::find_string(standing, "type") == type; });
  if (at == conditions.end()) {
    conditions.push_back(JsonObject());
    at = conditions.end() - 1;
  }
  const Json before = *at;
  JsonObject fresh = wanted.get_object();
  fresh["lastTransitionTime"] = format_time(now);
  if (api::find_string(before, "status") == api::find_string(wanted, "status"))
    copy_member(fresh, before, "lastTransitionTime");
  if (fresh.if_contains("message") == nullptr) fresh["message"] = "";
  if (const Json* seen = fresh.if_contains("observedGeneration"); seen != nullptr && *seen == 0)
    fresh.erase("observedGeneration");  // as it is stored
  if (before == Json(fresh)) return false;
  *at = std::move(fresh);
  return true;
}

}  // namespace

BindingDraft::BindingDraft(std::string name_space, const Json& spec)
    : name_space_(std::move(name_space)), spec_(spec) {
  const auto add_pods = [&](std::string_view list, Task task) {
    const JsonArray& items = api::elements(spec, list);
    for (std::size_t i = 0; i < items.size(); ++i)
      pods_.push_back(
          {.task = task, .item = &items[i], .field = fmt::format("spec.{}[{}]", list, i)});
  };
  add_pods("pods", Task::Bind);
  add_pods("nominations", Task::Nominate);
  const JsonArray& items = api::elements(spec, "conditions");
  for (std::size_t i = 0; i < items.size(); ++i)
    conditions_.push_back({.item = &items[i], .field = fmt::format("spec.conditions[{}]", i)});
}

void BindingDraft::find_root(Context& context) {
  in_tree_.clear();
  nodes_.clear();
  root_uid_.clear();
  if (const Json* root = api::find(spec_, "root"))
    if (const api::ObjectPtr found = find_group(context, *root, "spec.root"))
      root_uid_ = found->meta().uid;
}

void BindingDraft::prepare(Context& context, std::size_t item) {
  if (item < pods_.size())
    prepare_pod(context, pods_[item]);
  else
    prepare_condition(context, conditions_[item - pods_.size()]);
}

api::ObjectPtr BindingDraft::prepared(std::size_t item) const {
  return item < pods_.size() ? pods_[item].written : nullptr;
}

std::vector<std::size_t> BindingDraft::find_stale(Context& context) {
  std::vector<std::size_t> stale;
  for (std::size_t i = 0; i < pods_.size(); ++i) {
    const Pod& pod = pods_[i];
    const std::string_view name = api::find_string(*pod.item, "name");
    if (find_object(context, api::kinds::pod(), name) != pod.seen)
      stale.push_back(i);
    else if (pod.written != nullptr)
      check_surroundings(context, pod);
  }
  // Several conditions may stand in one group: all are written again if one group has changed.
  const bool is_stale = std::ranges::any_of(groups_, [&](const auto& group) {
    return context.staging.get(group.first) != group.second.seen;
  });
  if (!is_stale) {
    for (const Condition& condition : conditions_) check_membership(context, condition);
    return stale;
  }
  // Preparing them checks their place in the tree as well.
  groups_.clear();
  for (std::size_t i = 0; i < conditions_.size(); ++i) stale.push_back(pods_.size() + i);
  return stale;
}

std::int64_t BindingDraft::bound() const {
  return std::ranges::count_if(
      pods_, [](const Pod& pod) { return pod.task == Task::Bind && pod.seen != nullptr; });
}

api::Revision BindingDraft::newest() const {
  api::Revision newest;
  for (const Pod& pod : pods_)
    if (pod.seen != nullptr) newest = std::max(newest, pod.seen->revision());
  for (const auto& [key, edit] : groups_) newest = std::max(newest, edit.seen->revision());
  return newest;
}

store::Transaction BindingDraft::finish() {
  store::Transaction transaction;
  transaction.writes.reserve(pods_.size() + groups_.size());
  for (Pod& pod : pods_)
    if (pod.written != nullptr)
      transaction.writes.push_back({.key = key_of(pod.seen->kind(), pod.seen->meta().name),
                                    .object = std::move(pod.written),
                                    .expected = pod.seen->revision()});
  for (auto& [key, edit] : groups_)
    if (edit.changed)
      transaction.writes.push_back({.key = key,
                                    .object = make_object(edit.seen->kind(), edit.document),
                                    .expected = edit.seen->revision()});
  return transaction;
}

void BindingDraft::add_cause(std::string_view type, std::string field, std::string message) {
  causes_.push_back(
      {.type = std::string(type), .field = std::move(field), .message = std::move(message)});
}

std::string BindingDraft::key_of(const api::Kind& kind, std::string_view name) const {
  return store::make_key(kind, kind.namespaced ? std::string_view(name_space_) : "", name);
}

api::ObjectPtr BindingDraft::find_object(Context& context, const api::Kind& kind,
                                         std::string_view name) const {
  return context.staging.get(key_of(kind, name));
}

// Null, and a cause added, if the group is gone or another one.
api::ObjectPtr BindingDraft::find_group(Context& context, const Json& reference,
                                        std::string field) {
  const std::string_view kind = api::find_string(reference, "kind");
  const std::string_view name = api::find_string(reference, "name");
  const std::string_view uid = api::find_string(reference, "uid");
  api::ObjectPtr group = find_object(context, group_kind(kind), name);
  if (!group) {
    add_cause("NotFound", std::move(field), fmt::format(R"({} "{}" does not exist)", kind, name));
  } else if (!uid.empty() && uid != group->meta().uid) {
    add_cause("UIDMismatch", std::move(field),
              fmt::format(R"({} "{}" has UID {}, not {})", kind, name, group->meta().uid, uid));
    return nullptr;
  }
  return group;
}

// Whether the root stands at the top of the group's ancestors.
bool BindingDraft::in_tree(Context& context, const api::Kind& kind, std::string_view name) {
  const std::string key = key_of(kind, name);
  if (const auto known = in_tree_.find(key); known != in_tree_.end()) return known->second;
  api::ObjectPtr group = context.staging.get(key);
  for (int i = 0; i < kClimbMax && group && group->meta().uid != root_uid_; ++i) {
    const std::string parent(text_at(group->document(), "spec.parentCompositePodGroupName"));
    group =
        parent.empty() ? nullptr : find_object(context, api::kinds::composite_pod_group(), parent);
  }
  const bool is_below = group && group->meta().uid == root_uid_;
  in_tree_.emplace(key, is_below);
  return is_below;
}

bool BindingDraft::node_exists(Context& context, std::string_view name) {
  const auto known = nodes_.find(name);
  if (known != nodes_.end()) return known->second;
  const bool exists = find_object(context, api::kinds::node(), name) != nullptr;
  nodes_.emplace(name, exists);
  return exists;
}

void BindingDraft::prepare_pod(Context& context, Pod& pod) {
  const std::string_view name = api::find_string(*pod.item, "name");
  const std::string_view uid = api::find_string(*pod.item, "uid");
  pod.written = nullptr;
  pod.seen = find_object(context, api::kinds::pod(), name);
  if (!pod.seen)
    return add_cause("NotFound", pod.field, fmt::format("pod {} does not exist", name));
  if (uid != pod.seen->meta().uid)
    return add_cause("UIDMismatch", pod.field,
                     fmt::format("pod {} has UID {}, not {}", name, pod.seen->meta().uid, uid));
  api::Scratch scratch;
  Json document = without_metadata(scratch, *pod.seen);
  if (pod.task == Task::Bind &&
      text_at(document, "spec.nodeName") == api::find_string(*pod.item, "nodeName"))
    return;
  pod.leaf = text_at(document, "spec.schedulingGroup.podGroupName");
  if (check_pod(context, pod, document)) write_pod(pod, document, context.now);
}

bool BindingDraft::check_pod(Context& context, const Pod& pod, const Json& document) {
  const std::size_t before = causes_.size();
  if (auto why = why_not_bindable(*pod.seen, document))
    add_cause(why->type, pod.field, std::move(why->message));
  if (const std::string_view version = api::find_string(*pod.item, "resourceVersion");
      !version.empty() && version != to_resource_version(pod.seen->revision()))
    add_cause("Modified", pod.field,
              fmt::format("pod {} has resourceVersion {}, not {}", pod.seen->meta().name,
                          to_resource_version(pod.seen->revision()), version));
  check_surroundings(context, pod);
  return causes_.size() == before;
}

void BindingDraft::check_surroundings(Context& context, const Pod& pod) {
  const std::string& name = pod.seen->meta().name;
  if (!root_uid_.empty() &&
      (pod.leaf.empty() || !in_tree(context, api::kinds::pod_group(), pod.leaf)))
    add_cause("NotAMember", pod.field,
              fmt::format("pod {} does not belong to the tree of the root", name));
  if (const std::string_view node = api::find_string(*pod.item, "nodeName");
      !node_exists(context, node))
    add_cause("NodeNotFound", pod.field,
              fmt::format(R"(node "{}" for pod {} does not exist)", node, name));
}

void BindingDraft::write_pod(Pod& pod, Json& document, Time now) {
  const std::string_view node = api::find_string(*pod.item, "nodeName");
  if (pod.task == Task::Bind) {
    assign_node(document, node, now);
  } else {
    JsonObject& status = api::ensure_object(document.get_object(), "status");
    if (text_at(document, "status.nominatedNodeName") == node) return;
    status["nominatedNodeName"] = node;
  }
  pod.written = make_object(*pod.seen, document);
}

bool BindingDraft::check_membership(Context& context, const Condition& condition) {
  const std::string_view kind = api::find_string(*condition.item, "kind");
  const std::string_view name = api::find_string(*condition.item, "name");
  if (root_uid_.empty() || in_tree(context, group_kind(kind), name)) return true;
  add_cause("NotAMember", condition.field,
            fmt::format(R"({} "{}" does not belong to the tree of the root)", kind, name));
  return false;
}

void BindingDraft::prepare_condition(Context& context, const Condition& condition) {
  const api::ObjectPtr group = find_group(context, *condition.item, condition.field);
  if (!group) return;
  if (!check_membership(context, condition)) return;
  const std::string key = key_of(group->kind(), group->meta().name);
  auto at = groups_.find(key);
  if (at == groups_.end())
    at = groups_.emplace(key, Edit{.seen = group, .document = group->document()}).first;
  Edit& edit = at->second;
  edit.changed |=
      set_group_condition(edit.document, *api::find(*condition.item, "condition"), context.now);
}

}  // namespace muster::server
