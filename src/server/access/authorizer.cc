#include "server/access/authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace muster::server {
namespace {

// Where the four kinds stand in the store.
constexpr std::array<std::string_view, 4> kPrefixes = {"clusterroles/", "roles/",
                                                       "clusterrolebindings/", "rolebindings/"};

bool touches_roles(std::string_view key) {
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

Error forbidden(const api::User& user, const Attributes& asked, std::string_view reason) {
  const std::string why = reason.empty() ? "" : fmt::format(": {}", reason);
  if (!asked.is_resource)
    return make_error(Reason::Forbidden, R"(forbidden: User "{}" cannot {} path "{}"{})", user.name,
                      asked.verb, asked.path, why);
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
                 R"({} is forbidden: User "{}" cannot {} resource "{}" in API group "{}" {}{})",
                 subject, user.name, asked.verb, resource, asked.group, scope, why);
  error.name = asked.name;
  error.group = asked.group;
  error.kind = asked.resource;
  return error;
}

}  // namespace

bool is_master(const api::User& user) {
  return std::ranges::find(user.groups, "system:masters") != user.groups.end();
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

Authorizer::Authorizer(store::Store& store) : store_(store), news_(std::make_shared<News>()) {
  store.listen([news = news_](std::span<const store::Change> block) {
    bool touched = false;
    for (const store::Change& change : block) {
      if (!touches_roles(change.key)) continue;
      const std::lock_guard lock(news->mutex);
      const bool gone = change.type == store::Change::Type::Deleted;
      news->changes[std::string(change.key)] = gone ? nullptr : change.object;
      touched = true;
    }
    if (touched) news->generation.fetch_add(1);
  });
}

Roles::Changes Authorizer::pop_changes() const {
  const std::lock_guard lock(news_->mutex);
  return std::exchange(news_->changes, {});
}

std::shared_ptr<const Roles> Authorizer::roles() const {
  // Read before the changes: one that comes between is then seen by the next call too.
  const std::int64_t now = news_->generation.load();
  const std::lock_guard lock(mutex_);
  if (roles_ != nullptr && roles_as_of_ >= now) return roles_;
  Roles::Changes changes = pop_changes();
  if (roles_ == nullptr) {
    // The lists hold what the changes say, or something newer.
    const auto cluster_roles = store_.list(kPrefixes[0]);
    const auto roles = store_.list(kPrefixes[1]);
    const auto cluster_role_bindings = store_.list(kPrefixes[2]);
    const auto role_bindings = store_.list(kPrefixes[3]);
    roles_ = std::make_shared<const Roles>(
        Roles::Objects{.cluster_roles = cluster_roles.objects,
                       .roles = roles.objects,
                       .cluster_role_bindings = cluster_role_bindings.objects,
                       .role_bindings = role_bindings.objects});
  } else {
    roles_ = std::make_shared<const Roles>(*roles_, changes);
  }
  roles_as_of_ = now;
  return roles_;
}

AccessDecision Authorizer::judge(const api::User& user, const Attributes& asked) const {
  if (is_master(user)) return {.allowed = true, .reason = ""};
  return roles()->judge(user, asked);
}

Result<void> Authorizer::authorize(const api::User& user, const Attributes& asked) const {
  if (is_master(user)) return {};
  for (const Attributes& right : needed_rights(asked))
    if (const AccessDecision decision = judge(user, right); !decision.allowed)
      return fail(forbidden(user, right, decision.reason));
  return {};
}

}  // namespace muster::server
