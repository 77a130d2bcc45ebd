#include "server/http/message.h"

namespace muster::server {

void HttpRequest::add_impersonation(std::string_view name, std::string_view value) {
  constexpr std::string_view kExtra = "impersonate-extra-";
  if (name == "impersonate-user")
    impersonate_user = value;
  else if (name == "impersonate-uid")
    impersonate_uid = value;
  else if (name == "impersonate-group")
    impersonate_groups.emplace_back(value);
  else if (name.starts_with(kExtra))
    impersonate_extra.emplace_back(name.substr(kExtra.size()), value);
}

}  // namespace muster::server
