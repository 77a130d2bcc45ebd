#include "server/core/write/group_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/scratch.h"
#include "api/validation/group_binding.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/write/binding.h"
#include "server/core/write/create.h"

namespace muster::server {
namespace {

// Longer chains of parents are no tree that anybody schedules.
constexpr int kClimbMax = 16;

const api::Kind& group_kind(std::string_view name) {
  return name == "PodGroup" ? api::kinds::pod_group() : api::kinds::composite_pod_group();
}

std::string_view text_at(const Json& document, std::string_view path) {
  const Json* found = api::find_path(document, path);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

const JsonArray& items_of(const Json& spec, std::string_view member) {
  static const JsonArray kNone;
  const JsonArray* found = api::find_array(spec, member);
  return found == nullptr ? kNone : *found;
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

// Decides one GroupBinding: collects the writes and everybody who stands against them.
class Deciding {
 public:
  Deciding(Context& context, const api::Request& request, const Json& spec)
      : context_(context), request_(request), spec_(spec) {}

  void run() {
    find_root();
    const JsonArray& pods = items_of(spec_, "pods");
    for (std::size_t i = 0; i < pods.size(); ++i) take_pod(pods[i], {"spec.pods", i}, Task::Bind);
    const JsonArray& nominated = items_of(spec_, "nominations");
    for (std::size_t i = 0; i < nominated.size(); ++i)
      take_pod(nominated[i], {"spec.nominations", i}, Task::Nominate);
    const JsonArray& conditions = items_of(spec_, "conditions");
    for (std::size_t i = 0; i < conditions.size(); ++i)
      take_condition(conditions[i], {"spec.conditions", i});
  }

  std::vector<Cause>& culprits() { return culprits_; }
  std::int64_t bound() const { return bound_; }
  api::Revision newest() const { return newest_; }

  store::Transaction take_transaction() {
    for (auto& [key, edit] : groups_)
      if (edit.changed)
        transaction_.writes.push_back({.key = key,
                                       .object = make_object(edit.object->kind(), edit.document),
                                       .expected = edit.object->revision()});
    return std::move(transaction_);
  }

 private:
  enum class Task : std::uint8_t { Bind, Nominate };
  struct Place {  // spec.pods[3]
    std::string_view list;
    std::size_t index;
    std::string text() const { return fmt::format("{}[{}]", list, index); }
  };
  struct Edit {
    api::ObjectPtr object;
    Json document;
    bool changed = false;
  };

  void accuse(std::string_view type, std::string field, std::string message) {
    culprits_.push_back(
        {.type = std::string(type), .field = std::move(field), .message = std::move(message)});
  }
  void accuse(std::string_view type, const Place& place, std::string message) {
    accuse(type, place.text(), std::move(message));
  }

  api::ObjectPtr look(const api::Kind& kind, std::string_view name) {
    return context_.staging.get(
        store::make_key(kind, kind.namespaced ? request_.name_space : "", name));
  }

  // Null, and somebody accused, if the group is gone or another one.
  api::ObjectPtr find_group(const Json& reference, std::string field) {
    const std::string_view kind = api::find_string(reference, "kind");
    const std::string_view name = api::find_string(reference, "name");
    const std::string_view uid = api::find_string(reference, "uid");
    api::ObjectPtr group = look(group_kind(kind), name);
    if (!group) {
      accuse("NotFound", std::move(field), fmt::format(R"({} "{}" does not exist)", kind, name));
    } else if (!uid.empty() && uid != group->meta().uid) {
      accuse("UIDMismatch", std::move(field),
             fmt::format(R"({} "{}" has UID {}, not {})", kind, name, group->meta().uid, uid));
      return nullptr;
    }
    return group;
  }

  void find_root() {
    if (const Json* root = api::find(spec_, "root"))
      if (const api::ObjectPtr found = find_group(*root, "spec.root"))
        root_uid_ = found->meta().uid;
  }

  // Whether the root stands at the top of the group's ancestors.
  bool in_tree(const api::Kind& kind, std::string_view name) {
    const std::string key = store::make_key(kind, request_.name_space, name);
    if (const auto known = in_tree_.find(key); known != in_tree_.end()) return known->second;
    api::ObjectPtr group = context_.staging.get(key);
    for (int i = 0; i < kClimbMax && group && group->meta().uid != root_uid_; ++i) {
      const std::string parent(text_at(group->document(), "spec.parentCompositePodGroupName"));
      group = parent.empty() ? nullptr : look(api::kinds::composite_pod_group(), parent);
    }
    const bool is_below = group && group->meta().uid == root_uid_;
    in_tree_.emplace(key, is_below);
    return is_below;
  }

  bool node_exists(std::string_view name) {
    const auto known = nodes_.find(name);
    if (known != nodes_.end()) return known->second;
    const bool exists = look(api::kinds::node(), name) != nullptr;
    nodes_.emplace(name, exists);
    return exists;
  }

  void take_pod(const Json& item, const Place& place, Task task) {
    const std::string_view name = api::find_string(item, "name");
    const std::string_view uid = api::find_string(item, "uid");
    const std::string_view node = api::find_string(item, "nodeName");
    const api::ObjectPtr pod = look(api::kinds::pod(), name);
    if (!pod) return accuse("NotFound", place, fmt::format("pod {} does not exist", name));
    if (uid != pod->meta().uid)
      return accuse("UIDMismatch", place,
                    fmt::format("pod {} has UID {}, not {}", name, pod->meta().uid, uid));
    api::Scratch scratch;
    Json document = without_metadata(scratch, *pod);
    newest_ = std::max(newest_, pod->revision());
    if (task == Task::Bind && text_at(document, "spec.nodeName") == node) {
      ++bound_;
      return;
    }
    if (check_pod(item, place, *pod, document)) write_pod(task, node, pod, document);
  }

  bool check_pod(const Json& item, const Place& place, const api::Object& pod,
                 const Json& document) {
    const std::size_t before = culprits_.size();
    const std::string& name = pod.meta().name;
    if (auto why = why_not_bindable(pod, document))
      accuse(why->type, place, std::move(why->message));
    if (const std::string_view version = api::find_string(item, "resourceVersion");
        !version.empty() && version != to_resource_version(pod.revision()))
      accuse("Modified", place,
             fmt::format("pod {} has resourceVersion {}, not {}", name,
                         to_resource_version(pod.revision()), version));
    const std::string_view leaf = text_at(document, "spec.schedulingGroup.podGroupName");
    if (!root_uid_.empty() && (leaf.empty() || !in_tree(api::kinds::pod_group(), leaf)))
      accuse("NotAMember", place,
             fmt::format("pod {} does not belong to the tree of the root", name));
    if (const std::string_view node = api::find_string(item, "nodeName"); !node_exists(node))
      accuse("NodeNotFound", place,
             fmt::format(R"(node "{}" for pod {} does not exist)", node, name));
    return culprits_.size() == before;
  }

  void write_pod(Task task, std::string_view node, const api::ObjectPtr& pod, Json& document) {
    if (task == Task::Bind) {
      assign_node(document, node, context_.now);
      ++bound_;
    } else {
      JsonObject& status = api::ensure_object(document.get_object(), "status");
      if (text_at(document, "status.nominatedNodeName") == node) return;
      status["nominatedNodeName"] = node;
    }
    transaction_.writes.push_back(
        {.key = store::make_key(pod->kind(), pod->meta().name_space, pod->meta().name),
         .object = make_object(*pod, document),
         .expected = pod->revision()});
  }

  void take_condition(const Json& item, const Place& place) {
    const api::ObjectPtr group = find_group(item, place.text());
    if (!group) return;
    if (!root_uid_.empty() && !in_tree(group->kind(), group->meta().name))
      return accuse("NotAMember", place,
                    fmt::format(R"({} "{}" does not belong to the tree of the root)",
                                group->kind().kind, group->meta().name));
    newest_ = std::max(newest_, group->revision());
    const std::string key =
        store::make_key(group->kind(), group->meta().name_space, group->meta().name);
    auto at = groups_.find(key);
    if (at == groups_.end())
      at = groups_.emplace(key, Edit{.object = group, .document = group->document()}).first;
    Edit& edit = at->second;
    edit.changed |= set_group_condition(edit.document, *api::find(item, "condition"), context_.now);
  }

  Context& context_;
  const api::Request& request_;
  const Json& spec_;
  std::string root_uid_;  // empty: the root is gone, and that is said once
  std::map<std::string, bool, std::less<>> in_tree_;
  std::map<std::string, bool, std::less<>> nodes_;
  store::Transaction transaction_;
  std::map<std::string, Edit> groups_;  // by key
  std::vector<Cause> culprits_;
  std::int64_t bound_ = 0;
  api::Revision newest_;  // of what is named and stands
};

Error refusal(const api::Request& request, std::string_view name, std::vector<Cause> culprits) {
  std::string why = culprits.front().message;
  if (culprits.size() > 1) why += fmt::format(" (and {} more)", culprits.size() - 1);
  Error error = conflict(*request.kind, name, why);
  error.causes = std::move(culprits);
  return error;
}

// A GroupBinding is called like its root if it has no name of its own.
void settle_name(Json& document) {
  if (meta_text(document, "name").empty()) {
    const std::string root(text_at(document, "spec.root.name"));
    metadata(document)["name"] = root;
  }
}

}  // namespace

Result<Decision> decide_group_binding(Context& context, api::Request& request) {
  Json document = std::exchange(request.body, nullptr);
  TRY(settle_namespace(request, document));
  settle_name(document);
  request.name = meta_text(document, "name");
  if (auto errors = api::validate_group_binding(document); !errors.empty())
    return fail(invalid(*request.kind, request.name, errors.causes()));

  Decision decision;
  Deciding deciding(context, request, document.get_object().at("spec"));
  deciding.run();
  if (!deciding.culprits().empty())
    return fail(refusal(request, request.name, std::move(deciding.culprits())));
  decision.transaction = deciding.take_transaction();

  JsonObject status{{"bound", deciding.bound()}};
  // What stands already holds from the last change of it on.
  if (decision.transaction.writes.empty() && !request.dry_run)
    status["resourceVersion"] = to_resource_version(deciding.newest());
  JsonObject answer{{"kind", request.kind->kind},
                    {"apiVersion", request.kind->api_version(request.version)}};
  for (auto& member : document.get_object())
    if (member.key() != "status") answer.emplace(member.key(), std::move(member.value()));
  answer["status"] = std::move(status);
  decision.answer.what = api::DocumentAnswer{.document = std::move(answer), .code = 201};
  decision.answer.warnings = std::move(request.warnings);
  decision.complete = [](api::Answer& done, api::Revision block_end) {
    Json& told = std::get<api::DocumentAnswer>(done.what).document;
    api::ensure_object(told.get_object(), "status")["resourceVersion"] =
        to_resource_version(block_end);
  };
  return decision;
}

}  // namespace muster::server
