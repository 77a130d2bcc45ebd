#include "server/http/request_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::server {
namespace {

// "verb name", as authorization judges a GET.
std::string judged(const std::string& target) {
  HttpRequest request;
  request.method = Method::Get;
  request.method_name = "GET";
  request.target = target;
  const auto routed = route(request);
  if (!routed) return routed.error().message;
  const Attributes asked = attributes_judged(*routed);
  return asked.verb + " " + asked.name;
}

TEST(AttributesJudged, AListOrWatchOfOneNameIsAboutThatObject) {
  const std::string pods = "/api/v1/namespaces/ns/pods";
  struct Case {
    std::string query, want;
  };
  const Case cases[] = {
      {"?fieldSelector=metadata.name%3Dweb", "list web"},
      {"?watch=true&fieldSelector=metadata.name%3Dweb", "watch web"},
      {"?fieldSelector=metadata.name%3D%3Dweb", "list web"},
      {"?watch=true&fieldSelector=spec.nodeName%21%3D,metadata.name%3Dweb", "watch web"},
      {"?fieldSelector=metadata.name%21%3Dweb", "list "},
      {"?fieldSelector=spec.nodeName%3Dweb", "list "},
      {"?fieldSelector=metadata.name", "list "},
      {"?watch=true", "watch "},
      {"/db?fieldSelector=metadata.name%3Dweb", "get db"},
  };
  for (const Case& c : cases) EXPECT_EQ(judged(pods + c.query), c.want) << c.query;
}

}  // namespace
}  // namespace muster::server
