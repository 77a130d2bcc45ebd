#include "client/request_metrics.h"

namespace muster::client {

std::string_view http_method(api::Verb verb) {
  switch (verb) {
    case api::Verb::Create: return "POST";
    case api::Verb::Update: return "PUT";
    case api::Verb::Patch: return "PATCH";
    case api::Verb::Delete:
    case api::Verb::DeleteCollection: return "DELETE";
    default: return "GET";
  }
}

Counter request_counter(Metrics& metrics, std::string_view method, int code,
                        const std::string& host) {
  return metrics.counter(
      "rest_client_requests_total",
      "Number of HTTP requests, partitioned by status code, method, and host.",
      {{"code", std::to_string(code)}, {"host", host}, {"method", std::string(method)}});
}

}  // namespace muster::client
