#include "server/core/bootstrap/client_authority.h"

#include "server/core/bootstrap/config_map.h"

namespace muster::server {

void publish_client_authority(Registry& registry, const store::Store& store,
                              const std::string& certificate, Time now) {
  publish_config_map(registry, store,
                     {.name_space = "kube-system", .name = "extension-apiserver-authentication"},
                     {{"client-ca-file", certificate}}, now);
}

}  // namespace muster::server
