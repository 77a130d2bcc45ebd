#include "server/access/roles.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

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

// What is missing, each once. A hundred are named: who may write bindings may leave any number that
// lead nowhere, and every refusal would name them all.
class Missing {
 public:
  void add(std::string_view role_kind, std::string_view name) {
    constexpr std::size_t kNamed = 100;
    if (texts_.size() >= kNamed) return;
    std::string text = role_not_found(role_kind, name);
    if (!has(texts_, text)) texts_.push_back(std::move(text));
  }
  bool empty() const { return texts_.empty(); }
  // As upstream joins errors: in brackets if there is more than one.
  std::string text() const {
    if (texts_.size() < 2) return texts_.empty() ? "" : texts_.front();
    return fmt::format("[{}]", fmt::join(texts_, ", "));
  }

 private:
  std::vector<std::string> texts_;
};

// Keys of the maps, and of by_subject_.
std::string key_of(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space, name);
}
std::string key_of(std::string_view name_space, std::string_view kind, std::string_view name) {
  return fmt::format("{}/{}/{}", name_space, kind, name);
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
  const auto key = [](const api::ObjectPtr& object) {
    return key_of(object->meta().name_space, object->meta().name);
  };
  for (const auto& list : {objects.cluster_roles, objects.roles})
    for (const api::ObjectPtr& role : list) set_role(key(role), role.get());
  for (const auto& list : {objects.cluster_role_bindings, objects.role_bindings})
    for (const api::ObjectPtr& binding : list) set_binding(key(binding), binding.get());
}

Roles::Roles(const Roles& before, const Changes& changes)
    : roles_(before.roles_), bindings_(before.bindings_), by_subject_(before.by_subject_) {
  for (const auto& [store_key, object] : changes) {
    // rolebindings/NAMESPACE/NAME, clusterroles/NAME
    const std::string_view text = store_key;
    const std::size_t first = text.find('/');
    const std::size_t last = text.rfind('/');
    const std::string key = key_of(first == last ? "" : text.substr(first + 1, last - first - 1),
                                   text.substr(last + 1));
    if (text.substr(0, first).ends_with("bindings"))
      set_binding(key, object.get());
    else
      set_role(key, object.get());
  }
}

void Roles::set_role(const std::string& key, const api::Object* object) {
  if (object == nullptr)
    roles_.erase(key);
  else
    roles_.edit(key) =
        std::make_shared<const std::vector<PolicyRule>>(read_rules(object->document()));
}

void Roles::set_binding(const std::string& key, const api::Object* object) {
  const BindingPtr* const known = bindings_.find(key);
  const BindingPtr before = known == nullptr ? nullptr : *known;
  if (before != nullptr)
    for (const Subject& subject : before->subjects) {
      const std::string who = subject_key(*before, subject);
      Bindings& theirs = by_subject_.edit(who);
      theirs.erase(before->name);
      if (theirs.empty()) by_subject_.erase(who);
    }
  if (object == nullptr) {
    bindings_.erase(key);
    return;
  }
  const auto binding = std::make_shared<const Binding>(read_binding(*object));
  bindings_.edit(key) = binding;
  // The first of several that are the same person counts.
  for (std::size_t i = 0; i < binding->subjects.size(); ++i)
    by_subject_.edit(subject_key(*binding, binding->subjects[i]))
        .try_emplace(binding->name, Found{.binding = binding, .subject = i});
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

std::string Roles::subject_key(const Binding& binding, const Subject& subject) {
  if (subject.kind != "ServiceAccount")
    return key_of(binding.name_space, subject.kind, subject.name);
  const std::string& home = subject.name_space.empty() ? binding.name_space : subject.name_space;
  return key_of(binding.name_space, subject.kind,
                fmt::format("system:serviceaccount:{}:{}", home, subject.name));
}

const std::vector<PolicyRule>* Roles::find_role(std::string_view role_kind,
                                                std::string_view name_space,
                                                std::string_view name) const {
  const std::string_view where = role_kind == "ClusterRole" ? "" : name_space;
  const Rules* const found = roles_.find(key_of(where, name));
  return found == nullptr ? nullptr : found->get();
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

// Those that name the user or a group of theirs, in the order of their names.
std::vector<const Roles::Found*> Roles::bindings_of(const api::User& user,
                                                    std::string_view name_space) const {
  std::vector<const Found*> out;
  const auto add = [&](std::string_view kind, std::string_view name) {
    if (const Bindings* const found = by_subject_.find(key_of(name_space, kind, name)))
      for (const auto& [binding, entry] : *found) out.push_back(&entry);
  };
  add("User", user.name);
  add("ServiceAccount", user.name);
  for (const std::string& group : user.groups) add("Group", group);
  if (out.size() < 2) return out;
  std::ranges::sort(out, [](const Found* a, const Found* b) {
    return std::tie(a->binding->name, a->subject) < std::tie(b->binding->name, b->subject);
  });
  const auto same =
      std::ranges::unique(out, {}, [](const Found* found) { return found->binding.get(); });
  out.erase(same.begin(), same.end());
  return out;
}

template <typename Visit>
void Roles::each_binding(const api::User& user, std::string_view name_space, Visit&& visit) const {
  const auto go_through = [&](std::string_view where) {
    return std::ranges::all_of(bindings_of(user, where), [&](const Found* found) {
      return visit(*found->binding, found->binding->subjects[found->subject]);
    });
  };
  if (go_through("") && !name_space.empty()) go_through(name_space);
}

Verdict Roles::judge(const api::User& user, const Attributes& asked) const {
  Verdict out;
  Missing missing;
  boost::unordered_flat_set<const std::vector<PolicyRule>*> judged;
  each_binding(user, asked.name_space, [&](const Binding& binding, const Subject& subject) {
    const std::vector<PolicyRule>* const rules =
        find_role(binding.role_kind, binding.name_space, binding.role);
    if (rules == nullptr) {
      missing.add(binding.role_kind, binding.role);
      return true;
    }
    // Paths are the cluster's: a binding in a namespace gives none.
    if (!asked.is_resource && !binding.name_space.empty()) return true;
    if (!judged.insert(rules).second) return true;  // a role that is bound more than once
    out.allowed =
        std::ranges::any_of(*rules, [&](const PolicyRule& rule) { return covers(rule, asked); });
    if (out.allowed) out.reason = reason_of(binding, subject);
    return !out.allowed;
  });
  if (!out.allowed && !missing.empty()) out.reason = fmt::format("RBAC: {}", missing.text());
  return out;
}

Roles::Held Roles::held_by(const api::User& user, std::string_view name_space) const {
  Held out;
  Missing missing;
  each_binding(user, name_space, [&](const Binding& binding, const Subject&) {
    const std::vector<PolicyRule>* const rules =
        find_role(binding.role_kind, binding.name_space, binding.role);
    if (rules != nullptr)
      for (const PolicyRule& rule : *rules) out.rules.push_back(&rule);
    else
      missing.add(binding.role_kind, binding.role);
    return true;
  });
  out.errors = missing.text();
  return out;
}

}  // namespace muster::server
