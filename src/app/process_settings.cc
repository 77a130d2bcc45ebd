#include "app/process_settings.h"

#include <fmt/format.h>

#include <optional>

#include "api/reading.h"
#include "api/yaml.h"
#include "base/log.h"
#include "sim/pretend_status.h"

namespace muster::app {
namespace {

constexpr std::string_view kLeaseOfKubeScheduler = "kube-scheduler";
constexpr std::string_view kSpaceOfKubeScheduler = "kube-system";

using api::find_set;
using api::Json;
using api::part_of;

Result<void> read_duration(const Json& owner, std::string_view member, Duration& into) {
  const Json* const found = find_set(owner, member);
  if (found == nullptr) return {};
  const std::optional<Duration> read = sim::parse_duration(api::text_of(*found));
  if (!read || *read <= Duration{0})
    return fail(Reason::Invalid, "leaderElection.{}: {} is no length of time; write e.g. 15s",
                member, api::to_text(*found));
  into = *read;
  return {};
}

Result<void> read_election(const Json& election, RemoteProcessOptions::Election& into) {
  if (const Json* on = find_set(election, "leaderElect"); on != nullptr && on->is_bool())
    into.on = on->get_bool();
  TRY(read_duration(election, "leaseDuration", into.lease_duration));
  TRY(read_duration(election, "renewDeadline", into.renew_deadline));
  TRY(read_duration(election, "retryPeriod", into.retry_period));
  if (const auto name = api::find_string(election, "resourceName"); !name.empty()) into.name = name;
  if (const auto name = api::find_string(election, "resourceNamespace"); !name.empty())
    into.name_space = name;
  const std::string_view lock = api::find_string(election, "resourceLock");
  if (!lock.empty() && lock != "leases")
    return fail(Reason::Invalid, "leaderElection.resourceLock: {} is not supported; write leases",
                lock);
  if (into.lease_duration <= into.renew_deadline)
    return fail(Reason::Invalid,
                "leaderElection.leaseDuration: must be greater than RenewDeadline");
  if (into.renew_deadline * 10 <= into.retry_period * 12)
    return fail(Reason::Invalid,
                "leaderElection.renewDeadline: must be greater than RetryPeriod * 1.2");
  return {};
}

std::optional<double> number_of(const Json& value) {
  if (value.is_double()) return value.get_double();
  const std::optional<std::int64_t> integer = api::integer_of(value);
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

}  // namespace

Result<ConnectionSettings> read_process_settings(std::string_view text,
                                                 RemoteProcessOptions& options) {
  ConnectionSettings settings;
  if (text.empty()) return settings;
  const api::ParsedJson parsed = TRY(api::parse_yaml(text));
  TRY(read_election(part_of(parsed.value, "leaderElection"), options.election));
  const Json& connection = part_of(parsed.value, "clientConnection");
  if (const Json* qps = find_set(connection, "qps")) {
    const std::optional<double> rate = number_of(*qps);
    if (!rate)
      return fail(Reason::Invalid, "clientConnection.qps: {} is no number", api::to_text(*qps));
    options.rate.per_second = *rate;
  }
  if (const auto burst = api::find_integer(connection, "burst")) {
    if (*burst < 0 || *burst > 1'000'000)
      return fail(Reason::Invalid, "clientConnection.burst: {} must be from 0 to 1000000", *burst);
    if (*burst > 0) options.rate.burst = static_cast<int>(*burst);
  }
  settings.kubeconfig = api::find_string(connection, "kubeconfig");
  return settings;
}

std::string usual_lease(bool serves_default_scheduler) {
  return serves_default_scheduler ? std::string(kLeaseOfKubeScheduler) : "muster-scheduler";
}

Result<void> check_lease(const RemoteProcessOptions::Election& election,
                         bool serves_default_scheduler) {
  if (!serves_default_scheduler) return {};
  if (!election.on) {
    log(LogLevel::Warning,
        "default-scheduler is served without an election: stop every other process that serves "
        "it, or both will decide about its pods at once");
    return {};
  }
  if (election.name == kLeaseOfKubeScheduler && election.name_space == kSpaceOfKubeScheduler)
    return {};
  return fail(Reason::Invalid,
              "default-scheduler is served under the lease {}/{}, which keeps no kube-scheduler "
              "from deciding about the same pods: remove leaderElection.resourceName, "
              "leaderElection.resourceNamespace and --leader-elect-resource-name, so that the "
              "lease is {}/{}, or give the profile another schedulerName",
              election.name_space, election.name, kSpaceOfKubeScheduler, kLeaseOfKubeScheduler);
}

}  // namespace muster::app
