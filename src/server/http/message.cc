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

std::size_t HttpRequest::head_bytes() const {
  std::size_t bytes = 0;
  for (const std::string* text :
       {&method_name, &target, &host, &accept, &accept_encoding, &authorization, &content_type,
        &if_none_match, &user_agent, &impersonate_user, &impersonate_uid})
    bytes += text->size();
  for (const std::string& group : impersonate_groups) bytes += sizeof(std::string) + group.size();
  for (const auto& extra : impersonate_extra)
    bytes += sizeof(extra) + extra.first.size() + extra.second.size();
  return bytes;
}

}  // namespace muster::server
