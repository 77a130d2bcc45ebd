#include "server/http/listener.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "api/json.h"
#include "server/core/read/paging.h"
#include "server/http/testing.h"

namespace muster::server {
namespace {

using testing::HttpReply;
using testing::Site;
using testing::Wire;

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kTableAccept =
    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

std::string pod_json(const std::string& name, const std::string& extra_metadata = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + "\"" + extra_metadata +
         R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})";
}

api::Json parse(const std::string& text) {
  auto parsed = api::parse_json(text);
  return parsed ? std::move(parsed->value) : api::Json();
}
std::string text_at(const std::string& json, std::string_view path) {
  const api::Json document = parse(json);
  const api::Json* at = api::find_path(document, path);
  return at != nullptr && at->is_string() ? std::string(at->get_string()) : std::string();
}

class ListenerTest : public ::testing::Test {
 protected:
  Wire::Options as_admin() const { return {.client = &site_.admin}; }
  HttpReply create_pod(Wire& wire, const std::string& name) {
    return wire.ask({.method = "POST",
                     .target = kPods,
                     .headers = {"Content-Type: application/json"},
                     .body = pod_json(name)});
  }

  Site site_;
};

TEST_F(ListenerTest, APodLivesAndDies) {
  Wire wire(site_, as_admin());
  ASSERT_TRUE(wire.open());
  const HttpReply created = create_pod(wire, "web");
  EXPECT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.headers.at("content-type"), "application/json");
  EXPECT_EQ(created.headers.at("cache-control"), "no-cache, private");
  EXPECT_EQ(created.headers.at("audit-id").size(), 36U);
  EXPECT_EQ(text_at(created.body, "metadata.name"), "web");
  EXPECT_EQ(text_at(created.body, "kind"), "Pod");
  EXPECT_EQ(created.body.back(), '\n');

  const HttpReply got = wire.get(kPods + "/web");
  EXPECT_EQ(got.code, 200);
  EXPECT_EQ(got.body, created.body);

  const HttpReply list = wire.get(kPods + "?limit=500");
  EXPECT_EQ(list.code, 200);
  EXPECT_EQ(text_at(list.body, "kind"), "PodList");
  const api::Json listed = parse(list.body);
  ASSERT_EQ(api::find_array(listed, "items")->size(), 1U);
  EXPECT_EQ(api::find(api::find_array(listed, "items")->at(0), "kind"), nullptr);

  const HttpReply deleted =
      wire.ask({.method = "DELETE",
                .target = kPods + "/web",
                .body = R"({"propagationPolicy":"Background","gracePeriodSeconds":0})"});
  EXPECT_EQ(deleted.code, 200) << deleted.body;
  EXPECT_EQ(wire.get(kPods + "/web").code, 404);
}

TEST_F(ListenerTest, WhoIsNotToOrphanIsToldWhatIsStillThere) {
  Wire wire(site_, as_admin());
  for (const std::string held : {"", R"(,"finalizers":["x.io/hold"])"}) {
    const std::string name = held.empty() ? "free" : "held";
    ASSERT_EQ(wire.ask({.method = "POST", .target = kPods, .body = pod_json(name, held)}).code,
              201);
    EXPECT_EQ(wire.ask({.method = "DELETE",
                        .target = fmt::format("{}/{}", kPods, name),
                        .body = R"({"orphanDependents":false})"})
                  .code,
              held.empty() ? 200 : 202);
  }
  EXPECT_EQ(wire.ask({.method = "DELETE", .target = kPods + "/held?orphanDependents=0"}).code, 202);
  EXPECT_EQ(wire.ask({.method = "DELETE", .target = kPods + "/held"}).code, 200);
}

TEST_F(ListenerTest, ErrorsAreStatusObjects) {
  struct Case {
    Wire::Ask ask;
    int code;
    std::string reason, message_part;
  };
  const std::string json = "Content-Type: application/json";
  const Case cases[] = {
      {{.target = kPods + "/nobody"}, 404, "NotFound", "pods \"nobody\" not found"},
      {{.target = "/api/v1/unicorns"},
       404,
       "NotFound",
       "the server could not find the requested resource"},
      {{.method = "POST", .target = "/api/v1/pods", .headers = {json}, .body = "{}"},
       405,
       "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {{.method = "POST", .target = kPods, .headers = {json}, .body = "{\"a\":"},
       400,
       "BadRequest",
       "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json "
       "parse error: "},
      {{.method = "POST",
        .target = kPods,
        .headers = {json},
        .body = R"({"kind":"Node","apiVersion":"v1"})"},
       400,
       "BadRequest",
       "Node"},
      {{.method = "POST", .target = kPods, .headers = {"Content-Type: text/plain"}, .body = "x"},
       415,
       "UnsupportedMediaType",
       "the body of the request was in an unknown format"},
      {{.method = "PATCH", .target = kPods + "/x", .headers = {json}, .body = "{}"},
       415,
       "UnsupportedMediaType",
       "415: Unsupported Media Type"},
      {{.target = kPods, .headers = {"Accept: text/html"}},
       406,
       "NotAcceptable",
       "406: Not Acceptable"},
      {{.target = kPods + "?limit=x"}, 400, "BadRequest", "invalid syntax"},
      {{.target = kPods + "?labelSelector=a%3D%3D%3Db"}, 400, "BadRequest", ""},
      {{.target = kPods + "?watch=true&labelSelector=a%3D%3D%3Db"}, 400, "BadRequest", ""},
      {{.method = "POST", .target = kPods + "?dryRun=x", .headers = {json}, .body = pod_json("a")},
       422,
       "Invalid",
       "dryRun"},
  };
  Wire wire(site_, as_admin());
  for (const Case& c : cases) {
    const HttpReply reply = wire.ask(c.ask);
    EXPECT_EQ(reply.code, c.code) << c.ask.method << " " << c.ask.target << "\n" << reply.body;
    EXPECT_EQ(text_at(reply.body, "kind"), "Status") << c.ask.target;
    EXPECT_EQ(text_at(reply.body, "reason"), c.reason) << c.ask.target;
    EXPECT_NE(reply.body.find(c.message_part.substr(0, c.message_part.find('"'))),
              std::string::npos)
        << reply.body;
  }
}

