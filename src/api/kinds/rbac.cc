#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

std::vector<Kind> rbac_kinds() {
  constexpr GroupVersion kRbacV1{
      .group = "rbac.authorization.k8s.io", .version = "v1", .package = "rbac/v1"};
  std::vector<Kind> kinds{plain_kind(kRbacV1, "ClusterRole", "clusterroles"),
                          plain_kind(kRbacV1, "ClusterRoleBinding", "clusterrolebindings"),
                          plain_kind(kRbacV1, "Role", "roles"),
                          plain_kind(kRbacV1, "RoleBinding", "rolebindings")};
  for (Kind& kind : kinds) {
    kind.namespaced = !kind.kind.starts_with("Cluster");
    kind.create_on_update = true;
  }
  return kinds;
}

}  // namespace muster::api::kinds
