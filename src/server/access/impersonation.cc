#include "server/access/impersonation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace muster::server {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

Attributes right_to(std::string resource, std::string name_space, std::string name) {
  return {.is_resource = true,
          .verb = "impersonate",
          .version = "v1",
          .resource = std::move(resource),
          .name_space = std::move(name_space),
          .name = std::move(name)};
}

void add_group(api::User& user, std::string group) {
  if (std::ranges::find(user.groups, group) == user.groups.end())
    user.groups.push_back(std::move(group));
}

}  // namespace

Result<api::User> impersonate(const Authorizer& authorizer, const api::User& real,
                              const std::string& user, const std::vector<std::string>& groups) {
  if (user.empty())
    return fail(Reason::BadRequest,
                "requested {} without impersonating a user: send Impersonate-User too",
                fmt::join(groups, ", "));
  api::User out{.name = user, .groups = groups};
  if (user.starts_with(kServiceAccount)) {
    const std::string rest = user.substr(kServiceAccount.size());
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string name_space = rest.substr(0, colon);
    TRY(authorizer.authorize(real, right_to("serviceaccounts", name_space,
                                            rest.substr(std::min(colon + 1, rest.size())))));
    if (groups.empty()) {
      add_group(out, "system:serviceaccounts");
      add_group(out, "system:serviceaccounts:" + name_space);
    }
  } else {
    TRY(authorizer.authorize(real, right_to("users", "", user)));
  }
  for (const std::string& group : groups)
    TRY(authorizer.authorize(real, right_to("groups", "", group)));
  add_group(out, user == "system:anonymous" ? "system:unauthenticated" : "system:authenticated");
  return out;
}

}  // namespace muster::server
