#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace muster::server