TEST_F(ListenerTest, AnExpiredPageSaysWhereToGoOn) {
  Wire wire(site_, as_admin());
  ASSERT_TRUE(wire.open());
  for (const std::string name : {"a", "b"}) ASSERT_EQ(create_pod(wire, name).code, 201);
  const std::string token = ContinueToken{.revision = {1}, .start = std::string("a\0", 2)}.text();
  const HttpReply expired = wire.get(kPods + "?limit=1&continue=" + token);
  EXPECT_EQ(expired.code, 410) << expired.body;
  const api::Json status = parse(expired.body);
  EXPECT_EQ(api::find_string(status, "reason"), "Expired");
  const std::string renewed(api::find_string(*api::find(status, "metadata"), "continue"));
  ASSERT_FALSE(renewed.empty());
  const HttpReply rest = wire.get(kPods + "?limit=1&continue=" + renewed);
  EXPECT_EQ(rest.code, 200) << rest.body;
  const api::Json listed = parse(rest.body);
  ASSERT_EQ(api::find_array(listed, "items")->size(), 1U);
  EXPECT_EQ(api::find_path(api::find_array(listed, "items")->at(0), "metadata.name")->get_string(),
            "b");
}

TEST_F(ListenerTest, UnknownPathsAreAPlainPage) {
  Wire wire(site_, as_admin());
  for (const char* path : {"/console/", "/apis/unicorns.example.com/v1/horns", "/api/v7"}) {
    const HttpReply reply = wire.get(path);
    EXPECT_EQ(reply.code, 404);
    EXPECT_EQ(reply.body, "404 page not found\n");
    EXPECT_EQ(reply.headers.at("content-type"), "text/plain; charset=utf-8");
  }
}

TEST_F(ListenerTest, TellsWhatItIs) {
  Wire wire(site_, as_admin());
  EXPECT_EQ(text_at(wire.get("/version").body, "major"), "1");
  EXPECT_EQ(text_at(wire.get("/api").body, "kind"), "APIVersions");
  EXPECT_EQ(text_at(wire.get("/apis").body, "kind"), "APIGroupList");
  EXPECT_EQ(text_at(wire.get("/api/v1").body, "kind"), "APIResourceList");
  EXPECT_EQ(text_at(wire.get("/apis/scheduling.k8s.io").body, "kind"), "APIGroup");
  EXPECT_NE(wire.get("/").body.find("\"/api/v1\""), std::string::npos);
  EXPECT_EQ(wire.get("/readyz?verbose").body,
            "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n"
            "[+]poststarthook/rbac/bootstrap-roles ok\n"
            "[+]poststarthook/scheduling/bootstrap-system-priority-classes ok\n[+]shutdown ok\n"
            "readyz check passed\n");
  EXPECT_NE(wire.get("/metrics").body.find("apiserver_request_total{code=\"200\""),
            std::string::npos);
}

TEST_F(ListenerTest, AggregatedDiscoveryIsCachedByItsTag) {
  Wire wire(site_, as_admin());
  const std::string type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const HttpReply first =
      wire.ask({.target = "/apis", .headers = {"Accept: " + type + ",application/json"}});
  EXPECT_EQ(first.code, 200);
  EXPECT_EQ(first.headers.at("content-type"), type);
  EXPECT_EQ(first.headers.at("vary"), "Accept");
  const std::string etag = first.headers.at("etag");
  EXPECT_EQ(etag.size(), 130U);
  const HttpReply second =
      wire.ask({.target = "/apis", .headers = {"Accept: " + type, "If-None-Match: " + etag}});
  EXPECT_EQ(second.code, 304);
  EXPECT_EQ(second.body, "");
  EXPECT_EQ(wire.get("/version").code, 200);  // the connection is where it should be
}

