#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "app/build_verb.h"
#include "app/data_dir.h"
#include "app/explain_verb.h"
#include "app/job_flags.h"
#include "app/limit_flags.h"
#include "app/read_text_file.h"
#include "app/scheduler_flags.h"
#include "app/simulate.h"
#include "app/store_verbs.h"
#include "app/up.h"
#include "app/version.h"
#include "base/log.h"
#include "base/result.h"
#include "explain/near_names.h"
#include "sim/cluster_shape.h"

namespace muster::app {
namespace {

// The flags of `muster up` as they were written, before they are understood.
struct UpFlags {
  std::string listen = "127.0.0.1:6443";
  std::string data_dir;
  bool in_memory = false;
  std::string kubeconfig;
  std::string audit_log;
  server::AuditLog::Rotation audit_rotation;
  server::HttpLimits limits;
  std::string cluster_file;
  int zones = 1;
  int blocks_per_zone = 1;
  int racks_per_block = 1;
  int nodes_per_rack = 0;
  std::string node_resources = "cpu=32,memory=128Gi,nvidia.com/gpu=8";
  std::vector<std::string> feature_gates;
  SchedulerFlags scheduler;
  JobFlags jobs;
  bool verbose = false;
};

int refuse(std::string_view sentence) {
  fmt::print(stderr, "muster: {}\n", sentence);
  return kRefused;
}

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
  options.listen_address = std::move(address);
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

Result<UpOptions> understand(const UpFlags& flags) {
  if (flags.in_memory && !flags.data_dir.empty())
    return fail(Reason::Invalid,
                "--in-memory keeps nothing and --data-dir {} says where to keep it: give one of "
                "the two",
                flags.data_dir);
  UpOptions options;
  options.gates = TRY(parse_gates(flags.feature_gates));
  options.scheduler = TRY(scheduler_settings(flags.scheduler));
  options.jobs = job_options(flags.jobs);
  TRY(parse_listen(flags.listen, options));
  options.in_memory = flags.in_memory;
  options.data_dir = flags.data_dir;
  options.kubeconfig = flags.kubeconfig;
  options.audit_log = flags.audit_log;
  options.audit_rotation = flags.audit_rotation;
  options.limits = flags.limits;
  options.shape = TRY(flags.cluster_file.empty() ? shape_from_flags(flags)
                                                 : read_cluster_file(flags.cluster_file));
  return options;
}

int up(const UpFlags& flags) {
  set_log_level(flags.verbose ? LogLevel::Debug : LogLevel::Info);
  Result<UpOptions> options = understand(flags);
  if (!options) return refuse(options.error().message);
  const Result<void> ran = run_up(*options);
  return ran ? kOk : refuse(ran.error().message);
}

void add_up_flags(CLI::App& verb, UpFlags& flags) {
  verb.add_option("--listen", flags.listen, "Address and port to serve on; port 0 picks a free one")
      ->capture_default_str();
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
  add_scheduler_flags(verb, flags.scheduler);
  add_job_flags(verb, flags.jobs);
  verb.add_flag("-v,--verbose", flags.verbose, "Log what happens inside");
}

// `muster store check|backup|restore`.
struct StoreFlags {
  std::string data_dir = default_data_dir();
  std::string to;
  std::string from;
  // More than anyone writes between two backups, and nothing against 2^63.
  std::int64_t skip = 1'000'000;
};

void add_store_flags(CLI::App& store, StoreFlags& flags) {
  store.require_subcommand(1);
  CLI::App* check = store.add_subcommand("check", "Read everything and say what is there");
  CLI::App* backup =
      store.add_subcommand("backup", "Copy the data directory, also while Muster runs on it");
  CLI::App* restore = store.add_subcommand("restore", "Make a data directory from a backup");
  for (CLI::App* verb : {check, backup, restore})
    verb->add_option("--data-dir", flags.data_dir, "The data directory")->capture_default_str();
  backup->add_option("--to", flags.to, "A folder that does not exist yet")->required();
  restore->add_option("--from", flags.from, "A backup")->required();
  restore
      ->add_option("--skip-revisions", flags.skip,
                   "Revisions to leave out, so that none is used twice")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
}

int store(const CLI::App& verb, const StoreFlags& flags) {
  const Result<std::string> text = verb.got_subcommand("check") ? check_store(flags.data_dir)
                                   : verb.got_subcommand("backup")
                                       ? backup_store(flags.data_dir, flags.to)
                                       : restore_store(flags.from, flags.data_dir, flags.skip);
  if (!text) return refuse(text.error().message);
  fmt::print("{}", *text);
  return kOk;
}

void add_explain_flags(CLI::App& verb, ExplainFlags& flags) {
  verb.add_option("KIND", flags.kind, "podgroup (pg), compositepodgroup (cpg) or pod (po)")
      ->required();
  verb.add_option("NAME", flags.name, "Its name; KIND/NAME is fine too");
  verb.add_option("-n,--namespace", flags.name_space, "Its namespace (default: the context's)");
  verb.add_option("--kubeconfig", flags.kubeconfig,
                  "The kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)");
  verb.add_option("--context", flags.context, "The context of the kubeconfig to use");
  verb.add_option("-o,--output", flags.output, "text or json")->capture_default_str();
  verb.add_option("--scheduler-config", flags.scheduler_config,
                  "How the cluster's scheduler is configured (default: as `muster up` says in the "
                  "config map kube-public/muster-scheduler, else upstream's defaults)")
      ->type_name("FILE");
  verb.add_option("--feature-gates", flags.feature_gates, "Its feature gates, likewise")
      ->allow_extra_args(false)
      ->type_name("NAME=BOOL,...");
}

int explain(const ExplainFlags& flags) {
  const Result<std::string> text = explain_from_cluster(flags);
  if (!text) return refuse(text.error().message);
  fmt::print("{}", *text);
  return kOk;
}

void add_build_flags(CLI::App& verb, BuildFlags& flags) {
  verb.add_option("-f,--filename", flags.file,
                  "A file of manifests, YAML or JSON; - reads them here")
      ->required();
  verb.add_option("-n,--namespace", flags.name_space, "Namespace of objects that name none")
      ->capture_default_str();
  verb.add_option("-o,--output", flags.output, "yaml, json or tree")->capture_default_str();
  verb.add_option("--job-workloads", flags.job_workloads,
                  "Which Jobs are grouped: all, or requested (those that say spec.scheduling)")
      ->capture_default_str();
  verb.add_option("--job-gang-default", flags.job_gang_default,
                  "Which Jobs are gangs unless they say otherwise: none, or indexed")
      ->capture_default_str();
  verb.add_option("--feature-gates", flags.feature_gates, "Features to switch on or off")
      ->allow_extra_args(false)
      ->type_name("NAME=BOOL,...");
}

int build(const BuildFlags& flags) {
  const Result<BuildText> text = build_from_file(flags);
  if (!text) return refuse(text.error().message);
  for (const std::string& note : text->notes) fmt::print(stderr, "{}\n", note);
  fmt::print("{}", text->output);
  return kOk;
}

// "muster", or "kubectl muster" when kubectl runs it as a plugin: by the name kubectl-muster.
std::string called_as(const char* path) {
  const std::string_view file = path;
  const std::size_t slash = file.rfind('/');
  return file.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with("kubectl-muster")
             ? "kubectl muster"
             : "muster";
}

// The flag or verb that was perhaps meant by a word that nobody knows; empty: none is near.
std::string meant_by(std::string_view word, const CLI::App& app) {
  std::set<std::string> known;
  const auto add_flags = [&known](const CLI::App& verb) {
    for (const CLI::Option* option : verb.get_options())
      for (const std::string& name : option->get_lnames()) known.insert("--" + name);
  };
  if (word.starts_with("--")) {
    add_flags(app);
    for (const CLI::App* verb : app.get_subcommands()) add_flags(*verb);
  } else {
    for (const CLI::App* verb : app.get_subcommands({})) known.insert(verb->get_name());
  }
  return explain::nearest(word.substr(0, word.find('=')), known);
}

// What is wrong with the words of a command line.
std::string complaint(const CLI::ParseError& error, const CLI::App& app, std::string_view program) {
  const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  // A flag is looked at before other words: those are mostly its values.
  for (const bool flags : {true, false})
    for (const std::string& word : app.remaining(true)) {
      if (!is_unknown || word.starts_with("--") != flags) continue;
      const std::string meant = meant_by(word, app);
      if (!meant.empty()) return fmt::format("{} is not known; did you mean {}?", word, meant);
    }
  return fmt::format("{}; `{} help` shows what can be said", error.what(), program);
}

}  // namespace

int run(int argc, char** argv) {
  const std::string program = called_as(argc > 0 ? argv[0] : "muster");
  CLI::App app{"Muster: workload-aware scheduling for Kubernetes"};
  app.name(program);
  app.require_subcommand(0, 1);
  bool print_version = false;
  app.add_flag("--version", print_version, "Print the version");
  UpFlags flags;
  CLI::App* up_verb =
      app.add_subcommand("up", "Run a whole small control plane that kubectl drives");
  add_up_flags(*up_verb, flags);
  StoreFlags store_flags;
  CLI::App* store_verb =
      app.add_subcommand("store", "Check, back up or restore what `muster up` keeps on disk");
  add_store_flags(*store_verb, store_flags);
  ExplainFlags explain_flags;
  CLI::App* explain_verb = app.add_subcommand(
      "explain", "Say why a group or a pod waits, and what would help; for any cluster");
  add_explain_flags(*explain_verb, explain_flags);
  BuildFlags build_flags;
  CLI::App* build_verb = app.add_subcommand(
      "build", "Show the Workloads and groups that manifests become; needs no server");
  add_build_flags(*build_verb, build_flags);
  CLI::App* simulate_verb =
      app.add_subcommand("simulate", "Play a scenario text and show what the scheduler does");
  std::string scenario;
  simulate_verb->add_option("FILE", scenario, "The text; docs/scenarios.md says how to write one")
      ->required();
  CLI::App* version_verb = app.add_subcommand("version", "Print the version");
  CLI::App* help_verb = app.add_subcommand("help", "Print help, also of one verb: muster help up");
  std::string topic;
  help_verb->add_option("VERB", topic);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return refuse(complaint(error, app, program));
  }
  if (up_verb->parsed()) return up(flags);
  if (store_verb->parsed()) return store(*store_verb, store_flags);
  if (build_verb->parsed()) return build(build_flags);
  if (explain_verb->parsed()) return explain(explain_flags);
  if (simulate_verb->parsed()) {
    const Result<void> played = simulate(scenario);
    return played ? kOk : refuse(played.error().message);
  }
  if (version_verb->parsed() || print_version) {
    fmt::print("muster {}\n", version());
    return kOk;
  }
  const CLI::App* about = &app;
  if (!topic.empty()) {
    const std::vector<CLI::App*> verbs = app.get_subcommands({});
    const auto named = std::ranges::find(verbs, topic, &CLI::App::get_name);
    if (named == verbs.end())
      return refuse(fmt::format("there is no verb {}; `{} help` lists them", topic, program));
    about = *named;
  }
  if (about != &app) {
    fmt::print("{}", about->help(program));
    return kOk;
  }
  // Not app.help(): that would be the help of the verb that was said, `help`.
  fmt::print("{}", app.get_formatter()->make_help(&app, program, CLI::AppFormatMode::Normal));
  return kOk;
}

}  // namespace muster::app
