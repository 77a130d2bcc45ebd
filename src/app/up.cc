#include "app/up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/values/pretend.h"
#include "app/backup_socket.h"
#include "app/component_thread.h"
#include "app/credentials.h"
#include "app/data_dir.h"
#include "app/descriptors.h"
#include "app/explain_service.h"
#include "app/key_check.h"
#include "app/process_metrics.h"
#include "app/registry_thread.h"
#include "app/signals.h"
#include "app/version.h"
#include "base/count_of.h"
#include "base/entropy.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "components/components.h"
#include "server/access/access.h"
#include "server/access/escalation.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/bootstrap/client_authority.h"
#include "server/core/bootstrap/config_map.h"
#include "server/core/read/reader.h"
#include "server/core/request/request_meter.h"
#include "server/core/server.h"
#include "server/core/write/registry.h"
#include "server/http/certificates.h"
#include "server/http/listener.h"
#include "server/loopback/loopback.h"
#include "sim/pretend_nodes.h"
#include "sim/pretend_storage.h"
#include "store/engines/memory.h"
#include "store/engines/rocksdb.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::app {
namespace {

Result<std::unique_ptr<server::AuditLog>> audit_log(const UpOptions& options) {
  if (options.audit_log.empty()) return nullptr;
  return server::AuditLog::open(options.audit_log, options.audit_rotation);
}

Result<std::unique_ptr<store::Store>> open_store(const DataDir* data_dir) {
  if (data_dir == nullptr) return store::Store::open(store::make_memory_engine());
  return store::Store::open(TRY(store::open_rocksdb_engine(data_dir->path("store"))));
}

// What a client on this machine dials to reach a listener on `address`.
std::string reachable(const std::string& address) {
  if (address.starts_with("0.0.0.0:")) return "127.0.0.1" + address.substr(7);
  if (address.starts_with("[::]:")) return "[::1]" + address.substr(4);
  return address;
}

std::string kubeconfig_path(const UpOptions& options, const DataDir* data_dir) {
  if (!options.kubeconfig.empty()) return options.kubeconfig;
  return data_dir == nullptr ? "muster.kubeconfig" : data_dir->path("kubeconfig");
}

// "16 pretend nodes, 2 other nodes and 40 pods": what is kept from before, and the pretend nodes
// that are about to be made.
std::string contents(const store::Store& store, const sim::ClusterShape& shape) {
  std::set<std::string, std::less<>> pretend;
  for (const api::Json& node : sim::node_documents(shape))
    pretend.emplace(api::find_string(*api::find(node, "metadata"), "name"));
  std::size_t others = 0;
  const auto list = [&](const api::Kind& kind) {
    return store.list(kind.store_prefix + "/").objects;
  };
  for (const api::ObjectPtr& node : list(api::kinds::node())) {
    if (api::is_pretend(node->meta().annotations))
      pretend.insert(node->meta().name);
    else if (!pretend.contains(node->meta().name))
      ++others;
  }
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view noun) {
    if (count > 0) parts.push_back(count_of(static_cast<std::int64_t>(count), noun));
  };
  add(pretend.size(), "pretend node");
  add(others, "other node");
  if (parts.empty()) parts.emplace_back("no nodes");
  add(list(api::kinds::pod()).size(), "pod");
  add(list(api::kinds::pod_group()).size() + list(api::kinds::composite_pod_group()).size(),
      "group");
  if (parts.size() == 1) return parts.front();
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

void print_banner(const std::string& server, const std::string& kubeconfig,
                  const std::string& holds, const UpOptions& options) {
  fmt::print(
      "Muster {} serves on {}, with {}\n"
      "kubeconfig: {}\n\n"
      "Try:\n"
      "  export KUBECONFIG={}\n"
      "  kubectl get nodes -L topology.kubernetes.io/zone,topology.kubernetes.io/rack\n"
      "  kubectl run hello --image=hello && kubectl get pods -o wide -w\n",
      version(), server, holds, kubeconfig, std::filesystem::absolute(kubeconfig).string());
  if (options.in_memory) fmt::print("\nNothing is kept on disk: stopping loses everything.\n");
  std::fflush(stdout);
  if (!is_loopback(options.listen_address))
    log(LogLevel::Warning,
        "listening on {}: other machines can reach this server; anybody who has the kubeconfig is "
        "its "
        "administrator{}",
        options.listen_address,
        options.tls_sans.empty()
            ? ". Its certificate is good for this machine's loopback names and that address only: "
              "--tls-san adds others"
            : "");
}

// A component with its thread and its way into the server.
struct RunningComponent {
  RunningComponent(std::string_view name, const server::Server& server, api::User user,
                   std::shared_ptr<server::RequestMeter> meter,
                   const ComponentThread::Surroundings& surroundings,
                   const ComponentThread::Make& make)
      : client(server, std::move(user), std::move(meter)),
        thread(name, client, surroundings, make) {}

