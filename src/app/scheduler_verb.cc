#include "app/scheduler_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/values/go_duration.h"
#include "api/views/projection.h"
#include "app/connection.h"
#include "app/process_flags.h"
#include "app/process_settings.h"
#include "app/remote_process.h"
#include "app/scheduler_flags.h"
#include "app/served_gates.h"
#include "app/version.h"
#include "client/remote/remote_client.h"
#include "components/components.h"
#include "scheduler/framework/profiles.h"

namespace muster::app {
namespace {

// The flags as they were written.
struct Flags {
  ProcessFlags process{.secure_port = 10259};
  std::string config_file;
  std::string release_half_bound_after;
};

// What is on its way to the server cannot be taken back: no more than the rate lets through at
// once, nor much more than keeps the client busy, since what waits behind only takes memory.
std::size_t binds_in_flight(const client::RateLimit::Options& rate) {
  const std::size_t usual = 2 * client::RemoteOptions{}.in_flight_max;
  if (rate.per_second <= 0) return usual;
  return std::min(usual, static_cast<std::size_t>(std::max(rate.burst, 1)));
}

Result<Duration> release_deadline(const Flags& flags) {
  if (flags.release_half_bound_after.empty()) return Duration::zero();
  const std::optional<Duration> read = api::parse_go_duration(flags.release_half_bound_after);
  if (!read || *read <= Duration::zero())
    return fail(Reason::Invalid,
                "--release-half-bound-after {}: not a length of time; write 5m or 1h30m",
                flags.release_half_bound_after);
  return *read;
}

components::Settings component_settings(const SchedulerSettings& settings,
                                        const ForeignCluster& cluster, const api::Gates& gates) {
  components::Settings out;
  out.scheduler.profiles = settings.config.profiles;
  out.scheduler.initial_backoff = settings.config.initial_backoff;
  out.scheduler.max_backoff = settings.config.max_backoff;
  out.scheduler.gates = gates_of_scheduler(cluster.served, gates);
  out.scheduler.group_bindings = cluster.served.version_of(api::kinds::group_binding()) != nullptr;
  const std::string identity = process_identity();
  out.scheduler.instance = identity.substr(0, identity.find('_'));
  return out;
}

Result<void> run_scheduler(const Flags& flags) {
  const SchedulerSettings settings =
      TRY(scheduler_settings(SchedulerFlags{.config_file = flags.config_file, .pack = {}}));
  const api::Gates gates = TRY(parse_gates(flags.process.feature_gates));
  RemoteProcessOptions options = process_options(flags.process, "muster-scheduler");
  const bool serves_default = settings.config.profiles.serves(scheduler::kDefaultSchedulerName);
  options.election.name = usual_lease(serves_default);
  options.project = api::kept_by_scheduler;
  // By the client's thread alone.
  options.make = [templates = std::make_shared<api::PodTemplates>()](const api::Kind& kind,
                                                                     api::Json& document) {
    return api::made_for_scheduler(kind, document, *templates);
  };
  const ConnectionSettings connection = TRY(read_process_settings(settings.text, options));
  if (!flags.process.lease.empty()) options.election.name = flags.process.lease;
  TRY(check_lease(options.election, serves_default));
  const Duration release_after = TRY(release_deadline(flags));
  ConnectionFlags where = flags.process.connection;
  if (where.kubeconfig.empty()) where.kubeconfig = connection.kubeconfig;

  const client::Kubeconfig config = TRY(load_connection(where));
  const auto choose = [&](const ForeignCluster& cluster) -> Result<std::vector<RemoteComponent>> {
    fmt::print("muster {}\n{}", version(), describe(cluster));
    std::fflush(stdout);
    components::Settings made_with = component_settings(settings, cluster, gates);
    made_with.scheduler.release_half_bound_after = release_after;
    made_with.scheduler.binds_in_flight_max = binds_in_flight(options.rate);
    const auto entry =
        std::ranges::find(components::all(), components::kScheduler, &components::Entry::name);
    return std::vector<RemoteComponent>{
        {entry->name, [entry, made_with](client::ComponentContext context) {
           return entry->make(made_with, std::move(context));
         }}};
  };
  return run_remote_process(options, config, choose);
}

}  // namespace

Verb add_scheduler_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("scheduler", "Schedule the pods of a Kubernetes cluster");
  const auto flags = std::make_shared<Flags>();
  add_process_flags(*verb, flags->process);
  verb->add_option("--config", flags->config_file,
                   "How to schedule: a KubeSchedulerConfiguration file (docs/scheduler-config.md)")
      ->type_name("FILE");
  verb->add_option("--release-half-bound-after", flags->release_half_bound_after,
                   "Delete the bound pods of a gang that is below its minimum for so long because "
                   "others could not be bound; without it that is only reported")
      ->type_name("DURATION");
  return {verb, [flags] {
            const Result<void> ran = run_scheduler(*flags);
            return ran ? kOk : refuse(ran.error().message);
          }};
}

}  // namespace muster::app
