#pragma once

#include <optional>
#include <string_view>

#include "api/request.h"
#include "base/result.h"
#include "server/core/strategies/document.h"
#include "server/core/write/context.h"

namespace muster::server {

// Gives a new pod what its ServiceAccount decides: the name `default` if it names none, the volume
// with the account's token in every container unless account or pod decline it, the account's
// imagePullSecrets if the pod has none. Forbidden if the account does not exist. A mirror pod stays
// as the kubelet wrote it, and may use no account.
Result<void> admit_service_account(Context& context, const api::Request& request, Json& pod);

// Writes the account that pods of a new namespace use, together with the namespace: as soon as a
// client sees the namespace it can create pods in it. Nullopt if there is one.
std::optional<store::Write> default_account(Context& context, std::string_view name_space);

}  // namespace muster::server