TEST_F(ListenerTest, NobodyMayLittle) {
  Wire wire(site_, {});
  ASSERT_TRUE(wire.open());
  EXPECT_EQ(wire.get("/readyz").body, "ok");
  EXPECT_EQ(wire.get("/version").code, 200);
  const HttpReply refused = wire.get(kPods);
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(text_at(refused.body, "message"),
            "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API "
            "group \"\" in the "
            "namespace \"default\"");
  EXPECT_EQ(wire.get("/nowhere").code, 403);
  EXPECT_EQ(wire.ask({.target = "/version", .headers = {"Authorization: Bearer x"}}).code, 401);
}

TEST_F(ListenerTest, ACertificateOfAnotherAuthorityIsUnauthorized) {
  const Time now = site_.core().clock().now();
  const Credential other = make_authority("kubernetes-ca", now).value();
  const Credential forged =
      make_client_certificate(other, {.user = "kubernetes-admin", .groups = {"system:masters"}},
                              now)
          .value();
  Wire wire(site_, {.client = &forged});
  const HttpReply reply = wire.get("/version");
  EXPECT_EQ(reply.code, 401);
  EXPECT_EQ(text_at(reply.body, "reason"), "Unauthorized");
}

TEST_F(ListenerTest, AServingCertificateIsNoClient) {
  const Time now = site_.core().clock().now();
  const Credential serving =
      make_serving_certificate(site_.authority, {.dns = {"localhost"}, .addresses = {}}, now)
          .value();
  Wire wire(site_, {.client = &serving});
  EXPECT_EQ(wire.get("/version").code, 401);
}

TEST_F(ListenerTest, AnExpiredCertificateIsUnauthorized) {
  const Credential old =
      make_client_certificate(site_.authority, {.user = "u", .groups = {"system:masters"}},
                              site_.core().clock().now() - std::chrono::days(800))
          .value();
  Wire wire(site_, {.client = &old});
  EXPECT_EQ(wire.get("/version").code, 401);
}

TEST_F(ListenerTest, TooMuchBodyIsRefusedSoThatTheClientHearsIt) {
  const std::string big(5U << 20U, 'x');
  {
    Wire wire(site_, as_admin());
    const HttpReply reply = wire.ask({.method = "POST",
                                      .target = kPods,
                                      .headers = {"Content-Type: application/json"},
                                      .body = big});
    EXPECT_EQ(reply.code, 413);
    EXPECT_EQ(text_at(reply.body, "message"), "Request entity too large: limit is 3145728");
    EXPECT_EQ(reply.headers.at("connection"), "close");
  }
  {
    Wire wire(site_, as_admin());
    wire.write("POST " + kPods +
               " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n500000\r\n");
    wire.write(big);
    EXPECT_EQ(wire.read_reply().code, 413);
  }
  {
    Wire wire(site_, {});  // nobody is told that they may not, not that it is too much
    EXPECT_EQ(wire.ask({.method = "POST", .target = kPods, .body = big}).code, 403);
  }
}

