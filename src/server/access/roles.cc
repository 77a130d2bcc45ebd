#include "server/access/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "api/json.h"

namespace muster::server {
namespace {

using api::Json;

constexpr std::string_view kAll = "*";

bool has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::ranges::find(list, wanted) != list.end();
}

bool has_or_all(const std::vector<std::string>& list, std::string_view wanted) {
  return has(list, kAll) || has(list, wanted);
}

// `pods`, `pods/status`, `*/scale` or everything. Plain `pods` does not cover its subresources.
bool names_resource(const PolicyRule& rule, const Attributes& asked) {
  if (has(rule.resources, kAll)) return true;
  if (asked.subresource.empty()) return has(rule.resources, asked.resource);
  return has(rule.resources, fmt::format("{}/{}", asked.resource, asked.subresource)) ||
         has(rule.resources, fmt::format("*/{}", asked.subresource));
}

// `*`, the path itself, or a beginning: `/api/*`.
bool names_path(std::string_view pattern, std::string_view path) {
  if (pattern == kAll || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::vector<std::string> texts(const Json& value, std::string_view member) {
  std::vector<std::string> out;
  if (const api::JsonArray* list = api::find_array(value, member))
    for (const Json& item : *list)
      if (item.is_string()) out.emplace_back(std::string_view(item.get_string()));
  return out;
}

// Several errors as upstream joins them: each once, in brackets if there is more than one.
std::string joined(std::vector<std::string> errors) {
  std::vector<std::string> once;
  for (std::string& error : errors)
    if (!has(once, error)) once.push_back(std::move(error));
  if (once.size() < 2) return once.empty() ? "" : once.front();
  return fmt::format("[{}]", fmt::join(once, ", "));
}

}  // namespace

std::vector<PolicyRule> read_rules(const Json& role) {
  std::vector<PolicyRule> out;
  const api::JsonArray* const rules = api::find_array(role, "rules");
  if (rules == nullptr) return out;
  for (const Json& rule : *rules)
    out.push_back({.verbs = texts(rule, "verbs"),
                   .api_groups = texts(rule, "apiGroups"),
                   .resources = texts(rule, "resources"),
                   .resource_names = texts(rule, "resourceNames"),
                   .non_resource_urls = texts(rule, "nonResourceURLs")});
  return out;
}

std::string role_not_found(std::string_view role_kind, std::string_view name) {
  return fmt::format(R"({}.rbac.authorization.k8s.io "{}" not found)",
                     role_kind == "ClusterRole" ? "clusterrole" : "role", name);
}

bool covers(const PolicyRule& rule, const Attributes& asked) {
  if (!has_or_all(rule.verbs, asked.verb)) return false;
  if (!asked.is_resource)
    return std::ranges::any_of(rule.non_resource_urls, [&](const std::string& pattern) {
      return names_path(pattern, asked.path);
    });
  return has_or_all(rule.api_groups, asked.group) && names_resource(rule, asked) &&
         (rule.resource_names.empty() || has(rule.resource_names, asked.name));
}

Roles::Roles(const Objects& objects) {
  const auto key_of = [](const api::ObjectPtr& object) {
    return Key(object->meta().name_space, object->meta().name);
  };
  for (const auto& list : {objects.cluster_roles, objects.roles})
    for (const api::ObjectPtr& role : list)
      roles_[key_of(role)] =
          std::make_shared<const std::vector<PolicyRule>>(read_rules(role->document()));
  std::map<std::string, Bindings> bindings;
  for (const auto& list : {objects.cluster_role_bindings, objects.role_bindings})
    for (const api::ObjectPtr& binding : list)
      bindings[binding->meta().name_space][binding->meta().name] =
          std::make_shared<const Binding>(read_binding(*binding));
  for (auto& [name_space, all] : bindings)
    bindings_[name_space] = std::make_shared<const Bindings>(std::move(all));
}

// Copies pointers: to what each role says, and to the bindings of each namespace.
Roles::Roles(const Roles& before, const Changes& changes)
    : roles_(before.roles_), bindings_(before.bindings_) {
  for (const auto& [store_key, object] : changes) {
    // rolebindings/NAMESPACE/NAME, clusterroles/NAME
    const std::string_view text = store_key;
    const std::size_t first = text.find('/');
    const std::size_t last = text.rfind('/');
    const Key key(first == last ? "" : text.substr(first + 1, last - first - 1),
                  text.substr(last + 1));
    if (text.substr(0, first).ends_with("bindings"))
      set_binding(key, object.get());
    else
      set_role(key, object.get());
  }
}

void Roles::set_role(const Key& key, const api::Object* object) {
  if (object == nullptr)
    roles_.erase(key);
  else
    roles_[key] = std::make_shared<const std::vector<PolicyRule>>(read_rules(object->document()));
}

void Roles::set_binding(const Key& key, const api::Object* object) {
  auto& shared = bindings_[key.first];
  Bindings all = shared ? *shared : Bindings{};
  if (object == nullptr)
    all.erase(key.second);
  else
    all[key.second] = std::make_shared<const Binding>(read_binding(*object));
  if (all.empty())
    bindings_.erase(key.first);
  else
    shared = std::make_shared<const Bindings>(std::move(all));
}

Roles::Binding Roles::read_binding(const api::Object& object) {
  const Json document = object.document();
  Binding out{.kind = object.kind().kind,
              .name_space = object.meta().name_space,
              .name = object.meta().name,
              .role_kind = "",
              .role = "",
              .subjects = {}};
  if (const Json* role = api::find(document, "roleRef")) {
    out.role_kind = api::find_string(*role, "kind");
    out.role = api::find_string(*role, "name");
  }
  if (const api::JsonArray* subjects = api::find_array(document, "subjects"))
    for (const Json& subject : *subjects)
      out.subjects.push_back({.kind = std::string(api::find_string(subject, "kind")),
                              .name_space = std::string(api::find_string(subject, "namespace")),
                              .name = std::string(api::find_string(subject, "name"))});
  return out;
}

const Roles::Subject* Roles::subject_of(const Binding& binding, const api::User& user) {
  for (const Subject& subject : binding.subjects) {
    if (subject.kind == "User" && subject.name == user.name) return &subject;
    if (subject.kind == "Group" && has(user.groups, subject.name)) return &subject;
    if (subject.kind == "ServiceAccount" &&
        user.name ==
            fmt::format("system:serviceaccount:{}:{}",
                        subject.name_space.empty() ? binding.name_space : subject.name_space,
                        subject.name))
      return &subject;
  }
  return nullptr;
}

const std::vector<PolicyRule>* Roles::find_role(std::string_view role_kind,
                                                std::string_view name_space,
                                                std::string_view name) const {
  const std::string_view where = role_kind == "ClusterRole" ? "" : name_space;
  const auto found = roles_.find({std::string(where), std::string(name)});
  return found == roles_.end() ? nullptr : found->second.get();
}

// ClusterRoleBinding "x" of ClusterRole "y" to Group "z", as upstream's reasons say it.
std::string Roles::reason_of(const Binding& binding, const Subject& subject) {
  const std::string bound = binding.name_space.empty()
                                ? binding.name
                                : fmt::format("{}/{}", binding.name, binding.name_space);
  const std::string who = subject.kind == "ServiceAccount"
                              ? fmt::format("{}/{}", subject.name, subject.name_space)
                              : subject.name;
  return fmt::format(R"(RBAC: allowed by {} "{}" of {} "{}" to {} "{}")", binding.kind, bound,
                     binding.role_kind, binding.role, subject.kind, who);
}

template <typename Visit>
void Roles::each_binding(const api::User& user, std::string_view name_space, Visit&& visit) const {
  const auto go_through = [&](std::string_view where) {
    const auto bindings = bindings_.find(where);
    if (bindings == bindings_.end()) return true;
    for (const auto& [name, binding] : *bindings->second)
      if (const Subject* subject = subject_of(*binding, user))
        if (!visit(*binding, *subject)) return false;
    return true;
  };
  if (go_through("") && !name_space.empty()) go_through(name_space);
}

Verdict Roles::judge(const api::User& user, const Attributes& asked) const {
  Verdict out;
  std::vector<std::string> missing;
  each_binding(user, asked.name_space, [&](const Binding& binding, const Subject& subject) {
    const std::vector<PolicyRule>* const rules =
        find_role(binding.role_kind, binding.name_space, binding.role);
    if (rules == nullptr) {
      missing.push_back(role_not_found(binding.role_kind, binding.role));
      return true;
    }
    // Paths are the cluster's: a binding in a namespace gives none.
    if (!asked.is_resource && !binding.name_space.empty()) return true;
    out.allowed =
        std::ranges::any_of(*rules, [&](const PolicyRule& rule) { return covers(rule, asked); });
    if (out.allowed) out.reason = reason_of(binding, subject);
    return !out.allowed;
  });
  if (!out.allowed && !missing.empty())
    out.reason = fmt::format("RBAC: {}", joined(std::move(missing)));
  return out;
}

Roles::Held Roles::held_by(const api::User& user, std::string_view name_space) const {
  Held out;
  std::vector<std::string> missing;
  each_binding(user, name_space, [&](const Binding& binding, const Subject&) {
    const std::vector<PolicyRule>* const rules =
        find_role(binding.role_kind, binding.name_space, binding.role);
    if (rules != nullptr)
      for (const PolicyRule& rule : *rules) out.rules.push_back(&rule);
    else
      missing.push_back(role_not_found(binding.role_kind, binding.role));
    return true;
  });
  out.errors = joined(std::move(missing));
  return out;
}

}  // namespace muster::server
