#include "app/up_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/values/names.h"
#include "app/credentials.h"
#include "app/data_dir.h"
#include "app/job_flags.h"
#include "app/limit_flags.h"
#include "app/read_text_file.h"
#include "app/scheduler_flags.h"
#include "base/log.h"
#include "components/components.h"
#include "sim/cluster_shape.h"

namespace muster::app {
namespace {

// The flags of `muster up` as they were written, before they are understood.
struct UpFlags {
  std::string listen = "127.0.0.1:6443";
  std::vector<std::string> tls_sans;
  std::string data_dir;
  bool in_memory = false;
  std::string kubeconfig;
  std::string audit_log;
  server::AuditLog::Rotation audit_rotation;
  server::HttpLimits limits;
  std::size_t stored_bytes_max = server::Registry::kStoredBytesMax;
  std::size_t history_bytes_max = store::kHistoryMax.bytes;
  std::string cluster_file;
  int zones = 1;
  int blocks_per_zone = 1;
  int racks_per_block = 1;
  int nodes_per_rack = 0;
  std::string node_resources = "cpu=32,memory=128Gi,nvidia.com/gpu=8";
  std::vector<std::string> feature_gates;
  std::vector<std::string> controllers{"*"};
  SchedulerFlags scheduler;
  JobFlags jobs;
  bool verbose = false;
};

// "127.0.0.1:6443", "[::1]:0".
Result<void> parse_listen(const std::string& text, UpOptions& options) {
  const std::size_t colon = text.rfind(':');
  const char* const remedy = "write ADDRESS:PORT, e.g. 127.0.0.1:6443 (port 0 picks a free one)";
  if (colon == std::string::npos || colon == 0)
    return fail(Reason::Invalid, "--listen {}: {}", text, remedy);
  std::string address = text.substr(0, colon);
  if (address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, options.listen_port);
  if (error != std::errc{} || stop != end)
    return fail(Reason::Invalid, "--listen {}: {} is no port from 0 to 65535; {}", text,
                text.substr(colon + 1), remedy);
  options.listen_address = address == "localhost" ? "127.0.0.1" : std::move(address);
  return {};
}

Result<void> check_san(const std::string& name) {
  if (is_address(name)) return {};
  const std::string_view host = name.starts_with("*.") ? std::string_view(name).substr(2) : name;
  if (!api::check_dns_subdomain(host).empty())
    return fail(Reason::Invalid,
                "--tls-san {}: neither an address nor a host name, e.g. 10.0.0.7 or "
                "muster.example.com",
                name);
  return {};
}

Result<sim::ClusterShape> read_cluster_file(const std::string& path) {
  const std::string text = TRY(read_text_file(path, "the cluster file"));
  Result<sim::ClusterShape> shape = sim::parse_cluster_file(text);
  if (!shape) return fail(Reason::Invalid, "cluster file {}: {}", path, shape.error().message);
  return shape;
}

Result<sim::ClusterShape> shape_from_flags(const UpFlags& flags) {
  sim::ClusterShape shape;
  if (flags.nodes_per_rack == 0) {
    const UpFlags unsaid;
    if (flags.zones != unsaid.zones || flags.blocks_per_zone != unsaid.blocks_per_zone ||
        flags.racks_per_block != unsaid.racks_per_block ||
        flags.node_resources != unsaid.node_resources)
      return fail(Reason::Invalid,
                  "the cluster flags describe nodes but there are none; add --nodes-per-rack N");
    return shape;
  }
  sim::NodePool pool;
  pool.zones = flags.zones;
  pool.blocks_per_zone = flags.blocks_per_zone;
  pool.racks_per_block = flags.racks_per_block;
  pool.nodes_per_rack = flags.nodes_per_rack;
  Result<std::vector<std::pair<std::string, std::string>>> resources =
      sim::parse_resources(flags.node_resources);
  if (!resources) return fail(Reason::Invalid, "--node-resources: {}", resources.error().message);
  pool.resources = std::move(*resources);
  shape.pools.push_back(std::move(pool));
  if (shape.node_count() > sim::kNodesMax)
    return fail(Reason::Invalid,
                "the cluster flags ask for more than {} nodes; make the cluster smaller",
                sim::kNodesMax);
  return shape;
}

// "*,-job": everything but jobs. "job,scheduler": nothing but these.
Result<api::Absent> absent_components(const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const components::Entry& entry : components::all()) names.push_back(entry.name);
  api::Absent named;
  api::Absent without;
  bool all = false;
  for (const std::string& word : words) {
    if (word == "*") {
      all = true;
      continue;
    }
    const bool is_without = word.starts_with('-');
    const std::string name = word.substr(is_without ? 1 : 0);
    const components::Entry* const entry = components::find(name);
    if (entry == nullptr)
      return fail(Reason::Invalid, "--controllers: there is no {}; there are {}", name,
                  fmt::join(names, ", "));
    (is_without ? without : named).emplace(entry->name);
  }
  api::Absent absent;
  for (const std::string_view name : names)
    if (without.contains(name) || (!all && !named.contains(name))) absent.emplace(name);
  return absent;
}

Result<UpOptions> understand(const UpFlags& flags) {
  if (flags.in_memory && !flags.data_dir.empty())
    return fail(Reason::Invalid,
                "--in-memory keeps nothing and --data-dir {} says where to keep it: give one of "
                "the two",
                flags.data_dir);
  UpOptions options;
  options.gates = TRY(parse_gates(flags.feature_gates));
  options.scheduler = TRY(scheduler_settings(flags.scheduler));
  options.absent = TRY(absent_components(flags.controllers));
  options.jobs = job_options(flags.jobs);
  TRY(parse_listen(flags.listen, options));
  for (const std::string& name : flags.tls_sans) TRY(check_san(name));
  options.tls_sans = flags.tls_sans;
  options.in_memory = flags.in_memory;
  options.data_dir = flags.data_dir;
  options.kubeconfig = flags.kubeconfig;
  options.audit_log = flags.audit_log;
  options.audit_rotation = flags.audit_rotation;
  options.limits = flags.limits;
  options.stored_bytes_max = flags.stored_bytes_max;
  options.history_bytes_max = flags.history_bytes_max;
  options.shape = TRY(flags.cluster_file.empty() ? shape_from_flags(flags)
                                                 : read_cluster_file(flags.cluster_file));
  return options;
}

int up(const UpFlags& flags, const std::function<Result<void>(const UpOptions&)>& run) {
  set_log_level(flags.verbose ? LogLevel::Debug : LogLevel::Info);
  Result<UpOptions> options = understand(flags);
  if (!options) return refuse(options.error().message);
  const Result<void> ran = run(*options);
  return ran ? kOk : refuse(ran.error().message);
}

void add_up_flags(CLI::App& verb, UpFlags& flags) {
  verb.add_option("--listen", flags.listen, "Address and port to serve on; port 0 picks a free one")
      ->capture_default_str();
  verb.add_option("--tls-san", flags.tls_sans,
                  "Further host names and addresses that the server's certificate is good for")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  verb.add_option(
      "--data-dir", flags.data_dir,
      fmt::format("Where objects and certificates are kept (default {})", default_data_dir()));
  verb.add_flag("--in-memory", flags.in_memory,
                "Keep nothing on disk: everything is gone at the end");
  verb.add_option("--write-kubeconfig", flags.kubeconfig,
                  "Where to write the administrator's kubeconfig (default: kubeconfig in the data "
                  "directory, or muster.kubeconfig here with --in-memory)");
  verb.add_option(
      "--audit-log", flags.audit_log,
      "Append a line of JSON per request to this file: who asked for what, and the code");
  add_audit_flags(verb, flags.audit_rotation);
  add_limit_flags(verb, flags.limits);
  add_store_limit_flags(verb, flags.stored_bytes_max, flags.history_bytes_max);
  CLI::Option* file = verb.add_option("--cluster", flags.cluster_file,
                                      "Pretend nodes as a file describes them (YAML)");
  const auto count = [&](const char* name, int& value, const char* help) {
    verb.add_option(name, value, help)
        ->check(CLI::Range(1, 1'000'000))
        ->excludes(file)
        ->group("Pretend nodes");
  };
  count("--zones", flags.zones, "Zones (label topology.kubernetes.io/zone)");
  count("--blocks-per-zone", flags.blocks_per_zone,
        "Blocks in a zone (label topology.muster.dev/block)");
  count("--racks-per-block", flags.racks_per_block,
        "Racks in a block (label topology.kubernetes.io/rack)");
  count("--nodes-per-rack", flags.nodes_per_rack,
        "Nodes in a rack; without it there are no pretend nodes");
  verb.add_option("--node-resources", flags.node_resources,
                  "What each node has, e.g. cpu=32,memory=128Gi")
      ->capture_default_str()
      ->excludes(file)
      ->group("Pretend nodes");
  verb.add_option("--feature-gates", flags.feature_gates,
                  "Features to switch on or off, e.g. CompositePodGroup=false,WorkloadWithJob=true")
      ->allow_extra_args(false)
      ->type_name("NAME=BOOL,...");
  verb.add_option("--controllers", flags.controllers,
                  "Components to run: * is all of them, NAME one more, -NAME one less" +
                      components::aliases_text())
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->type_name("NAME,...");
  add_scheduler_flags(verb, flags.scheduler);
  add_job_flags(verb, flags.jobs);
  verb.add_flag("-v,--verbose", flags.verbose, "Log every decision of the scheduler, a line each");
}

}  // namespace

Verb add_up_verb(CLI::App& app) { return make_up_verb(app, run_up); }

Verb make_up_verb(CLI::App& app, std::function<Result<void>(const UpOptions&)> run) {
  CLI::App* words = app.add_subcommand("up", "Run a whole small control plane that kubectl drives");
  const auto flags = std::make_shared<UpFlags>();
  add_up_flags(*words, *flags);
  return {words, [flags, run = std::move(run)] { return up(*flags, run); }};
}

}  // namespace muster::app
