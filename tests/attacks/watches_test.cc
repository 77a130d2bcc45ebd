#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "attacks_testing.h"

// Watches that cost more than they look like: those that begin with a list, and those that are far
// behind.
namespace muster::server {
namespace {

const std::string kInitial = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

void make_map(Wire& wire, const std::string& name, const std::string& labels = "{}") {
  ASSERT_EQ(wire.ask({.method = "POST",
                      .target = kMaps,
                      .body = R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}"})
                .code,
            201);
}

long newest_revision(Wire& wire) {
  const std::string list = wire.get(kMaps).body;
  const std::string mark = R"("resourceVersion":")";
  return std::stol(list.substr(list.find(mark) + mark.size()));
}

// The first event about `name`; what came last, if the stream ended before.
std::string event_about(Wire& watch, const std::string& name) {
  std::string line = watch.read_line();
  while (!line.empty() && line.find("\"" + name + "\"") == std::string::npos)
    line = watch.read_line();
  return line;
}
bool is_heard(Http2Wire& watch, std::int32_t stream, const std::string& name) {
  const std::string wanted = "\"" + name + "\"";
  while (watch.replies[stream].body.find(wanted) == std::string::npos)
    if (!watch.turn()) return false;
  return true;
}

// A watch without a revision lists all that is there: milliseconds for a hundred thousand objects,
// and a connection may ask for a hundred watches at once.
TEST(WatchesTest, TheListOfAWatchIsNotMadeByAnIoThread) {
  std::mutex mutex;
  std::map<std::string, std::thread::id, std::less<>> thread_of;  // by step, under mutex
  ListenOptions options;
  options.before_step = [&](std::string_view step) {
    const std::lock_guard lock(mutex);
    thread_of.insert_or_assign(std::string(step), std::this_thread::get_id());
  };
  const Site site(options);
  const auto is_made_by_io_thread = [&](const std::string& query) {
    Wire wire(site, {.client = &site.admin});
    wire.send({.target = kMaps + query});
    EXPECT_EQ(wire.read_head().code, 200) << query;  // comes after the first pull
    const std::lock_guard lock(mutex);
    return thread_of["run"] == thread_of["pull"];
  };
  for (const std::string query :
       {"?watch=1", "?watch=1&resourceVersion=0", "?watch=1&resourceVersion=00"})
    EXPECT_FALSE(is_made_by_io_thread(query)) << query;
  EXPECT_FALSE(is_made_by_io_thread(kInitial + "&resourceVersion=1"));
  EXPECT_TRUE(is_made_by_io_thread("?watch=1&resourceVersion=1")) << "this one lists nothing";
}

TEST(WatchesTest, AListOfARevisionToComeIsWaitedFor) {
  ListenOptions options;
  options.limits.unreached = std::chrono::seconds(60);
  const Site site(options);
  Wire writer(site, {.client = &site.admin});
  make_map(writer, "one");
  const std::string ahead =
      kInitial + "&resourceVersion=" + std::to_string(newest_revision(writer) + 1);
  Wire wire(site, {.client = &site.admin});
  wire.send({.target = kMaps + ahead});
  Http2Wire other(site);
  const std::int32_t stream = other.ask("GET", kMaps + ahead);
  other.send();
  make_map(writer, "two");
  EXPECT_EQ(wire.read_head().code, 200);
  EXPECT_NE(event_about(wire, "one").find("ADDED"), std::string::npos);
  EXPECT_NE(event_about(wire, "two").find("ADDED"), std::string::npos);
  EXPECT_TRUE(is_heard(other, stream, "one"));
  EXPECT_TRUE(is_heard(other, stream, "two"));
}

TEST(WatchesTest, AListOfARevisionThatNeverComesFailsInTheStream) {
  ListenOptions options;
  options.limits.unreached = std::chrono::milliseconds(20);
  const Site site(options);
  Wire wire(site, {.client = &site.admin});
  wire.send({.target = kMaps + kInitial + "&resourceVersion=1000000"});
  EXPECT_EQ(wire.read_head().code, 200);
  const std::string event = wire.read_line();
  EXPECT_NE(event.find(R"("type":"ERROR")"), std::string::npos) << event;
  EXPECT_NE(event.find("Too large resource version"), std::string::npos) << event;
}

// Who is a hundred thousand changes behind and selects none of them was led through all of them in
// one turn of the I/O thread.
TEST(WatchesTest, ManyChangesForOthersAreLookedAtInTurns) {
  constexpr int kChanges = 100;
  std::atomic<int> pulls{0};
  ListenOptions options;
  options.before_step = [&](std::string_view step) {
    if (step == "pull") ++pulls;
  };
  const Site site(options);
  Wire writer(site, {.client = &site.admin});
  for (int i = 0; i < kChanges; ++i) make_map(writer, "m" + std::to_string(i));
  make_map(writer, "mine", R"({"app":"web"})");
  std::string selector = "app=web";
  for (int i = 0; i < 249; ++i) selector += ",!k" + std::to_string(i);
  const std::string target = kMaps + "?watch=1&resourceVersion=1&labelSelector=" + selector;

  Wire wire(site, {.client = &site.admin});
  wire.send({.target = target});
  EXPECT_EQ(wire.read_head().code, 200);
  EXPECT_NE(event_about(wire, "mine").find("ADDED"), std::string::npos);
  EXPECT_GE(pulls.exchange(0), kChanges / 16);

  Http2Wire other(site);
  EXPECT_TRUE(is_heard(other, other.ask("GET", target), "mine"));
  EXPECT_GE(pulls.load(), kChanges / 16);

  make_map(writer, "next", R"({"app":"web"})");
  EXPECT_NE(event_about(wire, "next").find("ADDED"), std::string::npos) << "and it goes on";
}

}  // namespace
}  // namespace muster::server
