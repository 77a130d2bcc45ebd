#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "attacks_testing.h"
#include "server/http/certificates.h"

// A client that asks for much leaves others their turn.
namespace muster::server {
namespace {

// What was read at once is answered a few requests at a time. Here an answer takes long, and the
// neighbour comes soon.
TEST(TurnsTest, RequestsOfOneReadAreAnsweredInTurns) {
  constexpr int kAsked = 50;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> steps;  // under mutex, as all below
  bool recording = false;
  bool has_begun = false;
  bool has_asked = false;
  ListenOptions options;
  options.threads = 1;
  options.before_step = [&](std::string_view step) {
    std::unique_lock lock(mutex);
    if (!recording) return;
    steps.emplace_back(step);
    if (step != "run") return;
    has_begun = true;
    changed.notify_all();
    changed.wait(lock, [&] { return has_asked; });
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  const Site site(options);
  Wire neighbour(site, {.client = &site.admin});
  Http2Wire wire(site);
  ASSERT_EQ(neighbour.get("/livez").body, "ok");
  ASSERT_EQ(wire.wait_for(wire.ask("GET", "/livez")).body, "ok");
  {
    const std::lock_guard lock(mutex);
    recording = true;
  }
  std::vector<std::int32_t> ids;
  for (int i = 0; i < kAsked; ++i) ids.push_back(wire.ask("GET", "/livez"));
  wire.send();
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return has_begun; });
  }
  neighbour.send({.target = "/none"});
  {
    const std::lock_guard lock(mutex);
    has_asked = true;
  }
  changed.notify_all();
  for (const std::int32_t id : ids) ASSERT_EQ(wire.wait_for(id).code, 200);
  EXPECT_EQ(neighbour.read_reply().code, 404);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(steps.size(), static_cast<std::size_t>(2 * kAsked) + 1);
  EXPECT_LE(std::ranges::adjacent_find(steps) - steps.begin(), 10);
}

// The state of groups is counted, and that may be much to count.
TEST(TurnsTest, GroupsAreNotCountedByAnIoThread) {
  std::mutex mutex;
  std::map<std::string, std::thread::id, std::less<>> thread_of;  // by step, under mutex
  ListenOptions options;
  options.threads = 1;
  options.before_step = [&](std::string_view step) {
    const std::lock_guard lock(mutex);
    thread_of.insert_or_assign(std::string(step), std::this_thread::get_id());
  };
  const Site site(options);
  Wire wire(site, {.client = &site.admin});
  const std::string groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
  const std::string as_table = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io";
  const auto ask = [&](const std::string& method, const std::string& target,
                       const std::string& body = {}) {
    const HttpReply reply =
        wire.ask({.method = method, .target = target, .headers = {as_table}, .body = body});
    EXPECT_LT(reply.code, 300) << target << reply.body;
    EXPECT_NE(reply.body.find(R"("<none>","0","0","<none>")"), std::string::npos) << reply.body;
    const std::lock_guard lock(mutex);
    EXPECT_NE(thread_of["respond"], thread_of["admit"]) << method << target;
  };
  ask("POST", groups, R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"basic":{}}}})");
  ask("GET", groups + "/g");
  ask("GET", groups);
}

// A watch waits for no count, and has one made.
TEST(TurnsTest, AWatchShowsHowGroupsStandOnceTheyAreCounted) {
  const Site site;
  const std::string groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
  Wire wire(site, {.client = &site.admin});
  const HttpReply made =
      wire.ask({.method = "POST",
                .target = groups,
                .body = R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"basic":{}}}})"});
  ASSERT_EQ(made.code, 201);
  const std::string mark = R"("resourceVersion":")";
  const std::size_t at = made.body.find(mark) + mark.size();
  const std::string revision = made.body.substr(at, made.body.find('"', at) - at);

  Wire watching(site, {.client = &site.admin});
  watching.send({.target = groups + "?watch=1&resourceVersion=" + revision,
                 .headers = {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io"}});
  ASSERT_EQ(watching.read_head().code, 200);
  std::string line;
  for (int i = 0; i == 0 || line.find("<unknown>") != std::string::npos; ++i) {
    ASSERT_LT(i, 1'000);
    const std::string label = R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})";
    ASSERT_EQ(wire.ask({.method = "PATCH",
                        .target = groups + "/g",
                        .headers = {"Content-Type: application/merge-patch+json"},
                        .body = label})
                  .code,
              200);
    line = watching.read_line();
    EXPECT_TRUE(i > 0 || line.find("<unknown>") != std::string::npos) << "nobody has counted yet";
  }
  EXPECT_NE(line.find(R"("<none>","0","0","<none>")"), std::string::npos) << line;
}

// Here the neighbour asks when the first piece of a large list is about to be written.
TEST(TurnsTest, ListsAreWrittenInTurns) {
  constexpr int kLarge = 12;  // MiB, and so many pieces
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> steps;  // under mutex, as all below
  bool recording = false;
  bool has_begun = false;
  bool has_asked = false;
  ListenOptions options;
  options.threads = 1;  // of the pool as well
  options.before_step = [&](std::string_view step) {
    std::unique_lock lock(mutex);
    if (!recording) return;
    if (step == "admit" && has_begun) {
      has_asked = true;
      changed.notify_all();
    }
    if (step != "list" && step != "go_on") return;
    steps.emplace_back(step);
    has_begun = true;
    changed.notify_all();
    changed.wait(lock, [&] { return has_asked; });
    lock.unlock();
    // Until what was admitted is on its way to the pool.
    if (step == "go_on") std::this_thread::sleep_for(std::chrono::milliseconds{5});
  };
  const Site site(options);
  for (int i = 0; i < kLarge; ++i) {
    Wire maker(site, {.client = &site.admin});
    const std::string map = map_json("m" + std::to_string(i), 1U << 20U);
    ASSERT_EQ(maker.ask({.method = "POST", .target = kMaps, .body = map}).code, 201);
  }
  const Credential other =
      make_client_certificate(site.authority, {.user = "other", .groups = {"system:masters"}},
                              SystemClock().now())
          .value();
  Wire large(site, {.client = &site.admin});
  Wire neighbour(site, {.client = &other});
  ASSERT_EQ(neighbour.get(kMaps + "/m0").code, 200);
  {
    const std::lock_guard lock(mutex);
    recording = true;
  }
  large.send({.target = kMaps});
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return has_begun; });
  }
  neighbour.send({.target = "/api/v1/namespaces"});
  EXPECT_EQ(neighbour.read_reply().code, 200);
  const HttpReply reply = large.read_reply();
  EXPECT_EQ(reply.code, 200);
  EXPECT_GT(reply.body.size(), std::size_t{kLarge} << 20U);
  EXPECT_TRUE(reply.body.ends_with("]}\n"));
  const std::lock_guard lock(mutex);
  // One "list" each, and a "go_on" for each piece.
  EXPECT_EQ(std::ranges::count(steps, "list"), 2);
  EXPECT_GE(std::ranges::count(steps, "go_on"), kLarge);
  const auto second = std::ranges::find(steps.begin() + 1, steps.end(), "list");
  EXPECT_LT(second - steps.begin(), kLarge) << "the large one was not at its end";
}

}  // namespace
}  // namespace muster::server
