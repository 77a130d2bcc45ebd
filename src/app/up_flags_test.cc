#include "app/up_flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::app {
namespace {

using std::chrono::milliseconds;

// What `muster up` would run with; nullopt if it refuses.
std::optional<UpOptions> options_of(const std::string& flags) {
  CLI::App app;
  std::optional<UpOptions> seen;
  const Verb verb = make_up_verb(app, [&](const UpOptions& options) -> Result<void> {
    seen = options;
    return {};
  });
  app.parse("up " + flags);
  const int code = verb.run();
  EXPECT_EQ(code, seen ? kOk : kRefused);
  return seen;
}

// A flag with a number, and what it sets, in the flag's unit.
struct Number {
  std::string flag;
  std::function<std::int64_t(const UpOptions&)> value;
};

std::int64_t mebibytes(std::size_t bytes) { return static_cast<std::int64_t>(bytes >> 20U); }
std::int64_t seconds(milliseconds time) { return time.count() / 1000; }
std::int64_t number(std::size_t count) { return static_cast<std::int64_t>(count); }

std::vector<Number> numbers() {
  using Options = const UpOptions&;
  return {
      {"--max-connections", [](Options o) { return number(o.limits.clients.connections.total); }},
      {"--max-connections-per-address",
       [](Options o) { return number(o.limits.clients.connections_per_address); }},
      {"--max-connections-per-user",
       [](Options o) { return number(o.limits.clients.connections.each); }},
      {"--max-connections-unauthenticated",
       [](Options o) { return number(o.limits.clients.connections_unproven); }},
      {"--reserved-connections",
       [](Options o) { return number(o.limits.clients.connections.reserved); }},
      {"--max-request-memory", [](Options o) { return mebibytes(o.limits.clients.bytes.total); }},
      {"--max-request-memory-per-user",
       [](Options o) { return mebibytes(o.limits.clients.bytes.each); }},
      {"--max-request-memory-per-connection",
       [](Options o) { return mebibytes(o.limits.clients.bytes_per_connection); }},
      {"--max-mutating-requests-inflight",
       [](Options o) { return number(o.limits.clients.writes.total); }},
      {"--max-mutating-requests-inflight-per-user",
       [](Options o) { return number(o.limits.clients.writes.each); }},
      {"--max-watches", [](Options o) { return number(o.limits.clients.watches.total); }},
      {"--max-watches-per-user", [](Options o) { return number(o.limits.clients.watches.each); }},
      {"--handshake-timeout", [](Options o) { return seconds(o.limits.deadlines.handshake); }},
      {"--header-timeout", [](Options o) { return seconds(o.limits.deadlines.head); }},
      {"--body-timeout", [](Options o) { return seconds(o.limits.deadlines.body); }},
      {"--idle-timeout", [](Options o) { return seconds(o.limits.deadlines.idle); }},
      {"--request-timeout", [](Options o) { return seconds(o.limits.deadlines.answer); }},
      {"--send-timeout", [](Options o) { return seconds(o.limits.deadlines.send); }},
      {"--watch-stall-timeout", [](Options o) { return seconds(o.limits.deadlines.watch_stall); }},
      {"--max-stored-memory", [](Options o) { return mebibytes(o.stored_bytes_max); }},
      {"--max-history", [](Options o) { return mebibytes(o.history_bytes_max); }},
      {"--audit-log-maxsize", [](Options o) { return mebibytes(o.audit_rotation.bytes_max); }},
      {"--audit-log-maxbackup", [](Options o) { return number(o.audit_rotation.backups_max); }},
      {"--audit-log-maxage",
       [](Options o) { return std::int64_t{o.audit_rotation.age_max.count()}; }}};
}

TEST(UpFlags, EachNumberIsSetByItsFlagAlone) {
  constexpr std::int64_t kOdd = 4'321;
  const auto plain = options_of("");
  ASSERT_TRUE(plain);
  for (const Number& given : numbers()) {
    const auto options = options_of(fmt::format("{} {}", given.flag, kOdd));
    ASSERT_TRUE(options) << given.flag;
    for (const Number& other : numbers())
      EXPECT_EQ(other.value(*options), other.flag == given.flag ? kOdd : other.value(*plain))
          << given.flag << " sets " << other.flag;
  }
}

TEST(UpFlags, TextsArriveWhereTheyBelong) {
  const auto options = options_of(
      "--listen [::1]:0 --tls-san a.example,10.0.0.7 --data-dir /d --write-kubeconfig /k "
      "--audit-log /a");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen_address, "::1");
  EXPECT_EQ(options->listen_port, 0);
  EXPECT_EQ(options->tls_sans, (std::vector<std::string>{"a.example", "10.0.0.7"}));
  EXPECT_EQ(options->data_dir, "/d");
  EXPECT_FALSE(options->in_memory);
  EXPECT_EQ(options->kubeconfig, "/k");
  EXPECT_EQ(options->audit_log, "/a");
  EXPECT_TRUE(options_of("--in-memory")->in_memory);
  EXPECT_FALSE(options_of("--in-memory --data-dir /d")) << "one of the two";
}

