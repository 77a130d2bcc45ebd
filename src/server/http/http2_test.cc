#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "server/http/testing.h"
#include "server/http/testing_http2.h"

namespace muster::server {
namespace {

using testing::Http2Wire;
using testing::HttpReply;
using testing::Site;

const std::string kPods = "/api/v1/namespaces/default/pods";

std::string pod_json(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})";
}

class Http2Test : public ::testing::Test {
 protected:
  Site site_;
};

TEST_F(Http2Test, APodLivesAndDies) {
  Http2Wire wire(site_);
  ASSERT_TRUE(wire.open());
  const HttpReply created = wire.wait_for(wire.ask("POST", kPods, pod_json("web")));
  EXPECT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.headers.at("content-type"), "application/json");
  EXPECT_EQ(created.headers.at("audit-id").size(), 36U);
  EXPECT_EQ(created.headers.at("content-length"), std::to_string(created.body.size()));
  EXPECT_EQ(wire.wait_for(wire.ask("GET", kPods + "/web")).body, created.body);
  EXPECT_EQ(wire.wait_for(wire.ask("DELETE", kPods + "/web?gracePeriodSeconds=0")).code, 200);
  EXPECT_EQ(wire.wait_for(wire.ask("GET", kPods + "/web")).code, 404);
}

TEST_F(Http2Test, ManyStreamsShareTheConnection) {
  Http2Wire wire(site_);
  std::vector<std::int32_t> asked;
  for (int i = 0; i < 90; ++i)
    asked.push_back(wire.ask("POST", kPods, pod_json("p" + std::to_string(i))));
  for (const std::int32_t id : asked) EXPECT_EQ(wire.wait_for(id).code, 201);
  const HttpReply list = wire.wait_for(wire.ask("GET", kPods));
  EXPECT_EQ(list.code, 200);
  EXPECT_NE(list.body.find("\"p89\""), std::string::npos);
}

// A header that both sides know is sent as one byte. Turns end wherever it has become too much, in
// the middle of a head or at its end, and nothing of what follows is lost.
TEST_F(Http2Test, HeadsThatUnpackToMuchAreHeardInTurns) {
  Http2Wire wire(site_);
  std::vector<std::int32_t> asked;
  for (std::size_t i = 0; i < 90; ++i)
    asked.push_back(
        wire.ask("POST", kPods, pod_json("p" + std::to_string(i)), {},
                 Http2Wire::Headers(i % 20, {"x-note", std::string(2'000 + 10 * i, 'a')})));
  for (const std::int32_t id : asked) EXPECT_EQ(wire.wait_for(id).code, 201);
}

TEST_F(Http2Test, SeveralAcceptHeadersAreOneList) {
  Http2Wire wire(site_);
  const HttpReply reply = wire.wait_for(
      wire.ask("GET", kPods, {}, {},
               Http2Wire::Headers{{"accept", "text/html"}, {"accept", "application/json"}}));
  EXPECT_EQ(reply.code, 200) << reply.body;
}

TEST_F(Http2Test, AWatchTellsEventsWhileOthersAsk) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true&resourceVersion=0");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod_json("p" + std::to_string(i)))).code, 201);
  const auto told = [&] {
    std::size_t events = 0;
    for (const char c : wire.replies[watch].body) events += c == '\n' ? 1 : 0;
    return events;
  };
  while (told() < 20 && wire.turn()) {
  }
  EXPECT_EQ(told(), 20U);
  EXPECT_EQ(wire.replies[watch].headers.at("content-type"), "application/json");
  EXPECT_FALSE(wire.closed.contains(watch));
  EXPECT_FALSE(wire.replies[watch].headers.contains("content-length"));
}

// S-M1: trailers are never headers.
TEST_F(Http2Test, TrailersAreDropped) {
  Http2Wire wire(site_);
  const std::int32_t asked =
      wire.ask("POST", kPods, pod_json("web"), {{"impersonate-user", "nobody"}});
  EXPECT_EQ(wire.wait_for(asked).code, 201);
}

TEST_F(Http2Test, AWatchEndsAtItsTimeout) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true&timeoutSeconds=1");
  EXPECT_EQ(wire.wait_for(watch).code, 200);
  EXPECT_EQ(wire.closed.at(watch), std::uint32_t{NGHTTP2_NO_ERROR});
}

TEST_F(Http2Test, AWatchThatIsCancelledIsForgotten) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true");
  while (wire.replies[watch].code == 0 && wire.turn()) {
  }
  wire.reset(watch);
  wire.send();
  EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod_json("after"))).code, 201);
  EXPECT_EQ(wire.replies[watch].body, "");
}

