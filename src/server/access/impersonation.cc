#include "server/access/impersonation.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The right to a uid or to a value of an extra key.
Attributes right_to_detail(std::string resource, std::string key, std::string value) {
  Attributes out = right_to(std::move(resource), "", std::move(value));
  out.group = "authentication.k8s.io";
  out.subresource = std::move(key);
  return out;
}

void add_group(api::User& user, std::string group) {
  if (std::ranges::find(user.groups, group) == user.groups.end())
    user.groups.push_back(std::move(group));
}

}  // namespace

Result<Identity> impersonate(const Authorizer& authorizer, const api::User& real,
                             const Identity& wanted) {
  const std::string& user = wanted.user.name;
  const std::vector<std::string>& groups = wanted.user.groups;
  if (user.empty())
    return fail(Reason::BadRequest,
                "requested to act as a group, uid or extra value without impersonating a user: "
                "send Impersonate-User too");
  Identity out = wanted;
  if (user.starts_with(kServiceAccount)) {
    const std::string rest = user.substr(kServiceAccount.size());
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string name_space = rest.substr(0, colon);
    TRY(authorizer.authorize(real, right_to("serviceaccounts", name_space,
                                            rest.substr(std::min(colon + 1, rest.size())))));
    if (groups.empty()) {
      add_group(out.user, "system:serviceaccounts");
      add_group(out.user, "system:serviceaccounts:" + name_space);
    }
  } else {
    TRY(authorizer.authorize(real, right_to("users", "", user)));
  }
  for (const std::string& group : groups)
    TRY(authorizer.authorize(real, right_to("groups", "", group)));
  if (!wanted.uid.empty()) TRY(authorizer.authorize(real, right_to_detail("uids", "", wanted.uid)));
  for (const auto& [key, values] : wanted.extra)
    for (const std::string& value : values)
      TRY(authorizer.authorize(real, right_to_detail("userextras", key, value)));
  const bool nobody = user == "system:anonymous" ||
                      std::ranges::find(groups, "system:unauthenticated") != groups.end();
  add_group(out.user, nobody ? "system:unauthenticated" : "system:authenticated");
  return out;
}

}  // namespace muster::server
