#include "app/controllers_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli.h"
#include "app/connection.h"
#include "app/process_flags.h"
#include "app/remote_process.h"
#include "app/scheduler_flags.h"
#include "app/version.h"
#include "client/https/https_client.h"
#include "components/components.h"

namespace muster::app {
namespace {

// The flags as they were written.
struct Flags {
  ProcessFlags process{.secure_port = 10257};
  std::vector<std::string> names;
};

// Those that no kube-controller-manager runs; all others have a namesake there.
constexpr std::array<std::string_view, 3> kOursAlone{"compositepodgroup-protection", "jobset",
                                                     "leaderworkerset"};

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const components::Entry& entry : components::all())
    if (entry.name != components::kScheduler) names.push_back(entry.name);
  return names;
}

Result<std::vector<const components::Entry*>> chosen(const std::vector<std::string>& names) {
  const std::string all = fmt::format("{}", fmt::join(known_names(), ", "));
  if (names.empty())
    return fail(Reason::Invalid,
                "nothing runs unless it is named: say --controllers NAME,... with some of {}", all);
  std::vector<const components::Entry*> entries;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(components::all(), name, &components::Entry::name);
    if (at == components::all().end() || name == components::kScheduler)
      return fail(Reason::Invalid, "--controllers: there is no {}; there are {}", name, all);
    entries.push_back(&*at);
  }
  return entries;
}

// The revision of the lease by which kube-controller-managers elect a leader; 0: nobody holds it.
Result<std::int64_t> manager_lease(client::HttpsClient& client) {
  api::Request get;
  get.kind = &api::kinds::lease();
  get.version = get.kind->stored_version;
  get.name_space = "kube-system";
  get.name = "kube-controller-manager";
  const Result<api::Answer> answer = client.call(get);
  if (!answer && answer.error().reason == Reason::NotFound) return 0;
  if (!answer) return fail(answer.error());
  const auto* const object = std::get_if<api::ObjectAnswer>(&answer->what);
  if (object == nullptr) return 0;
  const api::Json document = object->object->document();
  const api::Json* const spec = api::find(document, "spec");
  const bool is_held = spec != nullptr && !api::find_string(*spec, "holderIdentity").empty();
  return is_held ? object->object->revision().value : 0;
}

// Two controllers with the same task would undo each other's work. A manager that is alive renews
// its lease every two seconds; a lease that stands still is one that somebody left behind. Clocks
// of two machines are not compared.
Result<void> check_nobody_else(const std::vector<const components::Entry*>& entries,
                               const client::Kubeconfig& config) {
  std::vector<std::string_view> shared;
  for (const components::Entry* entry : entries)
    if (std::ranges::find(kOursAlone, entry->name) == kOursAlone.end())
      shared.push_back(entry->name);
  if (shared.empty()) return {};
  client::HttpsClient client = TRY(client::HttpsClient::open(config, {}));
  const std::int64_t before = TRY(manager_lease(client));
  if (before == 0) return {};
  std::this_thread::sleep_for(std::chrono::seconds{5});
  const std::int64_t after = TRY(manager_lease(client));
  if (after == before || after == 0) return {};
  return fail(Reason::Conflict,
              "a kube-controller-manager is at work (lease kube-system/kube-controller-manager) "
              "and has {} as well; switch them off there with --controllers=*,-NAME, or leave "
              "them out here",
              fmt::join(shared, ", "));
}

Result<void> run_controllers(const Flags& flags) {
  const std::vector<const components::Entry*> entries = TRY(chosen(flags.names));
  components::Settings settings;
  settings.scheduler.gates = TRY(parse_gates(flags.process.feature_gates));
  client::Kubeconfig config = TRY(load_connection(flags.process.connection));
  const ForeignCluster cluster = TRY(discover_cluster(std::move(config)));
  settings.ca_certificate = cluster.config.certificate_authority;
  TRY(check_nobody_else(entries, cluster.config));
  fmt::print("muster {} runs {}\n{}", version(), fmt::join(flags.names, ", "), describe(cluster));
  std::fflush(stdout);
  RemoteProcessOptions options = process_options(flags.process, "muster-controllers");
  options.rate = {.per_second = 20, .burst = 30};
  std::vector<RemoteComponent> components;
  for (const components::Entry* entry : entries)
    components.push_back({entry->name, [&settings, entry](client::ComponentContext context) {
                            return entry->make(settings, std::move(context));
                          }});
  return run_remote_process(options, cluster, components);
}

}  // namespace

Verb add_controllers_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("controllers", "Run controllers for a Kubernetes cluster");
  const auto flags = std::make_shared<Flags>();
  add_process_flags(*verb, flags->process);
  verb->add_option("--controllers", flags->names,
                   fmt::format("Which to run: some of {}", fmt::join(known_names(), ", ")))
      ->delimiter(',')
      ->type_name("NAME,...");
  return {verb, [flags] {
            const Result<void> ran = run_controllers(*flags);
            return ran ? kOk : refuse(ran.error().message);
          }};
}

}  // namespace muster::app
