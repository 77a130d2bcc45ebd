#include "server/access/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string_view>
#include <utility>

#include "api/json.h"

namespace muster::server {
namespace {

using api::Json;

// Four MiB of Roles hold a million texts, of 8 bytes each once they are prepared.
constexpr std::size_t kPreparedBytesMax = std::size_t{32} << 20U;

// The keys of roles_ and bindings_.
std::string key_of(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space, name);
}
// Where a reference from the namespace leads.
std::string role_key(std::string_view role_kind, std::string_view name_space,
                     std::string_view name) {
  return key_of(role_kind == "ClusterRole" ? "" : name_space, name);
}

std::size_t texts_in(const std::vector<PolicyRule>& rules) {
  std::size_t out = 0;
  for (const PolicyRule& rule : rules)
    out += rule.verbs.size() + rule.api_groups.size() + rule.resources.size() +
           rule.resource_names.size() + rule.non_resource_urls.size();
  return out;
}

std::int64_t next_stamp() {
  static std::atomic<std::int64_t> last{0};
  return ++last;
}

constexpr std::size_t kStamps = 1'024;
// Two namespaces in one place only cost a look too many.
std::size_t stamp_place(std::string_view name_space) {
  return std::hash<std::string_view>()(name_space) % kStamps;
}

}  // namespace

Roles::Roles(const Objects& objects)
    : stamps_(kStamps, next_stamp()),
      prepared_(std::make_shared<StampedCache<Prepared>>(kPreparedBytesMax)) {
  const auto key = [](const api::ObjectPtr& object) {
    return key_of(object->meta().name_space, object->meta().name);
  };
  Edits edits;
  for (const auto& list : {objects.cluster_roles, objects.roles})
    for (const api::ObjectPtr& role : list) set_role(key(role), role.get());
  for (const auto& list : {objects.cluster_role_bindings, objects.role_bindings})
    for (const api::ObjectPtr& binding : list) set_binding(key(binding), binding.get(), edits);
  apply(edits);
}

Roles::Roles(const Roles& before, const Changes& changes)
    : roles_(before.roles_),
      bindings_(before.bindings_),
      by_subject_(before.by_subject_),
      stamps_(before.stamps_),
      prepared_(before.prepared_) {
  const std::int64_t stamp = next_stamp();
  Edits edits;
  for (const auto& [store_key, object] : changes) {
    // rolebindings/NAMESPACE/NAME, clusterroles/NAME
    const std::string_view text = store_key;
    const std::size_t first = text.find('/');
    const std::size_t last = text.rfind('/');
    const std::string_view where = first == last ? "" : text.substr(first + 1, last - first - 1);
    const std::string key = key_of(where, text.substr(last + 1));
    const bool changed = text.substr(0, first).ends_with("bindings")
                             ? set_binding(key, object.get(), edits)
                             : set_role(key, object.get());
    if (changed) stamps_[stamp_place(where)] = stamp;
  }
  apply(edits);
}

bool Roles::set_role(const std::string& key, const api::Object* object) {
  const RolePtr* const before = roles_.find(key);
  if (object == nullptr) {
    if (before == nullptr) return false;
    roles_.erase(key);
    return true;
  }
  std::vector<PolicyRule> rules = read_rules(object->document());
  if (before != nullptr && (*before)->rules == rules) return false;
  const std::size_t texts = texts_in(rules);
  roles_.edit(key) = std::make_shared<const Role>(Role{.rules = std::move(rules), .texts = texts});
  return true;
}

bool Roles::set_binding(const std::string& key, const api::Object* object, Edits& edits) {
  const BindingPtr* const known = bindings_.find(key);
  const BindingPtr before = known == nullptr ? nullptr : *known;
  const BindingPtr after =
      object == nullptr ? nullptr : std::make_shared<const Binding>(read_binding(*object));
  if (before == after || (before != nullptr && after != nullptr && *before == *after)) return false;
  if (before != nullptr)
    for (const Subject& subject : before->subjects)
      edits[subject_key(*before, subject)][before->name] = {};
  if (after == nullptr) {
    bindings_.erase(key);
    return true;
  }
  bindings_.edit(key) = after;
  for (std::size_t i = 0; i < after->subjects.size(); ++i) {
    // The first of several that are the same person counts.
    Found& found = edits[subject_key(*after, after->subjects[i])][after->name];
    if (found.binding == nullptr) found = {.binding = after, .subject = i};
  }
  return true;
}

void Roles::apply(const Edits& edits) {
  static const Bindings kNone;
  for (const auto& [who, changed] : edits) {
    const std::shared_ptr<const Bindings>* const known = by_subject_.find(who);
    auto next = std::make_shared<Bindings>();
    auto change = changed.begin();
    const auto add_change = [&] {
      if (change->second.binding != nullptr) next->push_back(change->second);
      ++change;
    };
    for (const Found& found : known == nullptr ? kNone : **known) {
      while (change != changed.end() && change->first < found.binding->name) add_change();
      if (change == changed.end() || change->first != found.binding->name) next->push_back(found);
    }
    while (change != changed.end()) add_change();
    if (next->empty())
      by_subject_.erase(who);
    else
      by_subject_.edit(who) = std::move(next);
  }
}

Roles::Binding Roles::read_binding(const api::Object& object) {
  const Json document = object.document();
  Binding out{.kind = object.kind().kind,
              .name_space = object.meta().name_space,
              .name = object.meta().name,
              .role_kind = "",
              .role = "",
              .role_key = "",
              .subjects = {}};
  if (const Json* role = api::find(document, "roleRef")) {
    out.role_kind = api::find_string(*role, "kind");
    out.role = api::find_string(*role, "name");
  }
  out.role_key = role_key(out.role_kind, out.name_space, out.role);
  if (const api::JsonArray* subjects = api::find_array(document, "subjects"))
    for (const Json& subject : *subjects)
      out.subjects.push_back({.kind = std::string(api::find_string(subject, "kind")),
                              .name_space = std::string(api::find_string(subject, "namespace")),
                              .name = std::string(api::find_string(subject, "name"))});
  return out;
}

std::string Roles::subject_key(std::string_view name_space, std::string_view kind,
                               std::string_view name) {
  return fmt::format("{}/{}/{}", name_space, kind, name);
}

std::string Roles::subject_key(const Binding& binding, const Subject& subject) {
  if (subject.kind != "ServiceAccount")
    return subject_key(binding.name_space, subject.kind, subject.name);
  const std::string& home = subject.name_space.empty() ? binding.name_space : subject.name_space;
  return subject_key(binding.name_space, subject.kind,
                     fmt::format("system:serviceaccount:{}:{}", home, subject.name));
}

std::int64_t Roles::changed_at(std::string_view name_space) const {
  return std::max(stamps_[stamp_place("")], stamps_[stamp_place(name_space)]);
}

const std::vector<PolicyRule>* Roles::find_role(std::string_view role_kind,
                                                std::string_view name_space,
                                                std::string_view name) const {
  const RolePtr* const found = roles_.find(role_key(role_kind, name_space, name));
  return found == nullptr ? nullptr : &(*found)->rules;
}

const Roles::Role* Roles::role_of(const Found& found) const {
  const RolePtr* const role = roles_.find(found.binding->role_key);
  return role == nullptr ? nullptr : role->get();
}

}  // namespace muster::server
