#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/request.h"

namespace muster::server {

// Who asks, with everything a credential tells. Requests carry the user alone: what is allowed goes
// by name and groups.
struct Identity {
  api::User user;
  std::string uid = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

}  // namespace muster::server
