#pragma once

#include <string>

namespace muster::server {

// What authorization judges. Judged before we know whether the resource exists: a user who may not
// ask does not learn what there is.
struct Attributes {
  bool is_resource = false;
  std::string verb = {};  // "list"; for other endpoints the method in lower case
  std::string group = {};
  std::string version = {};
  std::string resource = {};  // plural
  std::string subresource = {};
  std::string name_space = {};
  std::string name = {};
  std::string path = {};  // decoded
};

}  // namespace muster::server
