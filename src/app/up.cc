#include "app/up.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>  // NOLINT: sigaction is POSIX, not C++

#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "app/backup_socket.h"
#include "app/component_thread.h"
#include "app/data_dir.h"
#include "app/descriptors.h"
#include "app/key_check.h"
#include "app/registry_thread.h"
#include "app/version.h"
#include "base/entropy.h"
#include "base/log.h"
#include "base/time.h"
#include "controllers/composite_protection.h"
#include "controllers/disruption.h"
#include "controllers/garbage_collector.h"
#include "controllers/namespace_defaults.h"
#include "controllers/pod_garbage.h"
#include "controllers/podgroup_protection.h"
#include "controllers/role_aggregation.h"
#include "scheduler/scheduler.h"
#include "server/access/access.h"
#include "server/access/escalation.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/bootstrap/bootstrap_roles.h"
#include "server/core/bootstrap/client_authority.h"
#include "server/core/read/reader.h"
#include "server/core/server.h"
#include "server/core/write/registry.h"
#include "server/http/certificates.h"
#include "server/http/listener.h"
#include "server/loopback/loopback.h"
#include "sim/pretend_nodes.h"
#include "store/engines/memory.h"
#include "store/engines/rocksdb.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::app {
namespace {

// Blocks SIGINT and SIGTERM in every thread started from here on, so that one place waits for them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  void wait() const {
    int caught = 0;
    sigwait(&set_, &caught);
  }

 private:
  sigset_t set_{};
};

// The authority of this installation: found in the data directory, or made and kept there.
Result<server::Credential> authority(const DataDir* data_dir, Time now) {
  if (data_dir == nullptr) return server::make_authority("kubernetes-ca", now);
  const std::string folder = data_dir->path("pki");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Result<std::string> certificate = read_file(folder + "/ca.crt");
  Result<std::string> key = read_file(folder + "/ca.key");
  if (certificate && key) return server::Credential{std::move(*certificate), std::move(*key)};
  server::Credential made = TRY(server::make_authority("kubernetes-ca", now));
  TRY(write_private_file(folder + "/ca.key", made.private_key));
  TRY(write_private_file(folder + "/ca.crt", made.certificate));
  return made;
}

Result<server::Credential> serving_certificate(const server::Credential& ca,
                                               const UpOptions& options, Time now) {
  server::ServingNames names;
  names.dns = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
               "kubernetes.default.svc.cluster.local"};
  names.addresses = {"127.0.0.1", "::1"};
  if (options.listen_address != "127.0.0.1" && options.listen_address != "::1" &&
      options.listen_address != "0.0.0.0" && options.listen_address != "::")
    names.addresses.push_back(options.listen_address);
  return server::make_serving_certificate(ca, names, now);
}

// The key that signs ServiceAccount tokens: kept like the authority, so that tokens outlive a
// restart.
Result<server::TokenKey> token_key(const DataDir* data_dir) {
  if (data_dir == nullptr) return server::TokenKey::read(TRY(server::TokenKey::make_pem()));
  const std::string path = data_dir->path("pki/sa.key");
  if (const Result<std::string> pem = read_file(path)) return server::TokenKey::read(*pem);
  const std::string made = TRY(server::TokenKey::make_pem());
  TRY(write_private_file(path, made));
  return server::TokenKey::read(made);
}

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

void greet(const std::string& server, const std::string& kubeconfig, std::size_t nodes,
           bool in_memory) {
  fmt::print(
      "Muster {} serves on {}{}\n"
      "kubeconfig: {}\n\n"
      "Try:\n"
      "  export KUBECONFIG={}\n"
      "  kubectl get nodes -L topology.kubernetes.io/zone,topology.kubernetes.io/rack\n"
      "  kubectl run hello --image=hello && kubectl get pods -o wide -w\n",
      version(), server,
      nodes == 0 ? std::string(", without pretend nodes")
                 : fmt::format(", with {} pretend nodes", nodes),
      kubeconfig, std::filesystem::absolute(kubeconfig).string());
  if (in_memory) fmt::print("\nNothing is kept on disk: stopping loses everything.\n");
  std::fflush(stdout);
}

}  // namespace

Result<void> run_up(UpOptions options) {
  const Signals signals;
  const SystemClock clock;
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
  const server::Credential serving = TRY(serving_certificate(ca, options, clock.now()));
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
  server::bootstrap(registry, *store, clock.now());
  server::publish_client_authority(registry, *store, ca.certificate, clock.now());

  RegistryThread registry_thread(registry, *store, clock);
  const server::Server server(reader, registry_thread.post());
  const std::unique_ptr<server::Listener> listener =
      TRY(server::Listener::start({.address = options.listen_address,
                                   .port = options.listen_port,
                                   .ca_certificate = ca.certificate,
                                   .certificate = serving.certificate,
                                   .private_key = serving.private_key,
                                   .limits = limits,
                                   .audit = audit.get(),
                                   .store_health = &store->health()},
                                  server, access, clock));
  const std::string url = "https://" + reachable(listener->address());
  const std::string kubeconfig = kubeconfig_path(options, data_dir.get());
  TRY(write_private_file(
      kubeconfig,
      server::make_kubeconfig({.server = url, .ca_certificate = ca.certificate, .client = admin})));

  std::unique_ptr<BackupSocket> backups;
  if (data_dir)
    backups = TRY(BackupSocket::start(
        data_dir->path("."), [&](const std::string& folder) { return store->copy_to(folder); }));

  server::LoopbackClient scheduler_client(server,
                                          {"system:kube-scheduler", {"system:authenticated"}});
  server::LoopbackClient nodes_client(
      server, {"system:node:pretend", {"system:nodes", "system:authenticated"}});
  const std::size_t node_count = options.shape.node_count();
  ComponentThread<sim::PretendNodes> nodes("pretend-nodes", nodes_client, clock,
                                           std::move(options.shape));
  server::LoopbackClient controllers_client(
      server, {"system:kube-controller-manager", {"system:authenticated"}});
  ComponentThread<controllers::PodGroupProtection> pod_group_protection("podgroups",
                                                                        controllers_client, clock);
  ComponentThread<controllers::CompositeProtection> composite_protection("composites",
                                                                         controllers_client, clock);
  ComponentThread<controllers::GarbageCollector> garbage_collector("garbage", controllers_client,
                                                                   clock);
  ComponentThread<controllers::NamespaceDefaults> namespace_defaults(
      "namespaces", controllers_client, clock, ca.certificate);
  ComponentThread<controllers::Disruption> disruption("disruption", controllers_client, clock);
  ComponentThread<controllers::PodGarbage> pod_garbage("pod-garbage", controllers_client, clock);
  server::LoopbackClient aggregation_client(server, server::role_aggregator());
  ComponentThread<controllers::RoleAggregation> role_aggregation("roles", aggregation_client,
                                                                 clock);
  scheduler::SchedulerOptions scheduler_options;
  scheduler_options.group_bindings = true;
  scheduler_options.gates = options.gates;
  ComponentThread<scheduler::Scheduler> scheduler("scheduler", scheduler_client, clock,
                                                  scheduler_options);

  greet(url, kubeconfig, node_count, options.in_memory);
  signals.wait();
  fmt::print("\nStopping.\n");
  // No write may come back to a component that is gone: the registry answers what it has, then
  // ends.
  registry_thread.stop();
  return {};
}

}  // namespace muster::app
