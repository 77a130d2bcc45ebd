#include "client/request_metrics.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::client {
namespace {

TEST(RequestMetrics, CountRequestsByTheMethodThatHttpHasForThem) {
  using api::Verb;
  for (const auto& [verb, method] :
       {std::pair{Verb::Get, "GET"}, std::pair{Verb::List, "GET"}, std::pair{Verb::Watch, "GET"},
        std::pair{Verb::Create, "POST"}, std::pair{Verb::Update, "PUT"},
        std::pair{Verb::Patch, "PATCH"}, std::pair{Verb::Delete, "DELETE"},
        std::pair{Verb::DeleteCollection, "DELETE"}})
    EXPECT_EQ(http_method(verb), method);
}

TEST(RequestMetrics, CountRequestsByCodeAndHost) {
  Metrics metrics;
  request_counter(metrics, "PUT", 409, "one:6443").add();
  request_counter(metrics, "PUT", 409, "two:6443").add(2);
  const std::string text = metrics.text();
  for (const char* line :
       {R"(rest_client_requests_total{code="409",host="one:6443",method="PUT"} 1)",
        R"(rest_client_requests_total{code="409",host="two:6443",method="PUT"} 2)"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

}  // namespace
}  // namespace muster::client
