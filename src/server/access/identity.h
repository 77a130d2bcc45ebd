#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/request.h"
#include "server/access/token.h"

namespace muster::server {

// Who asks, with everything a credential says. Requests carry only the user: rights depend on name
// and groups.
struct Identity {
  api::User user;
  std::string uid = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  std::shared_ptr<const TokenClaims> token = nullptr;  // null unless they came with one
};

inline constexpr std::string_view kAnonymous = "system:anonymous";
inline bool is_anonymous(const api::User& user) { return user.name == kAnonymous; }

}  // namespace muster::server