  server::LoopbackClient client;
  ComponentThread thread;
};
using RunningComponents = std::vector<std::unique_ptr<RunningComponent>>;

RunningComponents start_components(const UpOptions& options, const std::string& ca_certificate,
                                   const server::Server& server,
                                   const std::shared_ptr<server::RequestMeter>& meter,
                                   const ComponentThread::Surroundings& surroundings) {
  components::Settings settings;
  settings.ca_certificate = ca_certificate;
  settings.scheduler.group_bindings = true;
  settings.scheduler.gates = options.gates;
  settings.scheduler.profiles = options.scheduler.config.profiles;
  settings.scheduler.initial_backoff = options.scheduler.config.initial_backoff;
  settings.scheduler.max_backoff = options.scheduler.config.max_backoff;
  settings.absent = options.absent;
  settings.jobs = options.jobs;
  RunningComponents out;
  out.push_back(std::make_unique<RunningComponent>(
      "pretend-nodes", server, sim::PretendNodes::user(), meter, surroundings,
      [&](client::ComponentContext context) {
        return std::make_unique<sim::PretendNodes>(options.shape, std::move(context));
      }));
  out.push_back(std::make_unique<RunningComponent>(
      "pretend-storage", server, sim::PretendStorage::user(), meter, surroundings,
      [](client::ComponentContext context) {
        return std::make_unique<sim::PretendStorage>(std::move(context));
      }));
  for (const components::Entry& entry : components::all()) {
    if (options.absent.contains(entry.name)) continue;
    out.push_back(std::make_unique<RunningComponent>(
        entry.name, server, entry.user, meter, surroundings, [&](client::ComponentContext context) {
          return entry.make(settings, std::move(context));
        }));
  }
  return out;
}

// A user who may list the pods of a namespace may read names there.
ExplainService::MayRead who_may_list_pods(const server::Access& access) {
  return [&access](const api::User& user, std::string_view name_space) {
    return access.authorizer()
        .authorize(user, {.is_resource = true,
                          .verb = "list",
                          .version = "v1",
                          .resource = "pods",
                          .name_space = std::string(name_space)})
        .has_value();
  };
}

server::Server::Post to_registry_or(ExplainService& explanations, server::Server::Post registry) {
  return
      [&explanations, registry = std::move(registry)](api::Request& request, server::Reply& reply) {
        if (!ExplainService::handles(request)) return registry(request, reply);
        explanations.post(request, reply);
        return true;
      };
}

Result<std::unique_ptr<BackupSocket>> offer_backups(const DataDir* data_dir,
                                                    const store::Store& store) {
  if (data_dir == nullptr) return nullptr;
  return BackupSocket::start(data_dir->path("."),
                             [&store](const std::string& folder) { return store.copy_to(folder); });
}

// All are asked to stop before anybody is waited for: that takes as long as the longest step of
// one, not as the steps of all.
void close_all(ExplainService& explanations, const RunningComponents& components) {
  explanations.close();
  for (const std::unique_ptr<RunningComponent>& component : components) component->thread.close();
}

}  // namespace

