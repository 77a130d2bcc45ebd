#include "api/schema/tables.h"

// rbac, authentication and authorization. tables.h explains the notation.
namespace muster::api::schema {

const Table kRbacV1{"rbac/v1", R"(
AggregationRule
  1  clusterRoleSelectors  []meta.LabelSelector

ClusterRole object
  1  metadata         meta.ObjectMeta   always
  2  rules            []PolicyRule
  3  aggregationRule  *AggregationRule

ClusterRoleBinding object
  1  metadata  meta.ObjectMeta  always
  2  subjects  []Subject
  3  roleRef   RoleRef          required always atomic

ClusterRoleBindingList object
  1  metadata  meta.ListMeta         always
  2  items     []ClusterRoleBinding  required

ClusterRoleList object
  1  metadata  meta.ListMeta  always
  2  items     []ClusterRole  required

PolicyRule
  1  verbs            []string  required
  2  apiGroups        []string
  3  resources        []string
  4  resourceNames    []string
  5  nonResourceURLs  []string

Role object
  1  metadata  meta.ObjectMeta  always
  2  rules     []PolicyRule

RoleBinding object
  1  metadata  meta.ObjectMeta  always
  2  subjects  []Subject
  3  roleRef   RoleRef          required always atomic

RoleBindingList object
  1  metadata  meta.ListMeta  always
  2  items     []RoleBinding  required

RoleList object
  1  metadata  meta.ListMeta  always
  2  items     []Role         required

RoleRef
  1  apiGroup  string  always default="rbac.authorization.k8s.io"
  2  kind      string  required always
  3  name      string  required always

Subject
  1  kind       string  required always
  2  apiGroup   string
  3  name       string  required always
  4  namespace  string
)"};

const Table kAuthenticationV1{"authentication/v1", R"(
AttestationValue
  1  items  []string  inline

BoundObjectReference
  1  kind        string
  2  apiVersion  string
  3  name        string
  4  uid         string

ExtraValue
  1  items  []string  inline

SelfSubjectReview object
  1  metadata  meta.ObjectMeta          always
  2  status    SelfSubjectReviewStatus  always

SelfSubjectReviewStatus
  1  userInfo  UserInfo  always

TokenRequest object
  1  metadata  meta.ObjectMeta     always
  2  spec      TokenRequestSpec    always
  3  status    TokenRequestStatus  always

TokenRequestSpec
  1  audiences          []string
  3  boundObjectRef     *BoundObjectReference
  4  expirationSeconds  *int64                 default=3600
  5  attestations       {}AttestationValue

TokenRequestStatus
  1  token                string  always
  2  expirationTimestamp  Time    always

TokenReview object
  1  metadata  meta.ObjectMeta    always
  2  spec      TokenReviewSpec    always
  3  status    TokenReviewStatus  always

TokenReviewSpec
  1  token      string    required
  2  audiences  []string

TokenReviewStatus
  1  authenticated  bool
  2  user           UserInfo  always
  3  error          string
  4  audiences      []string

UserInfo
  1  username  string
  2  uid       string
  3  groups    []string
  4  extra     {}ExtraValue
)"};

const Table kAuthorizationV1{"authorization/v1", R"(
ExtraValue
  1  items  []string  inline

FieldSelectorAttributes
  1  rawSelector   string
  2  requirements  []meta.FieldSelectorRequirement

LabelSelectorAttributes
  1  rawSelector   string
  2  requirements  []meta.LabelSelectorRequirement

LocalSubjectAccessReview object
  1  metadata  meta.ObjectMeta            always
  2  spec      SubjectAccessReviewSpec    always
  3  status    SubjectAccessReviewStatus  always

NonResourceAttributes
  1  path  string
  2  verb  string

NonResourceRule
  1  verbs            []string  required
  2  nonResourceURLs  []string

ResourceAttributes
  1  namespace      string
  2  verb           string
  3  group          string
  4  version        string
  5  resource       string
  6  subresource    string
  7  name           string
  8  fieldSelector  *FieldSelectorAttributes
  9  labelSelector  *LabelSelectorAttributes

ResourceRule
  1  verbs          []string  required
  2  apiGroups      []string
  3  resources      []string
  4  resourceNames  []string

SelfSubjectAccessReview object
  1  metadata  meta.ObjectMeta              always
  2  spec      SelfSubjectAccessReviewSpec  always
  3  status    SubjectAccessReviewStatus    always

SelfSubjectAccessReviewSpec
  1  resourceAttributes     *ResourceAttributes
  2  nonResourceAttributes  *NonResourceAttributes

SelfSubjectRulesReview object
  1  metadata  meta.ObjectMeta             always
  2  spec      SelfSubjectRulesReviewSpec  always
  3  status    SubjectRulesReviewStatus    always

SelfSubjectRulesReviewSpec
  1  namespace  string

SubjectAccessReview object
  1  metadata  meta.ObjectMeta            always
  2  spec      SubjectAccessReviewSpec    always
  3  status    SubjectAccessReviewStatus  always

SubjectAccessReviewSpec
  1  resourceAttributes     *ResourceAttributes
  2  nonResourceAttributes  *NonResourceAttributes
  3  user                   string
  4  groups                 []string
  5  extra                  {}ExtraValue
  6  uid                    string

SubjectAccessReviewStatus
  1  allowed          bool    required always
  2  reason           string
  3  evaluationError  string
  4  denied           bool

SubjectRulesReviewStatus
  1  resourceRules     []ResourceRule     required
  2  nonResourceRules  []NonResourceRule  required
  3  incomplete        bool               required always
  4  evaluationError   string
)"};

}  // namespace muster::api::schema