TEST_F(Http2Test, LargeAnswersPassThroughSmallWindows) {
  Http2Wire wire(site_);
  const std::string filler(20'000, 'x');
  for (int i = 0; i < 20; ++i) {
    std::string pod = pod_json("p" + std::to_string(i));
    pod.insert(pod.find("\"name\""), R"("annotations":{"a":")" + filler + R"("},)");
    EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod)).code, 201);
  }
  const HttpReply list = wire.wait_for(wire.ask("GET", kPods));
  EXPECT_GT(list.body.size(), 400'000U);
  EXPECT_EQ(list.headers.at("content-length"), std::to_string(list.body.size()));
}

TEST_F(Http2Test, BodiesAreBounded) {
  Http2Wire wire(site_);
  const std::int32_t id = wire.ask("POST", kPods, std::string(std::size_t{4} << 20U, ' '));
  EXPECT_EQ(wire.wait_for(id).code, 413);
  EXPECT_EQ(wire.wait_for(wire.ask("GET", "/version")).code, 200);
}

TEST_F(Http2Test, OversizedHeadersEndTheirStreamOnly) {
  Http2Wire wire(site_);
  const std::int32_t id = wire.ask("GET", "/version?" + std::string(70'000, 'x'));
  wire.wait_for(id);
  EXPECT_NE(wire.closed[id], std::uint32_t{NGHTTP2_NO_ERROR});
}

TEST_F(Http2Test, AFloodOfResetsEndsTheConnection) {
  Http2Wire wire(site_);
  ASSERT_EQ(wire.wait_for(wire.ask("GET", "/version")).code, 200);
  for (int i = 0; i < 3'000 && !wire.sent_away; ++i) {
    const std::int32_t id = wire.ask("GET", kPods);
    wire.send();
    wire.reset(id);
    wire.send();
  }
  // It hangs up; whether we read its farewell before our own bytes meet a closed socket is chance.
  // The test's limit of time is the only other end.
  const Account& all = site_.ledger().total();
  while (all.used(Resource::Connections) > 0 || all.used(Resource::Bytes) > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST_F(Http2Test, ServerStopsWithOpenWatches) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true");
  while (wire.replies[watch].code == 0 && wire.turn()) {
  }
  EXPECT_EQ(wire.replies[watch].code, 200);
  site_.stop();
  while (wire.turn()) {
  }
  // Cut off, not ended: a client must not take the stream for complete.
  EXPECT_FALSE(wire.closed.contains(watch));
  EXPECT_FALSE(Http2Wire(site_).open()) << "nobody listens any more";
}

ListenOptions waiting(std::chrono::milliseconds unreached_max) {
  ListenOptions options;
  options.limits.unreached = unreached_max;
  return options;
}

TEST(Http2, AReadAheadOfTheStoreWaitsForItBesideTheOthers) {
  const Site site(waiting(std::chrono::minutes(10)));
  Http2Wire wire(site);
  const std::string next = std::to_string(site.core().server().revision().value + 1);
  const std::int32_t read = wire.ask("GET", kPods + "?resourceVersion=" + next);
  EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod_json("web"))).code, 201);
  const HttpReply list = wire.wait_for(read);
  EXPECT_EQ(list.code, 200);
  EXPECT_NE(list.body.find(R"("name":"web")"), std::string::npos) << list.body;
}

// The pool reads the list, so the stream hears late that it has to wait, and for how long.
TEST(Http2, AReadThatWaitsInVainIsToldSo) {
  const Site site(waiting(std::chrono::milliseconds(300)));
  Http2Wire wire(site);
  const HttpReply late = wire.wait_for(wire.ask("GET", kPods + "?resourceVersion=999999"));
  EXPECT_EQ(late.code, 504);
  EXPECT_NE(late.body.find("ResourceVersionTooLarge"), std::string::npos) << late.body;
  EXPECT_EQ(wire.wait_for(wire.ask("GET", "/livez")).body, "ok");
}

}  // namespace
}  // namespace muster::server
