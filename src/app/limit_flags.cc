#include "app/limit_flags.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace muster::app {
namespace {

using std::chrono::milliseconds;

void add_count(CLI::App& verb, const std::string& flag, std::size_t& into, const char* help) {
  verb.add_option(flag, into, help)
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->capture_default_str()
      ->group("Limits");
}

void add_bytes(CLI::App& verb, const std::string& flag, std::size_t& into, const char* help) {
  verb.add_option_function<std::size_t>(
          flag, [&into](std::size_t mebibytes) { into = mebibytes << 20U; }, help)
      ->check(CLI::Range(std::size_t{1}, std::size_t{1U << 20U}))
      ->default_str(std::to_string(into >> 20U))
      ->group("Limits");
}

void add_seconds(CLI::App& verb, const std::string& flag, milliseconds& into, const char* help) {
  verb.add_option_function<std::int64_t>(
          flag, [&into](std::int64_t s) { into = std::chrono::seconds(s); }, help)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400}))
      ->default_str(std::to_string(into.count() / 1000))
      ->group("Limits");
}

}  // namespace

void add_limit_flags(CLI::App& verb, server::HttpLimits& limits) {
  server::ClientLimits& clients = limits.clients;
  add_count(verb, "--max-connections", clients.connections.total, "Open connections");
  add_count(verb, "--max-connections-per-address", clients.connections_per_address,
            "Open connections of one client address");
  add_count(verb, "--max-connections-per-user", clients.connections.each,
            "Open connections of one user");
  add_count(verb, "--max-connections-unauthenticated", clients.connections_unproven,
            "Connections on which no known user has sent a request; the oldest are closed first");
  add_count(verb, "--reserved-connections", clients.connections.reserved,
            "More connections, for members of system:masters only");
  add_bytes(verb, "--max-request-memory", clients.bytes.total,
            "MiB of requests and answers in memory");
  add_bytes(verb, "--max-request-memory-per-user", clients.bytes.each, "The same, of one user");
  add_bytes(verb, "--max-request-memory-per-connection", clients.bytes_per_connection,
            "The same, of one connection");
  add_count(verb, "--max-mutating-requests-inflight", clients.writes.total,
            "Writes that wait for their answer");
  add_count(verb, "--max-mutating-requests-inflight-per-user", clients.writes.each,
            "The same, of one user");
  add_count(verb, "--max-watches", clients.watches.total, "Open watches");
  add_count(verb, "--max-watches-per-user", clients.watches.each, "Open watches of one user");
  server::Deadlines& deadlines = limits.deadlines;
  add_seconds(verb, "--handshake-timeout", deadlines.handshake, "Seconds for a TLS handshake");
  add_seconds(verb, "--header-timeout", deadlines.head, "Seconds for the head of a request");
  add_seconds(verb, "--body-timeout", deadlines.body, "Seconds for the body of a request");
  add_seconds(verb, "--idle-timeout", deadlines.idle, "Seconds between two requests");
  add_seconds(verb, "--request-timeout", deadlines.answer, "Seconds a write may take");
  add_seconds(verb, "--send-timeout", deadlines.send,
              "Seconds for the client to read an answer, and one more per 64 KiB");
  add_seconds(verb, "--watch-stall-timeout", deadlines.watch_stall,
              "Seconds for the client to read what a watch has sent");
}

void add_store_limit_flags(CLI::App& verb, std::size_t& stored_bytes_max,
                           std::size_t& history_bytes_max) {
  add_bytes(verb, "--max-stored-memory", stored_bytes_max,
            "MiB of all objects; no namespace has more than it leaves free");
  add_bytes(verb, "--max-history", history_bytes_max,
            "MiB of replaced and deleted objects on disk; beyond them the oldest go early");
}

void add_audit_flags(CLI::App& verb, server::AuditLog::Rotation& rotation) {
  add_bytes(verb, "--audit-log-maxsize", rotation.bytes_max,
            "Megabytes of the audit log before it is rotated");
  verb.add_option("--audit-log-maxbackup", rotation.backups_max,
                  "Rotated audit logs to keep; 0 keeps all")
      ->capture_default_str()
      ->group("Limits");
  verb.add_option_function<int>(
          "--audit-log-maxage",
          [&rotation](int days) { rotation.age_max = std::chrono::days(days); },
          "Days to keep rotated audit logs; 0 keeps them forever")
      ->check(CLI::Range(0, 36'500))
      ->default_str("0")
      ->group("Limits");
}

}  // namespace muster::app
