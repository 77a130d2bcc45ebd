#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "server/access/attributes.h"
#include "server/access/policy_rule.h"
#include "server/access/shared_map.h"
#include "server/access/stamped_cache.h"

// Role-based access control: what roles allow, and to which users bindings give them. Purely
// additive; there is no "deny".
namespace muster::server {

struct AccessDecision {
  bool allowed = false;
  // Which binding allows it; or, if not allowed, which bindings name a role that does not exist.
  std::string reason = {};
  std::size_t work = 0;  // steps it took, each some ten nanoseconds
};

// clusterrole.rbac.authorization.k8s.io "x" not found
std::string role_not_found(std::string_view role_kind, std::string_view name);

// All roles and bindings as they stood at one moment; immutable, any thread.
class Roles {
 public:
  struct Objects {
    std::span<const api::ObjectPtr> cluster_roles;
    std::span<const api::ObjectPtr> roles;
    std::span<const api::ObjectPtr> cluster_role_bindings;
    std::span<const api::ObjectPtr> role_bindings;
  };
  explicit Roles(const Objects& objects);
  // By key in the store; null: deleted.
  using Changes = std::map<std::string, api::ObjectPtr>;
  // `before` with the changes. Shares what did not change.
  Roles(const Roles& before, const Changes& changes);

  // However many bindings name the user, their second question is answered without looking at each,
  // as long as nothing changes in the scope it asks about.
  AccessDecision judge(const api::User& user, const Attributes& asked) const;
  // Everything the user may do in the namespace and at the cluster scope: the rules of each of
  // their roles once, in the order of the first bindings that grant it.
  struct Held {
    std::vector<const PolicyRule*> rules = {};  // valid as long as the Roles
    // What is wrong with their bindings, in upstream's words; empty: nothing.
    std::string errors = {};
  };
  Held held_by(const api::User& user, std::string_view name_space) const;
  // The rules of the role that a `role_kind` reference in the namespace names; null if unknown.
  const std::vector<PolicyRule>* find_role(std::string_view role_kind, std::string_view name_space,
                                           std::string_view name) const;
  // Two versions give the same verdicts about the namespace (empty: the cluster scope) if this is
  // equal for both.
  std::int64_t changed_at(std::string_view name_space) const;

 private:
  struct Subject {
    std::string kind;
    std::string name_space;
    std::string name;

    bool operator==(const Subject&) const = default;
  };
  struct Binding {
    std::string kind;  // ClusterRoleBinding or RoleBinding
    std::string name_space;
    std::string name;
    std::string role_kind;
    std::string role;
    std::string role_key;  // in roles_
    std::vector<Subject> subjects;

    bool operator==(const Binding&) const = default;
  };
  using BindingPtr = std::shared_ptr<const Binding>;
  struct Role {
    std::vector<PolicyRule> rules;
    std::size_t texts = 0;  // in all of them together
  };
  using RolePtr = std::shared_ptr<const Role>;
  // A binding, and which of its subjects the user is.
  struct Found {
    BindingPtr binding;
    std::size_t subject = 0;
  };
  using Bindings = std::vector<Found>;  // sorted by name
  // What changes in by_subject_: by its key and the binding's name; no binding: removed. All
  // changes of a subject are made at once, since they copy its list.
  using Edits = std::map<std::string, std::map<std::string, Found>>;
  struct Prepared;
  struct Reply;

  // False if nothing changes that a decision could depend on.
  bool set_role(const std::string& key, const api::Object* object);
  bool set_binding(const std::string& key, const api::Object* object, Edits& edits);
  void apply(const Edits& edits);
  static Binding read_binding(const api::Object& object);
  // The keys of by_subject_.
  static std::string subject_key(std::string_view name_space, std::string_view kind,
                                 std::string_view name);
  static std::string subject_key(const Binding& binding, const Subject& subject);
  static std::string reason_of(const Binding& binding, const Subject& subject);

  const Role* role_of(const Found& found) const;
  std::vector<const Role*> roles_of(const Bindings& theirs) const;
  // Visits the bindings in the namespace of the user and of each group: (key in by_subject_, list).
  template <typename Visit>
  void each_subject(const api::User& user, std::string_view name_space, Visit&& visit) const;
  std::vector<const Found*> bindings_of(const api::User& user, std::string_view name_space) const;
  void ask(const std::string& who, const Bindings& theirs, const Attributes& asked,
           Reply& reply) const;
  static void ask_each(const Bindings& theirs, const std::vector<const Role*>& roles,
                       const Attributes& asked, Reply& reply);
  std::shared_ptr<const Prepared> prepare(const std::string& who, const Bindings& theirs,
                                          std::size_t& work) const;

  // By "namespace/name", "/name" at the cluster scope.
  SharedMap<RolePtr> roles_;
  SharedMap<BindingPtr> bindings_;
  // By namespace and subject: a request needs those of one user, among any number of others.
  SharedMap<std::shared_ptr<const Bindings>> by_subject_;
  // When something changed in a namespace, by its hash; the cluster scope is the one without a
  // name. No two versions get the same number for their changes.
  std::vector<std::int64_t> stamps_;
  // By the key in by_subject_. All versions share it: most changes leave most of it valid.
  std::shared_ptr<StampedCache<Prepared>> prepared_;
};

}  // namespace muster::server
