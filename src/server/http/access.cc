#include "server/http/access.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace muster::server {
namespace {

bool is_member(const api::User& user, std::string_view group) {
  return std::ranges::find(user.groups, group) != user.groups.end();
}

// ClusterRole system:public-info-viewer.
bool is_public(const Attributes& asked) {
  constexpr std::array<std::string_view, 5> kPaths = {"/healthz", "/livez", "/readyz", "/version",
                                                      "/version/"};
  return !asked.is_resource && asked.verb == "get" &&
         std::ranges::find(kPaths, asked.path) != kPaths.end();
}

// ClusterRole system:discovery.
bool is_discovery(const Attributes& asked) {
  if (asked.is_resource || asked.verb != "get") return false;
  constexpr std::array<std::string_view, 3> kRoots = {"/api", "/apis", "/openapi"};
  return std::ranges::any_of(kRoots, [&](std::string_view root) {
    return asked.path.starts_with(root) &&
           (asked.path.size() == root.size() || asked.path[root.size()] == '/');
  });
}

// ClusterRole system:basic-user: anybody may ask what they themselves may do.
bool is_self_review(const Attributes& asked) {
  constexpr std::array<std::string_view, 3> kReviews = {
      "selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"};
  return asked.is_resource && asked.verb == "create" &&
         std::ranges::find(kReviews, asked.resource) != kReviews.end();
}

Error forbidden(const api::User& user, const Attributes& asked) {
  if (!asked.is_resource)
    return make_error(Reason::Forbidden, R"(forbidden: User "{}" cannot {} path "{}")", user.name,
                      asked.verb, asked.path);
  const std::string qualified =
      asked.group.empty() ? asked.resource : asked.resource + "." + asked.group;
  const std::string subject =
      asked.name.empty() ? qualified : fmt::format(R"({} "{}")", qualified, asked.name);
  const std::string resource =
      asked.subresource.empty() ? asked.resource : asked.resource + "/" + asked.subresource;
  const std::string scope = asked.name_space.empty()
                                ? "at the cluster scope"
                                : fmt::format(R"(in the namespace "{}")", asked.name_space);
  Error error =
      make_error(Reason::Forbidden,
                 R"({} is forbidden: User "{}" cannot {} resource "{}" in API group "{}" {})",
                 subject, user.name, asked.verb, resource, asked.group, scope);
  error.name = asked.name;
  error.group = asked.group;
  error.kind = asked.resource;
  return error;
}

Result<void> authorize_one(const api::User& user, const Attributes& asked) {
  if (is_public(asked) || is_member(user, "system:masters")) return {};
  if (is_member(user, "system:authenticated") && (is_discovery(asked) || is_self_review(asked)))
    return {};
  return fail(forbidden(user, asked));
}

}  // namespace

Result<api::User> authenticate(const PeerCertificate& certificate, const HttpRequest& request) {
  if (certificate.state == PeerCertificate::State::Invalid || !request.authorization.empty())
    return fail(Reason::Unauthorized, "Unauthorized");
  if (certificate.state == PeerCertificate::State::None)
    return api::User{.name = "system:anonymous", .groups = {"system:unauthenticated"}};
  api::User user{.name = certificate.common_name, .groups = certificate.organizations};
  user.groups.emplace_back("system:authenticated");
  return user;
}

std::vector<Attributes> needed_rights(const Attributes& asked) {
  std::vector<Attributes> needed{asked};
  if (asked.is_resource && asked.verb == "create" && asked.group == "scheduling.muster.dev" &&
      asked.resource == "groupbindings") {
    Attributes binding = asked;
    binding.group.clear();
    binding.version = "v1";
    binding.resource = "pods";
    binding.subresource = "binding";
    needed.push_back(std::move(binding));
  }
  return needed;
}

Result<void> authorize(const api::User& user, const Attributes& asked) {
  for (const Attributes& right : needed_rights(asked)) TRY(authorize_one(user, right));
  return {};
}

}  // namespace muster::server