TEST(UpFlags, ControllersAreNamedOneByOneOrAllButSome) {
  EXPECT_TRUE(options_of("")->absent.empty());
  EXPECT_EQ(options_of("--controllers *,-job")->absent, (api::Absent{"job"}));
  const auto only = options_of("--controllers scheduler,job");
  ASSERT_TRUE(only);
  EXPECT_FALSE(only->absent.contains("scheduler"));
  EXPECT_FALSE(only->absent.contains("job"));
  EXPECT_TRUE(only->absent.contains("cronjob"));
  EXPECT_FALSE(options_of("--controllers *,-nothing"));
}

// What it says when it refuses.
std::string refusal_of(const std::string& flags) {
  testing::internal::CaptureStderr();
  const bool runs = options_of(flags).has_value();
  const std::string said = testing::internal::GetCapturedStderr();
  return runs ? "it runs" : said;
}

TEST(UpFlags, AnAddressToListenOnHasAPort) {
  const auto listen = [](const std::string& text) {
    const auto options = options_of("--listen " + text);
    return options ? fmt::format("{} {}", options->listen_address, options->listen_port)
                   : "refused";
  };
  EXPECT_EQ(listen("127.0.0.1:6443"), "127.0.0.1 6443");
  EXPECT_EQ(listen("localhost:1"), "127.0.0.1 1");
  EXPECT_EQ(listen("0.0.0.0:65535"), "0.0.0.0 65535");
  EXPECT_EQ(listen("[fd00::1]:8080"), "fd00::1 8080");
  for (const char* odd : {"6443", ":6443", "a:", "a:65536", "a:x", "a:1x"})
    EXPECT_EQ(listen(odd), "refused") << odd;
  EXPECT_NE(refusal_of("--listen a:x")
                .find("--listen a:x: x is no port from 0 to 65535; write ADDRESS:PORT, e.g. "
                      "127.0.0.1:6443 (port 0 picks a free one)"),
            std::string::npos);
}

TEST(UpFlags, FurtherNamesAreHostsOrAddresses) {
  for (const char* good : {"muster.example.com", "*.example.com", "10.0.0.7", "fd00::1"})
    EXPECT_TRUE(options_of(std::string("--tls-san ") + good)) << good;
  EXPECT_NE(refusal_of("--tls-san a_b").find("--tls-san a_b: neither an address nor a host name"),
            std::string::npos);
}

TEST(UpFlags, PretendNodesAreAsManyAsTheFlagsSay) {
  const auto shape = options_of(
      "--zones 2 --blocks-per-zone 3 --racks-per-block 4 --nodes-per-rack 5 --node-resources "
      "cpu=1,nvidia.com/gpu=8");
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->shape.pools.size(), 1U);
  const sim::NodePool& pool = shape->shape.pools[0];
  EXPECT_EQ(pool.zones, 2);
  EXPECT_EQ(pool.blocks_per_zone, 3);
  EXPECT_EQ(pool.racks_per_block, 4);
  EXPECT_EQ(pool.nodes_per_rack, 5);
  EXPECT_EQ(pool.resources, (std::vector<std::pair<std::string, std::string>>{
                                {"cpu", "1"}, {"nvidia.com/gpu", "8"}}));
  EXPECT_EQ(options_of("")->shape.node_count(), 0U);
  EXPECT_TRUE(options_of("--nodes-per-rack 200000"));
  EXPECT_NE(refusal_of("--zones 2 --nodes-per-rack 100001")
                .find("the cluster flags ask for more than 200000 nodes; make the cluster smaller"),
            std::string::npos);
  EXPECT_NE(refusal_of("--nodes-per-rack 1 --node-resources cpu=x").find("--node-resources: x is"),
            std::string::npos);
  for (const char* flag :
       {"--zones 2", "--blocks-per-zone 2", "--racks-per-block 2", "--node-resources cpu=1"})
    EXPECT_NE(refusal_of(flag).find("the cluster flags describe nodes but there are none; add "
                                    "--nodes-per-rack N"),
              std::string::npos)
        << flag;
}

TEST(UpFlags, JobsAreGroupedAsAsked) {
  const auto plain = options_of("");
  ASSERT_TRUE(plain);
  for (const bool all : {true, false}) {
    const auto options = options_of(std::string("--job-workloads ") + (all ? "all" : "requested"));
    ASSERT_TRUE(options);
    EXPECT_EQ(options->jobs.group_all, all);
    EXPECT_EQ(options->jobs.gang_for_indexed, plain->jobs.gang_for_indexed);
  }
  for (const bool indexed : {true, false}) {
    const auto options =
        options_of(std::string("--job-gang-default ") + (indexed ? "indexed" : "none"));
    ASSERT_TRUE(options);
    EXPECT_EQ(options->jobs.gang_for_indexed, indexed);
    EXPECT_EQ(options->jobs.group_all, plain->jobs.group_all);
  }
}

}  // namespace
}  // namespace muster::app
