#pragma once

#include <string>
#include <vector>

#include "app/data_dir.h"
#include "base/result.h"
#include "base/time.h"
#include "server/access/access.h"
#include "server/http/certificates.h"

// Keys and certificates of an installation. Without a data directory (null) new ones are made.
namespace muster::app {

// The authority of this installation: found in the data directory, or made and kept there.
Result<server::Credential> authority(const DataDir* data_dir, Time now);

// The server's certificate for every name under which a client may reach `listen_address`, and for
// `more_names`: host names and addresses.
Result<server::Credential> serving_certificate(const server::Credential& ca,
                                               const std::string& listen_address,
                                               const std::vector<std::string>& more_names,
                                               Time now);

// Whether a text is an IPv4 or IPv6 address.
bool is_address(const std::string& text);
// Whether only programs on this machine can reach a listener on the address.
bool is_loopback(const std::string& address);

// The key that signs ServiceAccount tokens: kept like the authority, so that tokens outlive a
// restart.
Result<server::TokenKey> token_key(const DataDir* data_dir);

}  // namespace muster::app
