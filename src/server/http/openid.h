#pragma once

#include <string_view>

#include "server/access/token.h"
#include "server/http/message.h"
#include "server/http/router.h"

namespace muster::server {

// What others need to check our ServiceAccount tokens: who issues them, and the key they are signed
// with (OpenID Connect Discovery). `host` is where the client found us; without a key
// there is no such page.
HttpResponse answer_openid(Endpoint endpoint, const TokenKey* key, std::string_view host);

}  // namespace muster::server
