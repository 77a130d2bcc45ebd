#pragma once

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
#include "server/access/shared_map.h"

// Role-based access control: what roles say, whom bindings give them. Purely
// additive; there is no "deny".
namespace muster::server {

struct PolicyRule {
  std::vector<std::string> verbs = {};
  std::vector<std::string> api_groups = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};
  std::vector<std::string> non_resource_urls = {};
};

// What the rules of a Role or ClusterRole say.
std::vector<PolicyRule> read_rules(const api::Json& role);

bool covers(const PolicyRule& rule, const Attributes& asked);

struct Verdict {
  bool allowed = false;
  // Which binding allows it; or, if not allowed, which bindings name a role that does not exist.
  std::string reason = {};
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

  Verdict judge(const api::User& user, const Attributes& asked) const;
  // Everything the user may do in the namespace and at the cluster scope.
  struct Held {
    std::vector<const PolicyRule*> rules = {};  // valid as long as the Roles
    // What is wrong with bindings of theirs, in upstream's words; empty: nothing.
    std::string errors = {};
  };
  Held held_by(const api::User& user, std::string_view name_space) const;
  // What the role says that a `role_kind` reference in the namespace means; null if there is none.
  const std::vector<PolicyRule>* find_role(std::string_view role_kind, std::string_view name_space,
                                           std::string_view name) const;

 private:
  struct Subject {
    std::string kind;
    std::string name_space;
    std::string name;
  };
  struct Binding {
    std::string kind;  // ClusterRoleBinding or RoleBinding
    std::string name_space;
    std::string name;
    std::string role_kind;
    std::string role;
    std::vector<Subject> subjects;
  };
  using BindingPtr = std::shared_ptr<const Binding>;
  using Rules = std::shared_ptr<const std::vector<PolicyRule>>;
  // A binding, and which of its subjects somebody is.
  struct Found {
    BindingPtr binding;
    std::size_t subject = 0;
  };
  using Bindings = std::map<std::string, Found>;  // by name

  void set_role(const std::string& key, const api::Object* object);
  void set_binding(const std::string& key, const api::Object* object);
  static Binding read_binding(const api::Object& object);
  static std::string subject_key(const Binding& binding, const Subject& subject);
  static std::string reason_of(const Binding& binding, const Subject& subject);
  std::vector<const Found*> bindings_of(const api::User& user, std::string_view name_space) const;
  template <typename Visit>
  void each_binding(const api::User& user, std::string_view name_space, Visit&& visit) const;

  // By "namespace/name", "/name" at the cluster scope.
  SharedMap<Rules> roles_;
  SharedMap<BindingPtr> bindings_;
  // By namespace and subject: a request asks for those of one user, among any number of others.
  SharedMap<Bindings> by_subject_;
};

}  // namespace muster::server
