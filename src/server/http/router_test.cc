#include "server/http/router.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::server {
namespace {

HttpRequest request(std::string method, std::string target) {
  HttpRequest out;
  out.method = method == "GET"      ? Method::Get
               : method == "HEAD"   ? Method::Head
               : method == "POST"   ? Method::Post
               : method == "PUT"    ? Method::Put
               : method == "PATCH"  ? Method::Patch
               : method == "DELETE" ? Method::Delete
                                    : Method::Other;
  out.method_name = std::move(method);
  out.target = std::move(target);
  return out;
}

// "verb plural ns/name/sub", or what else the route came to.
std::string told(const std::string& method, const std::string& target) {
  const auto routed = route(request(method, target));
  if (!routed) return fmt::format("{}", http_code(routed.error().reason));
  if (routed->error) return fmt::format("{}", http_code(routed->error->reason));
  if (routed->endpoint == Endpoint::Unknown) return "page not found";
  if (routed->endpoint != Endpoint::Resource)
    return fmt::format("endpoint {} {}{}", static_cast<int>(routed->endpoint), routed->key,
                       routed->check.empty() ? "" : ":" + routed->check);
  const api::Request& asked = routed->request;
  return fmt::format("{} {} {}/{}/{}", routed->attributes.verb, asked.kind->plural,
                     asked.name_space, asked.name, asked.subresource);
}

TEST(Router, FindsResources) {
  struct Case {
    std::string method, target, want;
  };
  const Case cases[] = {
      {"GET", "/api/v1/pods", "list pods //"},
      {"GET", "/api/v1/pods?watch=true", "watch pods //"},
      {"GET", "/api/v1/pods?watch=1&limit=3", "watch pods //"},
      {"GET", "/api/v1/pods?watch", "watch pods //"},
      {"GET", "/api/v1/pods?watch=false", "list pods //"},
      {"GET", "/api/v1/pods?watch=0", "list pods //"},
      {"GET", "/api/v1/namespaces/default/pods", "list pods default//"},
      {"GET", "/api/v1/namespaces/default/pods/", "list pods default//"},
      {"GET", "/api/v1/namespaces/default/pods/web", "get pods default/web/"},
      {"GET", "/api/v1/namespaces/default/pods/web?watch=true", "get pods default/web/"},
      {"GET", "/api/v1/namespaces/default/pods/web/status", "get pods default/web/status"},
      {"POST", "/api/v1/namespaces/default/pods", "create pods default//"},
      {"POST", "/api/v1/namespaces/default/pods/web/binding", "create pods default/web/binding"},
      {"PUT", "/api/v1/namespaces/default/pods/web", "update pods default/web/"},
      {"PATCH", "/api/v1/namespaces/default/pods/web/status", "patch pods default/web/status"},
      {"DELETE", "/api/v1/namespaces/default/pods/web", "delete pods default/web/"},
      {"DELETE", "/api/v1/namespaces/default/pods", "deletecollection pods default//"},
      {"GET", "/api/v1/nodes/n%31", "get nodes /n1/"},
      {"POST", "/apis/scheduling.muster.dev/v1alpha1/namespaces/lab/groupbindings",
       "create groupbindings lab//"},
      {"GET", "/apis/scheduling.muster.dev/v1alpha1/namespaces/lab/groupbindings", "405"},
      {"GET", "/apis/scheduling.muster.dev/v1alpha1/groupbindings?watch=1", "405"},
      {"GET", "/apis/scheduling.muster.dev/v1alpha1/namespaces/lab/groupbindings/x", "405"},
      {"DELETE", "/apis/scheduling.muster.dev/v1alpha1/namespaces/lab/groupbindings", "405"},
      {"GET", "/api/v1/namespaces", "list namespaces //"},
      {"GET", "/api/v1/namespaces/default", "get namespaces /default/"},
      {"GET", "/api/v1/namespaces/default/status", "get namespaces /default/status"},
      {"PUT", "/api/v1/namespaces/default/finalize", "update namespaces /default/finalize"},
      {"GET", "/apis/scheduling.k8s.io/v1/priorityclasses", "list priorityclasses //"},
      {"GET", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "get leases a/b/"},
      {"GET", "https://127.0.0.1:6443/api/v1/pods", "list pods //"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(told(c.method, c.target), c.want) << c.method << " " << c.target;
}

TEST(Router, TellsWhatIsMissingFromWhatIsForbiddenByMethod) {
  struct Case {
    std::string method, target, want;
  };
  const Case cases[] = {
      {"GET", "/api/v1/unicorns", "404"},
      {"GET", "/api/v1/pods/web", "404"},  // a namespaced kind by name needs its namespace
      {"GET", "/api/v1/namespaces/default/nodes", "404"},  // a cluster kind is in none
      {"GET", "/api/v1/namespaces/default/pods/web/soup", "404"},
      {"POST", "/api/v1/pods", "405"},
      {"DELETE", "/api/v1/pods", "405"},
      {"DELETE", "/api/v1/namespaces", "405"},
      {"POST", "/api/v1/namespaces/default/pods/web", "405"},
      {"PUT", "/api/v1/namespaces/default/pods", "405"},
      {"GET", "/api/v1/namespaces/default/pods/web/binding", "405"},
      {"HEAD", "/api/v1/namespaces/default/pods/web", "405"},
      {"OPTIONS", "/api/v1/namespaces/default/pods/web", "405"},
      {"POST", "/version", "405"},
      {"GET", "/api/v2/pods", "page not found"},
      {"GET", "/apis/unicorns.example.com/v1/horns", "page not found"},
      {"GET", "/apis/unicorns.example.com", "page not found"},
      {"GET", "/console", "page not found"},
      {"GET", "/api/v1/pods%2", "400"},
      {"GET", "*", "400"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(told(c.method, c.target), c.want) << c.method << " " << c.target;
}

TEST(Router, FindsOnlyWhatIsServed) {
  const std::vector<const api::Kind*> served{&api::kinds::pod()};
  EXPECT_FALSE(route(request("GET", "/api/v1/pods"), served)->error);
  const Route hidden = route(request("GET", "/api/v1/nodes"), served).value();
  ASSERT_TRUE(hidden.error);
  EXPECT_EQ(hidden.error->reason, Reason::NotFound);
  EXPECT_EQ(hidden.request.kind, nullptr);
  EXPECT_EQ(route(request("GET", "/apis/batch/v1/jobs"), served)->endpoint, Endpoint::Unknown);
}

TEST(Router, FindsOtherEndpoints) {
  const auto endpoint = [](const std::string& target) {
    return route(request("GET", target))->endpoint;
  };
  EXPECT_EQ(endpoint("/"), Endpoint::Index);
  EXPECT_EQ(endpoint("/version"), Endpoint::Version);
  EXPECT_EQ(endpoint("/version/?timeout=32s"), Endpoint::Version);
  EXPECT_EQ(endpoint("/api?timeout=32s"), Endpoint::CoreVersions);
  EXPECT_EQ(endpoint("/apis"), Endpoint::Groups);
  EXPECT_EQ(endpoint("/api/v1"), Endpoint::GroupVersion);
  EXPECT_EQ(endpoint("/apis/scheduling.k8s.io"), Endpoint::Group);
  EXPECT_EQ(endpoint("/apis/scheduling.k8s.io/v1"), Endpoint::GroupVersion);
  EXPECT_EQ(endpoint("/openapi/v2"), Endpoint::OpenApiV2);
  EXPECT_EQ(endpoint("/metrics"), Endpoint::Metrics);
  const Route document = route(request("GET", "/openapi/v3/apis/batch/v1?hash=AB")).value();
  EXPECT_EQ(document.endpoint, Endpoint::OpenApiV3);
  EXPECT_EQ(document.key, "apis/batch/v1");
  const Route check = route(request("GET", "/readyz/poststarthook/x")).value();
  EXPECT_EQ(check.endpoint, Endpoint::Health);
  EXPECT_EQ(check.key, "readyz");
  EXPECT_EQ(check.check, "poststarthook/x");
}

TEST(Router, DescribesARequestForAuthorizationEvenIfTheResourceDoesNotExist) {
  const Route routed =
      route(request("DELETE", "/apis/unicorns.example.com/v1/namespaces/a/horns/b/tip")).value();
  EXPECT_TRUE(routed.attributes.is_resource);
  EXPECT_EQ(routed.attributes.verb, "delete");
  EXPECT_EQ(routed.attributes.group, "unicorns.example.com");
  EXPECT_EQ(routed.attributes.resource, "horns");
  EXPECT_EQ(routed.attributes.subresource, "tip");
  EXPECT_EQ(routed.attributes.name_space, "a");
  EXPECT_EQ(routed.attributes.name, "b");
}

TEST(Query, DecodesAndDropsWhatIsMalformed) {
  const Query query("a=1&b=x%3Dy+z&a=2&broken=%zz&flag&=nothing&semi;colon=1&off=FALSE");
  EXPECT_EQ(query.text("a"), "1");
  EXPECT_EQ(query.all("a"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(query.text("b"), "x=y z");
  EXPECT_EQ(query.find("broken"), nullptr);
  EXPECT_TRUE(query.flag("flag"));
  EXPECT_FALSE(query.flag("off"));
  EXPECT_FALSE(query.flag("absent"));
  EXPECT_EQ(percent_decode("a%2", false), std::nullopt);
  EXPECT_EQ(percent_decode("a+b", false), "a+b");
}

TEST(Router, FindsTheEndpointsOfIdentityAndHealth) {
  const auto endpoint = [](const std::string& method, const std::string& target) {
    const Route found = route(request(method, target)).value();
    return found.error ? "405" : std::to_string(static_cast<int>(found.endpoint)) + found.key;
  };
  const auto number = [](Endpoint what) { return std::to_string(static_cast<int>(what)); };
  EXPECT_EQ(endpoint("GET", "/.well-known/openid-configuration"),
            number(Endpoint::OpenIdConfiguration));
  EXPECT_EQ(endpoint("GET", "/openid/v1/jwks"), number(Endpoint::OpenIdKeys));
  EXPECT_EQ(endpoint("GET", "/openapi/v3"), number(Endpoint::OpenApiV3));
  EXPECT_EQ(endpoint("GET", "/openapi/v3/api/v1/"), number(Endpoint::OpenApiV3) + "api/v1");
  for (const std::string health : {"healthz", "livez", "readyz"}) {
    EXPECT_EQ(endpoint("GET", "/" + health), number(Endpoint::Health) + health);
    EXPECT_EQ(endpoint("HEAD", "/" + health), number(Endpoint::Health) + health);
    EXPECT_EQ(endpoint("POST", "/" + health), "405");
  }
  EXPECT_EQ(endpoint("HEAD", "/version"), "405");
  EXPECT_EQ(endpoint("GET", "https://host"), number(Endpoint::Index));
  EXPECT_EQ(endpoint("GET", "//api//v1/"), number(Endpoint::GroupVersion));
  for (const char* unknown :
       {"/version/x", "/metrics/x", "/openapi", "/openapi/v2/x", "/openapi/v4", "/openid/v1",
        "/openid/v2/jwks", "/openid/v1/keys", "/openid/v1/jwks/x", "/.well-known", "/.well-known/x",
        "/.well-known/openid-configuration/x", "/health", "/x://version",
        "/apis/scheduling.k8s.io/v9", "/api/v9"})
    EXPECT_EQ(endpoint("GET", unknown), number(Endpoint::Unknown)) << unknown;
}

// Who may not look at a path is refused by these words, whatever there is.
TEST(Router, NamesTheVerbThatIsAuthorized) {
  struct Case {
    std::string method, target, verb;
  };
  for (const Case& test : {Case{"GET", "/version", "get"},
                           {"POST", "/version", "post"},
                           {"HEAD", "/api/v1/nodes/n", "get"},
                           {"HEAD", "/api/v1/nodes", "list"},
                           {"HEAD", "/api/v1/nodes?watch=1", "watch"},
                           {"POST", "/api/v1/nodes", "create"},
                           {"PUT", "/api/v1/nodes/n", "update"},
                           {"PATCH", "/api/v1/nodes/n", "patch"},
                           {"DELETE", "/api/v1/nodes/n", "delete"},
                           {"DELETE", "/api/v1/nodes", "deletecollection"},
                           {"OPTIONS", "/api/v1/nodes", ""},
                           {"GET", "/api/v9/nodes", "list"}})
    EXPECT_EQ(route(request(test.method, test.target))->attributes.verb, test.verb)
        << test.method << " " << test.target;
}

TEST(Router, TheRequestSaysWhatThePathSays) {
  const api::Request status =
      route(request("PATCH", "/api/v1/namespaces/a/pods/b/status"))->request;
  EXPECT_EQ(status.verb, api::Verb::Patch);
  EXPECT_EQ(status.version, "v1");
  EXPECT_EQ(route(request("GET", "/api/v1/nodes?watch=1"))->request.verb, api::Verb::Watch);
  EXPECT_EQ(route(request("DELETE", "/api/v1/namespaces/a/pods"))->request.verb,
            api::Verb::DeleteCollection);
  EXPECT_EQ(route(request("GET", "/api/v1/unicorns"))->error->message,
            "the server could not find the requested resource");
  EXPECT_EQ(route(request("POST", "/api/v1/pods"))->error->message,
            "the server does not allow this method on the requested resource");
  EXPECT_EQ(route(request("GET", "/%")).error().message,
            "invalid URL escape or path in the request");
  EXPECT_EQ(told("GET", "/apis/apps/v1/namespaces/a/status"), "404")
      << "namespaces are no part of that group";
}

TEST(Query, DecodesHexDigitsOfBothCasesAndNothingElse) {
  EXPECT_EQ(percent_decode("%4a%4A%4f%4F%30%39", false), "JJOO09");
  for (const char* text : {"%", "%4", "%4g", "%g4", "%4G", "%4/", "%4:", "%4@", "%4`"})
    EXPECT_EQ(percent_decode(text, false), std::nullopt) << text;
  EXPECT_EQ(percent_decode("a+b%2B", true), "a b+");
}

TEST(Query, KnowsFlagsAndItsMemory) {
  const Query query("a=0&b=False&c=no&d=&e=00&f=fals");
  for (const char* off : {"a", "b", "z"}) EXPECT_FALSE(query.flag(off)) << off;
  for (const char* on : {"c", "d", "e", "f"}) EXPECT_TRUE(query.flag(on)) << on;
  EXPECT_EQ(Query("").held_bytes(), 0U);
  const std::size_t one = Query("a=1").held_bytes();
  EXPECT_EQ(Query("a=12345").held_bytes(), one + 4);
  EXPECT_EQ(Query("a=1&&b=2").held_bytes(), 2 * one);
  EXPECT_EQ(Query("a=1&b").held_bytes(), 2 * one - 1);
}

}  // namespace
}  // namespace muster::server
