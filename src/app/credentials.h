#pragma once

#include <string>

#include "app/data_dir.h"
#include "base/result.h"
#include "base/time.h"
#include "server/access/access.h"
#include "server/http/certificates.h"

// Keys and certificates of an installation. Without a data directory (null) they are made afresh.
namespace muster::app {

// The authority of this installation: found in the data directory, or made and kept there.
Result<server::Credential> authority(const DataDir* data_dir, Time now);

// The server's certificate for every name by which a client may reach `listen_address`.
Result<server::Credential> serving_certificate(const server::Credential& ca,
                                               const std::string& listen_address, Time now);

// The key that signs ServiceAccount tokens: kept like the authority, so that tokens outlive a
// restart.
Result<server::TokenKey> token_key(const DataDir* data_dir);

}  // namespace muster::app