TEST_F(ListenerTest, WhoMayNotSendIsToldBeforeTheBody) {
  Wire wire(site_, {});
  wire.write("POST " + kPods + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(wire.read_reply().code, 403);
}

TEST_F(ListenerTest, ContinuesWhenExpected) {
  Wire wire(site_, as_admin());
  const std::string body = pod_json("web");
  wire.write("POST " + kPods + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wire.write(body);
  EXPECT_EQ(wire.read_reply().code, 201);
}

TEST_F(ListenerTest, AnswersPipelinedRequestsInOrder) {
  Wire wire(site_, as_admin());
  std::string text;
  const std::string body = pod_json("web");
  text += "POST " + kPods +
          " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
          body;
  text += "GET " + kPods + "/web HTTP/1.1\r\nHost: x\r\n\r\n";
  text += "GET " + kPods + "/nobody HTTP/1.1\r\nHost: x\r\n\r\n";
  for (int i = 0; i < 50; ++i) text += "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
  wire.write(text);
  EXPECT_EQ(wire.read_reply().code, 201);
  EXPECT_EQ(wire.read_reply().code, 200);
  EXPECT_EQ(wire.read_reply().code, 404);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(wire.read_reply().body, "ok") << i;
}

TEST_F(ListenerTest, TakesARequestByteByByte) {
  Wire wire(site_, as_admin());
  const std::string body = pod_json("web");
  const std::string text =
      "POST " + kPods + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  for (const char c : text) ASSERT_TRUE(wire.write(std::string_view(&c, 1)));
  EXPECT_EQ(wire.read_reply().code, 201);
}

TEST_F(ListenerTest, SaysGoodbyeWhenAsked) {
  Wire wire(site_, as_admin());
  wire.send({.target = "/livez", .headers = {"Connection: close"}});
  const std::string all = wire.read_all();
  EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\nok"));
  Wire old(site_, as_admin());
  old.write("GET /livez HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.read_all().ends_with("\r\n\r\nok"));
}

TEST_F(ListenerTest, HeadHasNoBody) {
  Wire wire(site_, as_admin());
  wire.write("HEAD " + kPods + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(wire.read_head().code, 405);
  EXPECT_EQ(wire.get("/livez").body, "ok");
}

TEST_F(ListenerTest, SurvivesGarbage) {
  const std::string garbage[] = {std::string("\x16\x03\x01\x00\x00", 5), std::string(1000, '\0'),
                                 "\xff\xfe\xfd", "\r\n\r\n"};
  for (const std::string& bytes : garbage) Wire(site_, {.plain = true}).write(bytes);
  Wire plain(site_, {.plain = true});
  plain.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_NE(plain.read_all().find("Client sent an HTTP request to an HTTPS server."),
            std::string::npos);
  const std::string broken[] = {
      "BREW coffee\r\n\r\n",
      "GET /livez HTTP/9.9\r\n\r\n",
      "GET /livez HTTP/1.1\r\nno colon\r\n\r\n",
      std::string("GET /\0 HTTP/1.1\r\n\r\n", 19),
      "POST " + kPods +
          " HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST " + kPods + " HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST " + kPods + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  };
  for (const std::string& bytes : broken) {
    Wire wire(site_, as_admin());
    wire.write(bytes);
    EXPECT_EQ(wire.read_reply().code, 400) << bytes;
  }
  Wire wire(site_, as_admin());
  wire.write("GET /livez HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(wire.read_reply().code, 431);
  Wire healthy(site_, as_admin());
  EXPECT_EQ(healthy.get("/livez").body, "ok");
}

TEST_F(ListenerTest, AWatchTellsWhatHappens) {
  Wire writer(site_, as_admin());
  create_pod(writer, "before");
  const std::string revision = text_at(writer.get(kPods).body, "metadata.resourceVersion");

  Wire wire(site_, as_admin());
  wire.send({.target = kPods + "?watch=true&resourceVersion=" + revision});
  const HttpReply head = wire.read_head();
  EXPECT_EQ(head.code, 200);
  EXPECT_EQ(head.headers.at("transfer-encoding"), "chunked");
  EXPECT_EQ(head.headers.at("content-type"), "application/json");

  create_pod(writer, "after");
  const std::string added = wire.read_line();
  EXPECT_EQ(text_at(added, "type"), "ADDED");
  EXPECT_EQ(text_at(added, "object.metadata.name"), "after");
  EXPECT_EQ(text_at(added, "object.kind"), "Pod");
  writer.ask(
      {.method = "DELETE", .target = kPods + "/after", .body = R"({"gracePeriodSeconds":0})"});
  std::string line = wire.read_line();
  while (text_at(line, "type") == "MODIFIED") line = wire.read_line();
  EXPECT_EQ(text_at(line, "type"), "DELETED");
}

TEST_F(ListenerTest, WatchersHearOfAGroupInTheVersionTheyAskedFor) {
  const std::string root = "/apis/scheduling.k8s.io/";
  const std::string groups = "/namespaces/default/podgroups";
  Wire beta(site_, as_admin());
  Wire alpha(site_, as_admin());
  beta.send({.target = root + "v1beta1" + groups + "?watch=true"});
  alpha.send({.target = root + "v1alpha3" + groups + "?watch=true"});
  EXPECT_EQ(beta.read_head().code, 200);
  EXPECT_EQ(alpha.read_head().code, 200);
  Wire writer(site_, as_admin());
  const HttpReply created =
      writer.ask({.method = "POST",
                  .target = root + "v1beta1" + groups,
                  .headers = {"Content-Type: application/json"},
                  .body = R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"basic":{}}}})"});
  EXPECT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(text_at(beta.read_line(), "object.apiVersion"), "scheduling.k8s.io/v1beta1");
  const std::string heard = alpha.read_line();
  EXPECT_EQ(text_at(heard, "object.apiVersion"), "scheduling.k8s.io/v1alpha3");
  EXPECT_EQ(text_at(heard, "object.metadata.name"), "g");
}

TEST_F(ListenerTest, AWatchBeginsWithWhatIsThereAndEndsInTime) {
  Wire wire(site_, as_admin());
  create_pod(wire, "web");
  wire.send({.target = kPods +
                       "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                       "allowWatchBookmarks=true&timeoutSeconds=1"});
  EXPECT_EQ(wire.read_head().code, 200);
  EXPECT_EQ(text_at(wire.read_line(), "type"), "ADDED");
  const std::string bookmark = wire.read_line();
  EXPECT_EQ(text_at(bookmark, "type"), "BOOKMARK");
  EXPECT_NE(bookmark.find(R"("k8s.io/initial-events-end":"true")"), std::string::npos);
  EXPECT_NE(bookmark.find(R"("status":{})"), std::string::npos) << "an object without content";
  while (!wire.read_line().empty()) {
  }
  EXPECT_EQ(wire.get("/livez").body, "ok");  // a clean end: the connection goes on
}

TEST_F(ListenerTest, ATableHasARowPerObject) {
  Wire wire(site_, as_admin());
  create_pod(wire, "a");
  create_pod(wire, "b");
  const HttpReply list = wire.ask({.target = kPods, .headers = {kTableAccept}});
  EXPECT_EQ(list.headers.at("content-type"), "application/json");
  const api::Json table = parse(list.body);
  EXPECT_EQ(api::find_string(table, "kind"), "Table");
  EXPECT_EQ(api::find_array(table, "rows")->size(), 2U);
  EXPECT_GT(api::find_array(table, "columnDefinitions")->size(), 3U);
  const api::Json one = parse(
      wire.ask({.target = kPods + "/a?includeObject=Object", .headers = {kTableAccept}}).body);
  ASSERT_EQ(api::find_array(one, "rows")->size(), 1U);
  EXPECT_NE(api::find_path(api::find_array(one, "rows")->at(0), "object.spec"), nullptr);
  EXPECT_EQ(wire.ask({.target = kPods + "?includeObject=Soup", .headers = {kTableAccept}}).code,
            400);
}

TEST_F(ListenerTest, AWatchOfTablesTellsColumnsOnce) {
  Wire writer(site_, as_admin());
  Wire wire(site_, as_admin());
  wire.send({.target = kPods + "?watch=true", .headers = {kTableAccept}});
  EXPECT_EQ(wire.read_head().code, 200);
  create_pod(writer, "a");
  create_pod(writer, "b");
  const api::Json first = parse(wire.read_line());
  const api::Json second = parse(wire.read_line());
  const auto columns = [](const api::Json& event) {
    const api::Json* found = api::find_path(event, "object.columnDefinitions");
    return found != nullptr && found->is_array() ? found->get_array().size() : 0;
  };
  EXPECT_EQ(api::find_path(first, "object.kind")->get_string(), "Table");
  EXPECT_GT(columns(first), 3U);
  EXPECT_EQ(api::find_path(second, "object.kind")->get_string(), "Table");
  EXPECT_EQ(columns(second), 0U);
}

// T3h: the same change has different bytes for those who want the object and those who do not.
TEST_F(ListenerTest, WatchersOfTablesGetTheObjectsTheyAskedFor) {
  Wire writer(site_, as_admin());
  const auto watch = [&](Wire& wire, const std::string& include, const std::string& accept) {
    wire.send({.target = kPods + "?watch=true&includeObject=" + include, .headers = {accept}});
    EXPECT_EQ(wire.read_head().code, 200);
  };
  Wire none(site_, as_admin());
  Wire whole(site_, as_admin());
  Wire older(site_, as_admin());
  watch(none, "None", kTableAccept);
  watch(whole, "Object", kTableAccept);
  watch(older, "None", "Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io");
  // The second event: the first one carries columns and is never shared.
  for (const char* name : {"a", "b"}) create_pod(writer, name);
  const auto second = [](Wire& wire) {
    wire.read_line();
    return wire.read_line();
  };
  const std::string without = second(none);
  const std::string with = second(whole);
  const std::string old = second(older);
  EXPECT_NE(without.find(R"("object":null)"), std::string::npos) << without;
  EXPECT_NE(with.find(R"("containers")"), std::string::npos) << with;
  EXPECT_EQ(without.find(R"("containers")"), std::string::npos);
  EXPECT_EQ(text_at(without, "object.apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(text_at(old, "object.apiVersion"), "meta.k8s.io/v1beta1");
}

// T3h: who is cut off by the timeout has just heard how far they are.
TEST_F(ListenerTest, TheLastBookmarkComesJustBeforeTheTimeout) {
  Wire wire(site_, as_admin());
  create_pod(wire, "web");
  wire.send({.target = kPods +
                       "?watch=true&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=3"});
  EXPECT_EQ(wire.read_head().code, 200);
  std::string last;
  for (std::string line = wire.read_line(); !line.empty(); line = wire.read_line()) last = line;
  EXPECT_EQ(text_at(last, "type"), "BOOKMARK") << last;
}

TEST_F(ListenerTest, ATableOfTheOldVersion) {
  Wire wire(site_, as_admin());
  create_pod(wire, "a");
  const HttpReply list = wire.ask(
      {.target = kPods, .headers = {"Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io"}});
  EXPECT_EQ(text_at(list.body, "apiVersion"), "meta.k8s.io/v1beta1");
  EXPECT_EQ(list.body.find("meta.k8s.io/v1\""), std::string::npos);
}

TEST_F(ListenerTest, WhatIsNeverStoredHasNoTable) {
  Wire wire(site_, as_admin());
  const std::string review =
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  const std::string target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const std::string table = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io";
  EXPECT_EQ(wire.ask({.method = "POST", .target = target, .headers = {table}, .body = review}).code,
            406);
  EXPECT_EQ(
      wire.ask({.method = "POST", .target = target, .headers = {kTableAccept}, .body = review})
          .code,
      201);
}

TEST_F(ListenerTest, ATimeoutIsADurationOrRefused) {
  Wire wire(site_, as_admin());
  for (const char* good : {"30s", "1m30s", "0", "1.5h", "-2ms", ""})
    EXPECT_EQ(wire.get(kPods + "?timeout=" + good).code, 200) << good;
  const HttpReply bad = wire.get(kPods + "?timeout=x");
  EXPECT_EQ(bad.code, 400);
  EXPECT_EQ(text_at(bad.body, "message"),
            R"(invalid timeout specified in the request URL - time: invalid duration "x")");
  EXPECT_EQ(text_at(wire.get(kPods + "?timeout=5").body, "message"),
            R"(invalid timeout specified in the request URL - time: missing unit in duration "5")");
}

TEST_F(ListenerTest, MetadataAloneIsEnoughForSome) {
  Wire wire(site_, as_admin());
  create_pod(wire, "a");
  const std::string accept = "Accept: application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata";
  const HttpReply one = wire.ask({.target = kPods + "/a", .headers = {accept}});
  EXPECT_EQ(text_at(one.body, "kind"), "PartialObjectMetadata");
  EXPECT_EQ(text_at(one.body, "metadata.name"), "a");
  EXPECT_EQ(one.body.find("\"spec\""), std::string::npos);
  EXPECT_EQ(wire.ask({.target = kPods, .headers = {accept}}).code, 406);
  EXPECT_EQ(text_at(wire.ask({.target = kPods, .headers = {accept + "List"}}).body, "kind"),
            "PartialObjectMetadataList");
}

TEST(Listener, AnExpiredWatchSaysSoInTheStream) {
  const Site site({}, {.changes_max = 4});
  Wire wire(site, {.client = &site.admin});
  const auto create = [&](int i) {
    return wire.ask({.method = "POST", .target = kPods, .body = pod_json("p" + std::to_string(i))});
  };
  const std::string first = text_at(create(0).body, "metadata.resourceVersion");
  for (int i = 1; i < 20; ++i) create(i);
  wire.send({.target = kPods + "?watch=true&resourceVersion=" + first});
  EXPECT_EQ(wire.read_head().code, 200);
  const std::string event = wire.read_line();
  EXPECT_EQ(text_at(event, "type"), "ERROR");
  EXPECT_EQ(text_at(event, "object.reason"), "Expired");
  EXPECT_EQ(wire.read_line(), "");           // and that was all
  EXPECT_EQ(wire.get("/livez").body, "ok");  // of the watch, not of the connection
}

// One thread, so that what is asked first is also read first.
ListenOptions waiting(std::chrono::milliseconds unreached_max) {
  ListenOptions options;
  options.threads = 1;
  options.limits.unreached = unreached_max;
  return options;
}

// Requests for a revision that is `ahead` of the store's.
struct Ahead {
  explicit Ahead(const Site& site, std::int64_t ahead)
      : version(std::to_string(site.core().server().revision().value + ahead)) {}
  std::string get() const { return "/api/v1/namespaces/default?resourceVersion=" + version; }
  std::string list() const { return kPods + "?resourceVersion=" + version; }
  std::string watch_list() const {
    return list() + "&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  }
  std::string version;
};

TEST(Listener, AReadAheadOfTheStoreWaitsForIt) {
  const Site site(waiting(std::chrono::minutes(10)));
  Wire writer(site, {.client = &site.admin});
  const Ahead ahead(site, 2);
  std::vector<std::unique_ptr<Wire>> readers;
  for (const std::string& target : {ahead.get(), ahead.list(), ahead.watch_list()})
    readers.emplace_back(std::make_unique<Wire>(site, Wire::Options{.client = &site.admin}))
        ->send({.target = target});
  for (const std::string name : {"a", "b"})
    ASSERT_EQ(writer.ask({.method = "POST", .target = kPods, .body = pod_json(name)}).code, 201);
  EXPECT_EQ(readers[0]->read_reply().code, 200);
  const HttpReply list = readers[1]->read_reply();
  EXPECT_EQ(list.code, 200);
  EXPECT_EQ(api::find_array(parse(list.body), "items")->size(), 2U);
  EXPECT_EQ(readers[2]->read_head().code, 200);
  EXPECT_EQ(text_at(readers[2]->read_line(), "object.metadata.name"), "a");
  EXPECT_EQ(text_at(readers[2]->read_line(), "object.metadata.name"), "b");
  EXPECT_EQ(readers[0]->get("/livez").body, "ok") << "the connection goes on";
}

TEST(Listener, AReadThatWaitsInVainIsToldSo) {
  const Site site(waiting(std::chrono::milliseconds(1)));
  Wire wire(site, {.client = &site.admin});
  const Ahead ahead(site, 1000);
  for (const std::string& target : {ahead.get(), ahead.list()}) {
    const HttpReply late = wire.get(target);
    EXPECT_EQ(late.code, 504);
    EXPECT_EQ(late.headers.at("retry-after"), "1");
    EXPECT_TRUE(text_at(late.body, "message")
                    .starts_with("Timeout: Too large resource version: " + ahead.version));
  }
  wire.send({.target = ahead.watch_list()});
  EXPECT_EQ(wire.read_head().code, 200);
  const std::string event = wire.read_line();
  EXPECT_EQ(text_at(event, "type"), "ERROR");
  EXPECT_EQ(text_at(event, "object.reason"), "Timeout");
  EXPECT_EQ(wire.read_line(), "");
  EXPECT_EQ(wire.get("/livez").body, "ok");
}

TEST_F(ListenerTest, ManyWatchersHearTheSame) {
  constexpr int kWatchers = 20;
  constexpr int kPodsMade = 50;
  std::vector<std::unique_ptr<Wire>> watchers;
  for (int i = 0; i < kWatchers; ++i) {
    watchers.push_back(std::make_unique<Wire>(site_, as_admin()));
    watchers.back()->send({.target = "/api/v1/pods?watch=true"});
    ASSERT_EQ(watchers.back()->read_head().code, 200);
  }
  Wire writer(site_, as_admin());
  for (int i = 0; i < kPodsMade; ++i)
    ASSERT_EQ(create_pod(writer, "p" + std::to_string(i)).code, 201);
  std::vector<std::string> first;
  for (int i = 0; i < kPodsMade; ++i) {
    first.push_back(watchers[0]->read_line());
    EXPECT_EQ(text_at(first.back(), "object.metadata.name"), "p" + std::to_string(i));
  }
  for (int w = 1; w < kWatchers; ++w)
    for (int i = 0; i < kPodsMade; ++i)
      ASSERT_EQ(watchers[static_cast<std::size_t>(w)]->read_line(),
                first[static_cast<std::size_t>(i)]);
}

TEST_F(ListenerTest, ASlowWatcherHoldsNobodyUpAndMissesNothing) {
  Wire slow(site_, {.client = &site_.admin, .receive_buffer = 4096});
  slow.send({.target = "/api/v1/pods?watch=true"});
  ASSERT_EQ(slow.read_head().code, 200);
  Wire writer(site_, as_admin());
  constexpr int kPodsMade = 150;
  const std::string filler = R"(,"annotations":{"filler":")" + std::string(50'000, 'x') + "\"}";
  for (int i = 0; i < kPodsMade; ++i)
    ASSERT_EQ(writer
                  .ask({.method = "POST",
                        .target = kPods,
                        .body = pod_json("p" + std::to_string(i), filler)})
                  .code,
              201);
  for (int i = 0; i < kPodsMade; ++i)
    ASSERT_EQ(text_at(slow.read_line(), "object.metadata.name"), "p" + std::to_string(i));
}

TEST_F(ListenerTest, WatchersThatVanishAreForgotten) {
  const auto watches = [this] {
    Wire wire(site_, as_admin());
    const std::string text = wire.get("/metrics").body;
    const std::size_t at = text.find("\napiserver_longrunning_requests");
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  for (int i = 0; i < 10; ++i) {
    Wire wire(site_, as_admin());
    wire.send({.target = "/api/v1/pods?watch=true"});
    wire.read_head();
    wire.close();  // abruptly
  }
  std::string now;
  for (int i = 0; i < 500 && !now.ends_with(" 0"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    now = watches();
  }
  EXPECT_TRUE(now.ends_with(" 0")) << now;
}

TEST_F(ListenerTest, ManyConnectionsAtOnce) {
  std::vector<std::thread> clients;
  clients.reserve(8);
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      for (int j = 0; j < 8; ++j) {
        Wire wire(site_, as_admin());
        const std::string name = fmt::format("p{}-{}", i, j);
        if (create_pod(wire, name).code == 201 &&
            wire.get(fmt::format("{}/{}", kPods, name)).code == 200)
          ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good.load(), 64);
}

TEST_F(ListenerTest, StopsWithWatchesOpenAndRequestsOnTheirWay) {
  Wire watcher(site_, as_admin());
  watcher.send({.target = "/api/v1/pods?watch=true"});
  watcher.read_head();
  Wire writer(site_, as_admin());
  for (int i = 0; i < 20; ++i)
    writer.send({.method = "POST", .target = kPods, .body = pod_json("p" + std::to_string(i))});
  site_.stop();
  // Cut off in the middle: whatever came is whole lines, and the last chunk never does, so no
  // client takes the stream for complete.
  const std::string heard = watcher.read_all();
  EXPECT_FALSE(heard.ends_with("\r\n0\r\n\r\n"));
  EXPECT_FALSE(Wire(site_, as_admin()).open()) << "nobody listens any more";
  // What was answered was done, and nothing else was answered but creations.
  const std::string answers = writer.read_all();
  for (std::size_t at = answers.find("HTTP/1.1 "); at != std::string::npos;
       at = answers.find("HTTP/1.1 ", at + 1))
    EXPECT_EQ(answers.substr(at, 12), "HTTP/1.1 201");
}

TEST_F(ListenerTest, BigListsArePackedForThoseWhoAsk) {
  Wire wire(site_, as_admin());
  const std::string filler = R"(,"annotations":{"filler":")" + std::string(50'000, 'x') + "\"}";
  for (int i = 0; i < 4; ++i)
    wire.ask(
        {.method = "POST", .target = kPods, .body = pod_json("p" + std::to_string(i), filler)});
  const HttpReply packed = wire.ask({.target = kPods, .headers = {"Accept-Encoding: gzip"}});
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_LT(packed.body.size(), 20'000U);
  const HttpReply plain = wire.get(kPods);
  EXPECT_GT(plain.body.size(), 200'000U);
  EXPECT_EQ(text_at(plain.body, "kind"), "PodList");
}

TEST_F(ListenerTest, UnknownFieldsAreWarnings) {
  Wire wire(site_, as_admin());
  const std::string body =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"foo":1,"containers":[{"name":"c","image":"i"}]}})";
  const HttpReply warned = wire.ask({.method = "POST", .target = kPods, .body = body});
  EXPECT_EQ(warned.code, 201);
  EXPECT_EQ(warned.headers.at("warning"), R"(299 - "unknown field \"spec.foo\"")");
  const HttpReply strict =
      wire.ask({.method = "POST", .target = kPods + "?fieldValidation=Strict", .body = body});
  EXPECT_EQ(strict.code, 400);
}

TEST_F(ListenerTest, CurlUsersGetIndentedAnswers) {
  Wire wire(site_, as_admin());
  EXPECT_TRUE(wire.ask({.target = "/version", .headers = {"User-Agent: curl/8"}})
                  .body.starts_with("{\n  \""));
  EXPECT_EQ(wire.get("/version").body.find('\n'), std::string::npos);
}

TEST(Listener, AFullHouseTurnsNewGuestsAway) {
  ListenOptions options;
  options.limits.clients.connections = {.total = 2, .each = 2, .reserved = 0};
  options.limits.clients.connections_per_address = 2;
  const Site site(options);
  Wire first(site, {.client = &site.admin});
  Wire second(site, {.client = &site.admin});
  EXPECT_EQ(first.get("/livez").body, "ok");
  EXPECT_EQ(second.get("/livez").body, "ok");
  EXPECT_FALSE(Wire(site, {.client = &site.admin}).open());
  EXPECT_EQ(second.get("/livez").body, "ok");
}

TEST(Listener, TooManyWritesAtOnceAreAskedToComeBack) {
  ListenOptions options;
  options.limits.clients.writes.total = 0;
  const Site site(options);
  Wire wire(site, {.client = &site.admin});
  const HttpReply reply = wire.ask({.method = "POST", .target = kPods, .body = pod_json("web")});
  EXPECT_EQ(reply.code, 429);
  EXPECT_EQ(reply.headers.at("retry-after"), "1");
  EXPECT_EQ(wire.get("/livez").body, "ok");
}

TEST(Listener, TooManyWatchesAtOnceAreAskedToComeBack) {
  ListenOptions options;
  options.limits.clients.watches.total = 1;
  const Site site(options);
  const std::string watch = std::string(kPods) + "?watch=true&resourceVersion=1";
  {
    Wire first(site, {.client = &site.admin});
    first.send({.target = watch});
    EXPECT_EQ(first.read_head().code, 200);
    Wire second(site, {.client = &site.admin});
    const HttpReply reply = second.get(watch);
    EXPECT_EQ(reply.code, 429);
    EXPECT_EQ(reply.headers.at("retry-after"), "1");
    EXPECT_EQ(second.get(kPods).code, 200);
  }
  // The place is free again once the server has seen the first one go.
  for (int tries = 0;; ++tries) {
    Wire third(site, {.client = &site.admin});
    third.send({.target = watch});
    if (third.read_head().code == 200) break;
    ASSERT_LT(tries, 1000);
  }
}

// S-M5: a store that cannot be written is alive but not ready, and says so by itself again.
TEST(Listener, AStoreThatCannotBeWrittenIsNotReady) {
  store::Health health;
  ListenOptions options;
  options.store_health = &health;
  const Site site(options);
  Wire wire(site, {.client = &site.admin});
  EXPECT_EQ(wire.get("/readyz").code, 200);
  health.set_failed("no space left on device");
  const HttpReply failed = wire.get("/readyz");
  EXPECT_EQ(failed.code, 500);
  EXPECT_NE(failed.body.find("[-]etcd failed: reason withheld\n"), std::string::npos)
      << failed.body;
  EXPECT_NE(failed.body.find("readyz check failed"), std::string::npos);
  EXPECT_EQ(wire.get("/healthz").code, 500);
  EXPECT_EQ(wire.get("/readyz/etcd").code, 500);
  EXPECT_EQ(wire.get("/readyz/ping").code, 200);
  EXPECT_EQ(wire.get("/readyz?exclude=etcd&exclude=etcd-readiness").code, 200);
  EXPECT_EQ(wire.get("/livez").code, 200) << "a restart would not help";
  health.set_writable();
  EXPECT_EQ(wire.get("/readyz").code, 200);
}

TEST(Listener, SaysWhatIsInTheWay) {
  const Site site;
  ListenOptions options;
  options.port = site.port;
  const Time now = site.core().clock().now();
  const Credential serving =
      make_serving_certificate(site.authority, {.dns = {"localhost"}, .addresses = {}}, now)
          .value();
  options.ca_certificate = site.authority.certificate;
  options.certificate = serving.certificate;
  options.private_key = serving.private_key;
  const auto taken =
      Listener::start(options, site.core().server(), site.core().access(), site.core().clock());
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("ddress already in use"), std::string::npos)
      << taken.error().message;
  options.private_key = site.admin.private_key;
  EXPECT_FALSE(
      Listener::start(options, site.core().server(), site.core().access(), site.core().clock()));
}

}  // namespace
}  // namespace muster::server