Result<void> run_up(const UpOptions& options) {
  const Signals signals;
  const SystemClock clock;
  Metrics metrics;
  const auto meter = std::make_shared<server::RequestMeter>();
  server::HttpLimits limits = options.limits;
  limits.clients = within_descriptors(limits.clients, raise_descriptor_limit());
  std::unique_ptr<DataDir> data_dir;
  if (!options.in_memory)
    data_dir = TRY(DataDir::open(options.data_dir.empty() ? default_data_dir() : options.data_dir));

  // Before the certificates: a directory that has them and no store has lost it.
  const std::unique_ptr<store::Store> store = TRY(open_store(data_dir.get()));
  if (data_dir) TRY(data_dir->finish());
  if (data_dir && store->revision().value > 0) TRY(check_keys(*data_dir));
  const server::Credential ca = TRY(authority(data_dir.get(), clock.now()));
  const server::Credential serving =
      TRY(serving_certificate(ca, options.listen_address, options.tls_sans, clock.now()));
  const server::Credential admin = TRY(server::make_client_certificate(
      ca, {.user = "kubernetes-admin", .groups = {"system:masters"}}, clock.now()));

  watch::Window window;
  window.start(store->compacted());
  store->listen([&](std::span<const store::Change> changes) { window.append(changes); });
  const server::Access access(*store, TRY(token_key(data_dir.get())));
  const std::unique_ptr<server::AuditLog> audit = TRY(audit_log(options));
  SystemEntropy entropy;
  const server::Reader reader(*store, window, options.gates);
  server::Registry registry(*store, entropy, server::Registry::Validation::On, options.gates);
  registry.guard_roles([&access](const auto& request, const auto& document, const auto* old) {
    return server::check_escalation(access.authorizer(), request, document, old);
  });
  registry.set_absent(options.absent);
  registry.limit_stored(options.stored_bytes_max);
  server::bootstrap(registry, *store, clock.now());
  server::publish_client_authority(registry, *store, ca.certificate, clock.now());
  server::publish_config_map(registry, *store,
                             {.name_space = kSettingsNamespace, .name = kSettingsName},
                             {{std::string(kSettingsConfig), options.scheduler.text},
                              {std::string(kSettingsGates), gates_text(options.gates)}},
                             clock.now());

  RegistryThread registry_thread(
      registry, *store, clock,
      {.changes = store::kHistoryMax.changes, .bytes = options.history_bytes_max});
  ExplainService explanations(
      *store, clock, {.profiles = options.scheduler.config.profiles, .gates = options.gates},
      who_may_list_pods(access));
  const server::Server server(reader, to_registry_or(explanations, registry_thread.post()));
  const std::unique_ptr<server::Listener> listener = TRY(server::Listener::start(
      {.address = options.listen_address,
       .port = options.listen_port,
       .ca_certificate = ca.certificate,
       .certificate = serving.certificate,
       .private_key = serving.private_key,
       .limits = limits,
       .audit = audit.get(),
       .store_health = &store->health(),
       .meter = meter,
       .more_metrics = [&metrics] { return metrics.text() + process_metrics(); }},
      server, access, clock));
  const std::string url = "https://" + reachable(listener->address());
  const std::string kubeconfig = kubeconfig_path(options, data_dir.get());
  TRY(write_private_file(
      kubeconfig,
      server::make_kubeconfig({.server = url, .ca_certificate = ca.certificate, .client = admin})));

  const std::unique_ptr<BackupSocket> backups = TRY(offer_backups(data_dir.get(), *store));
  const RunningComponents components = start_components(options, ca.certificate, server, meter,
                                                        {.clock = clock, .metrics = metrics});

  print_banner(url, kubeconfig, contents(*store, options.shape), options);
  signals.wait();
  if (isatty(STDOUT_FILENO) != 0) fmt::print("\n");  // the prompt begins on a line of its own
  close_all(explanations, components);
  // No write may come back to a component that is gone: the registry answers what it has, then
  // ends.
  registry_thread.stop();
  return {};
}

}  // namespace muster::app
