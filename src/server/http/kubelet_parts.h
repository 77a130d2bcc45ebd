#pragma once

#include "api/request.h"
#include "base/error.h"
#include "server/core/server.h"

// logs, exec, attach and port-forward are answered by the kubelet of a pod's node. We have none to
// ask, and say why.
namespace muster::server {

bool needs_kubelet(const api::Request& request);

// NotFound if there is no such pod, otherwise BadRequest: it is on no node yet, its node is pretend
// and has no containers, or its kubelet cannot be reached from here.
Error refuse_kubelet_part(const Server& server, const api::Request& request);

}  // namespace muster::server
