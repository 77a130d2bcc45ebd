#pragma once

#include <string>
#include <string_view>

#include "api/request.h"
#include "base/metrics.h"

// How requests of components count: rest_client_requests_total, as in Kubernetes' own clients.
namespace muster::client {

std::string_view http_method(api::Verb verb);

// Requests of this method that the host answered with this code.
Counter request_counter(Metrics& metrics, std::string_view method, int code,
                        const std::string& host);

}  // namespace muster::client
