#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

// Questions in the shape of objects: answered, never kept.
std::vector<Kind> access_kinds() {
  constexpr GroupVersion kAuthentication{
      .group = "authentication.k8s.io", .version = "v1", .package = "authentication/v1"};
  constexpr GroupVersion kAuthorization{
      .group = "authorization.k8s.io", .version = "v1", .package = "authorization/v1"};
  std::vector<Kind> kinds{
      plain_kind(kAuthentication, "SelfSubjectReview", "selfsubjectreviews"),
      plain_kind(kAuthentication, "TokenReview", "tokenreviews"),
      plain_kind(kAuthorization, "LocalSubjectAccessReview", "localsubjectaccessreviews"),
      plain_kind(kAuthorization, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
      plain_kind(kAuthorization, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
      plain_kind(kAuthorization, "SubjectAccessReview", "subjectaccessreviews")};
  for (Kind& kind : kinds) {
    kind.namespaced = kind.kind.starts_with("Local");
    kind.stored = false;
  }
  return kinds;
}

}  // namespace muster::api::kinds
