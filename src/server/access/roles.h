#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "server/access/attributes.h"

// Role-based access control: what roles say, whom bindings give them (wire.md 6.3). Purely
// additive; there is no "deny".
namespace muster::server {

struct PolicyRule {
  std::vector<std::string> verbs = {};
  std::vector<std::string> api_groups = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};
  std::vector<std::string> non_resource_urls = {};
};

bool covers(const PolicyRule& rule, const Attributes& asked);

struct Verdict {
  bool allowed = false;
  // Which binding allows it; or, if not allowed, which bindings name a role that does not exist.
  std::string reason = {};
};

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

  Verdict judge(const api::User& user, const Attributes& asked) const;
  // Everything the user may do in the namespace and at the cluster scope.
  std::vector<PolicyRule> rules_for(const api::User& user, std::string_view name_space) const;

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
  using RoleKey = std::pair<std::string, std::string>;  // namespace ("" for cluster roles), name

  static Binding read_binding(const api::Object& object);
  static const Subject* subject_of(const Binding& binding, const api::User& user);
  const std::vector<PolicyRule>* rules_of(const Binding& binding) const;
  static std::string told(const Binding& binding, const Subject& subject);
  template <typename Visit>
  void each_binding(const api::User& user, std::string_view name_space, Visit&& visit) const;

  std::map<RoleKey, std::vector<PolicyRule>> roles_;
  std::vector<Binding> cluster_bindings_;
  std::map<std::string, std::vector<Binding>, std::less<>> bindings_;  // by namespace
};

}  // namespace muster::server
