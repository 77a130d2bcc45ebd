#pragma once

#include <vector>

#include "api/object.h"
#include "base/result.h"
#include "client/https/https_client.h"

namespace muster::client {

// All objects of a kind as they are now, by a reflector that is used once: one stream where the
// server supports it, otherwise page by page. Blocks. Asks for the versions of the kind in turn
// until the server serves one; NotFound if it serves none.
Result<std::vector<api::ObjectPtr>> read_once(HttpsClient& client, const api::Kind& kind,
                                              const Projection& project);

}  // namespace muster::client
