#include "app/controllers_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/views/projection.h"
#include "app/connection.h"
#include "app/live_leases.h"
#include "app/process_flags.h"
#include "app/remote_process.h"
#include "app/scheduler_flags.h"
#include "app/served_gates.h"
#include "app/version.h"
#include "client/https/https_client.h"
#include "components/components.h"

namespace muster::app {
namespace {

// The flags as they were written.
struct Flags {
  ProcessFlags process{.secure_port = 10257};
  std::vector<std::string> names;
  bool protect_composites = false;
  bool switched_off_elsewhere = false;
};

// Who else runs a controller of ours, and how that shows.
struct Namesake {
  std::string_view controller;
  std::string_view manager;
  std::string_view name_space;  // of its lease, as it is installed
  std::string_view lease;
};
// Those that no kube-controller-manager runs; all others have a namesake there.
constexpr std::array<Namesake, 4> kElsewhere{
    {{"compositepodgroup-protection", "", "", ""},
     {"group-minimum", "", "", ""},
     {"jobset", "JobSet controller", "jobset-system", "6d4f6a47.jobset.x-k8s.io"},
     {"leaderworkerset", "LeaderWorkerSet controller", "lws-system", "b8b2488c.x-k8s.io"}}};
constexpr std::string_view kCompositeProtection = "compositepodgroup-protection";
constexpr Namesake kManager{"", "kube-controller-manager", "kube-system",
                            "kube-controller-manager"};

Namesake namesake_of(std::string_view controller) {
  const auto at = std::ranges::find(kElsewhere, controller, &Namesake::controller);
  return at == kElsewhere.end() ? kManager : *at;
}

bool is_controller(const components::Entry& entry) {
  return entry.name != components::kScheduler && entry.runs_elsewhere;
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const components::Entry& entry : components::all())
    if (is_controller(entry)) names.push_back(entry.name);
  return names;
}

// Each once, in the order in which they are named.
Result<std::vector<const components::Entry*>> chosen(const Flags& flags) {
  std::vector<std::string> names = flags.names;
  if (flags.protect_composites) names.emplace_back(kCompositeProtection);
  const std::string all = fmt::format("{}", fmt::join(known_names(), ", "));
  if (names.empty())
    return fail(Reason::Invalid,
                "nothing runs unless it is named: say --controllers NAME,... with some of {}; or "
                "--protect-composites for {} alone",
                all, kCompositeProtection);
  std::vector<const components::Entry*> entries;
  for (const std::string& name : names) {
    const components::Entry* const entry = components::find(name);
    if (entry == nullptr || !is_controller(*entry))
      return fail(Reason::Invalid, "--controllers: there is no {}; there are {}", name, all);
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  }
  // Pods of a LeaderWorkerSet's StatefulSets are made by its own controller; another one than ours
  // would make them as well.
  const auto is_named = [&entries](std::string_view name) {
    return std::ranges::find(entries, components::find(name)) != entries.end();
  };
  if (is_named("leaderworkerset") && !is_named("statefulset"))
    return fail(Reason::Invalid,
                "--controllers: leaderworkerset works with the statefulset controller of Muster "
                "only, which leaves the making of its pods to it; name statefulset as well");
  return entries;
}

// Two controllers with the same task would undo each other's work. A sentence about another one
// that is at work; empty if there is none.
Result<std::string> find_rival(const std::vector<const components::Entry*>& entries,
                               const client::Kubeconfig& config, const Sleep& sleep) {
  std::map<std::string_view, std::vector<std::string_view>> shared;  // by the other's lease
  for (const components::Entry* entry : entries)
    if (const Namesake other = namesake_of(entry->name); !other.lease.empty())
      shared[other.lease].push_back(entry->name);
  if (shared.empty()) return "";
  client::HttpsClient client = TRY(client::HttpsClient::open(config, {.timeout_ms = 10'000}));
  for (const auto& [lease, names] : shared) {
    const Namesake other = namesake_of(names.front());
    const std::array<std::string_view, 1> asked{lease};
    if (TRY(live_leases(client, other.name_space, asked, sleep)).empty()) continue;
    const bool is_manager = other.lease == kManager.lease;
    return fmt::format("a {} is at work (lease {}/{}) and has {} as well; {}", other.manager,
                       other.name_space, lease, fmt::join(names, ", "),
                       is_manager ? "leave them out here, or switch them off there with "
                                    "--controllers=*,-NAME and say --switched-off-elsewhere here"
                                  : "uninstall it, or leave it out here");
  }
  return "";
}

Result<void> run_controllers(const Flags& flags) {
  const std::vector<const components::Entry*> entries = TRY(chosen(flags));
  std::vector<std::string_view> names;
  for (const components::Entry* entry : entries) names.push_back(entry->name);
  components::Settings settings;
  const api::Gates gates = TRY(parse_gates(flags.process.feature_gates));
  const client::Kubeconfig config = TRY(load_connection(flags.process.connection));
  settings.ca_certificate = config.certificate_authority;
  RemoteProcessOptions options = process_options(flags.process, "muster-controllers");
  options.rate = {.per_second = 20, .burst = 30};
  options.project = api::kept_by_controllers;
  if (!flags.switched_off_elsewhere)
    options.find_rival = [&](const Sleep& sleep) { return find_rival(entries, config, sleep); };
  const auto choose = [&](const ForeignCluster& cluster) -> Result<std::vector<RemoteComponent>> {
    settings.scheduler.gates = gates_of_controllers(cluster.served, gates);
    fmt::print("muster {} runs {}\n{}", version(), fmt::join(names, ", "), describe(cluster));
    std::fflush(stdout);
    std::vector<RemoteComponent> components;
    for (const components::Entry* entry : entries)
      components.push_back({entry->name, [&settings, entry](client::ComponentContext context) {
                              return entry->make(settings, std::move(context));
                            }});
    return components;
  };
  return run_remote_process(options, config, choose);
}

}  // namespace

Verb add_controllers_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("controllers", "Run controllers for a Kubernetes cluster");
  const auto flags = std::make_shared<Flags>();
  add_process_flags(*verb, flags->process);
  verb->add_option("--controllers", flags->names,
                   fmt::format("Which to run: some of {}{}", fmt::join(known_names(), ", "),
                               components::aliases_text()))
      ->delimiter(',')
      ->type_name("NAME,...");
  verb->add_flag(
      "--protect-composites", flags->protect_composites,
      fmt::format("Run {}, also beside those that --controllers names", kCompositeProtection));
  verb->add_flag("--switched-off-elsewhere", flags->switched_off_elsewhere,
                 "Run them although another manager is at work that knows them: it was started "
                 "without them");
  return {verb, [flags] {
            const Result<void> ran = run_controllers(*flags);
            return ran ? kOk : refuse(ran.error().message);
          }};
}

}  // namespace muster::app
