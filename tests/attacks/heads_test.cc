#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "attacks_testing.h"

// Requests that cost more than they look like before anything is answered: large heads, many
// streams, and lists that wait.
namespace muster::server {
namespace {

void make_map(const Site& site, const std::string& name, std::size_t bytes) {
  Wire wire(site, {.client = &site.admin});
  ASSERT_EQ(wire.ask({.method = "POST", .target = kMaps, .body = map_json(name, bytes)}).code, 201);
}

std::string long_selector() {
  std::string values = "a";
  while (values.size() < 50'000) values += "," + std::to_string(values.size());
  return "?watch=1&labelSelector=x+in+(" + values + ")";
}

// A watch keeps its selector: sixty kilobytes of one are a megabyte in memory.
TEST(HeadsTest, AWatchWithALongSelectorIsCountedAndItsEndToo) {
  ListenOptions options;
  options.limits.clients.bytes = {.total = 4U << 20U, .each = 4U << 20U, .reserved = 0};
  const Site site(options);
  std::vector<std::unique_ptr<Wire>> wires;
  std::vector<int> codes;
  for (int i = 0; i < 10; ++i) {
    wires.push_back(std::make_unique<Wire>(site, Wire::Options{.client = &site.admin}));
    wires.back()->send({.target = kMaps + long_selector()});
    codes.push_back(wires.back()->read_head().code);
  }
  EXPECT_EQ(codes.front(), 200);
  EXPECT_EQ(codes.back(), 429);
  EXPECT_GT(held(site, Resource::Bytes), 2 << 20);
  wires.clear();
  await([&] { return held(site, Resource::Bytes) < (1 << 20); });
}

// A head is given back when it is answered, though the connection stays.
TEST(HeadsTest, AnsweredHeadsAreNotKept) {
  const Site site;
  std::vector<std::unique_ptr<Wire>> wires;
  for (int i = 0; i < 5; ++i) {
    wires.push_back(std::make_unique<Wire>(site, Wire::Options{.client = &site.admin}));
    EXPECT_EQ(wires.back()->get("/version?" + std::string(50'000, 'a')).code, 200);
    EXPECT_EQ(wires.back()->get("/version").code, 200) << "and the next request is as good";
  }
  await([&] { return held(site, Resource::Bytes) < 100'000; });
}

// A connection has a hundred streams, and a client has thousands of connections.
TEST(HeadsTest, UnansweredStreamsHaveALimit) {
  ListenOptions options;
  options.limits.clients.streams = {.total = 20, .each = 20, .reserved = 0};
  const Site site(options);
  make_map(site, "large", 400'000);
  Http2Wire wire(site, {.receive_buffer = 4096});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 60; ++i) ids.push_back(wire.ask("GET", kMaps + "/large"));
  wire.send();
  await([&] { return held(site, Resource::Streams) >= 20; });
  for (const std::int32_t id : ids) (void)wire.wait_for(id);
  const auto refused = std::ranges::count_if(
      ids, [&](std::int32_t id) { return wire.closed[id] == NGHTTP2_REFUSED_STREAM; });
  EXPECT_GE(refused, 1);
  EXPECT_LT(refused, 60);
  await([&] { return held(site, Resource::Streams) == 0; });
}

// Watches are counted by themselves.
TEST(HeadsTest, WatchesAreNoStreamsToBeAnswered) {
  const Site site;
  Http2Wire wire(site);
  for (int i = 0; i < 50; ++i) wire.ask("GET", kMaps + "?watch=1");
  wire.send();
  await([&] { return held(site, Resource::Watches) == 50 && held(site, Resource::Streams) == 0; });
}

// Lists of a revision that is still to come waited beside the accounts, and were all made at once
// when it came.
TEST(HeadsTest, ListsThatHaveWaitedAskForRoom) {
  ListenOptions options;
  options.limits.unreached = std::chrono::seconds(60);
  options.limits.clients.bytes = {.total = 6U << 20U, .each = 6U << 20U, .reserved = 0};
  const Site site(options);
  make_map(site, "one", 900'000);
  Wire reader(site, {.client = &site.admin});
  const std::string list = reader.get(kMaps).body;
  const std::string mark = R"("resourceVersion":")";
  const long revision = std::stol(list.substr(list.find(mark) + mark.size()));
  Http2Wire wire(site, {.receive_buffer = 4096});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 40; ++i)
    ids.push_back(wire.ask("GET", kMaps + "?resourceVersion=" + std::to_string(revision + 1)));
  wire.send();
  await([&] { return held(site, Resource::Streams) == 40; });
  make_map(site, "two", 10);
  int refused = 0;
  int answered = 0;
  for (const std::int32_t id : ids) {
    const int code = wire.wait_for(id).code;
    refused += code == 429 ? 1 : 0;
    answered += code == 200 ? 1 : 0;
  }
  EXPECT_GE(answered, 1);
  EXPECT_GE(refused, 1);
  EXPECT_EQ(refused + answered, 40);
}

// What is packed or indented is made beside the I/O threads; it must come back all the same.
TEST(HeadsTest, LargeAnswersComeBackPacked) {
  const Site site;
  make_map(site, "large", 500'000);
  Wire wire(site, {.client = &site.admin});
  const std::vector<std::string> packed = {"Accept-Encoding: gzip"};
  const auto read = wire.ask({.target = kMaps + "/large", .headers = packed});
  EXPECT_EQ(read.code, 200);
  EXPECT_EQ(read.headers.at("content-encoding"), "gzip");
  const auto written =
      wire.ask({.method = "PATCH",
                .target = kMaps + "/large",
                .headers = {"Content-Type: application/merge-patch+json", "Accept-Encoding: gzip"},
                .body = R"({"metadata":{"labels":{"x":"y"}}})"});
  EXPECT_EQ(written.code, 200);
  EXPECT_EQ(written.headers.at("content-encoding"), "gzip");
  for (int i = 0; i < 150; ++i) make_map(site, "m" + std::to_string(i), 10);
  const auto deleted = wire.ask({.method = "DELETE", .target = kMaps});
  EXPECT_EQ(deleted.code, 200);
  EXPECT_NE(deleted.body.find(R"("name":"m149")"), std::string::npos);
  EXPECT_EQ(wire.get("/version").code, 200);
}

}  // namespace
}  // namespace muster::server
