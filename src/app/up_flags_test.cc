#include "app/up_flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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

}  // namespace
}  // namespace muster::app
