#include "server/http/listener.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "server/core/read/paging.h"
#include "server/http/listener_testing.h"

namespace muster::server {
namespace {

using testing::HttpReply;
using testing::kPods;
using testing::kTableAccept;
using testing::ListenerTest;
using testing::parse;
using testing::pod_json;
using testing::Site;
using testing::text_at;
using testing::Wire;

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
  for (const char* good : {"30s", "1m30s", "0", "1.5h", "-2ms", "2562047h47m16.854775807s", ""})
    EXPECT_EQ(wire.get(kPods + "?timeout=" + good).code, 200) << good;
  const HttpReply bad = wire.get(kPods + "?timeout=x");
  EXPECT_EQ(bad.code, 400);
  EXPECT_EQ(text_at(bad.body, "message"),
            R"(invalid timeout specified in the request URL - time: invalid duration "x")");
  EXPECT_EQ(text_at(wire.get(kPods + "?timeout=5").body, "message"),
            R"(invalid timeout specified in the request URL - time: missing unit in duration "5")");
  // No duration is longer than 292 years.
  for (const std::string long_one :
       {"10000000000000h", "2562047h48m", "2562048h", "99999999999999999999ns"}) {
    const HttpReply refused = wire.get(fmt::format("{}?timeout={}", kPods, long_one));
    EXPECT_EQ(refused.code, 400) << long_one;
    EXPECT_EQ(text_at(refused.body, "message"),
              "invalid timeout specified in the request URL - time: invalid duration \"" +
                  long_one + "\"");
  }
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
