// muster_loader: puts a Kubernetes API server under load over HTTPS and reports what it did.
// bench/loader/README.md says what the modes measure.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "modes.h"

namespace muster::loader {
namespace {

struct Flags {
  std::string kubeconfig;
  std::vector<std::string> modes;
  Options options;
  PodsMode pods;
  GangsMode gangs;
  JobsMode jobs;
  JobSetsMode job_sets;
  CreatesMode creates;
  GetsMode gets;
  ListsMode lists;
  WatchersMode watchers;
  bool rack = false;
  bool json = false;
  bool markdown = false;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("modes", flags.modes, "pods, gangs, jobs, jobsets, creates, gets, lists, watchers")
      ->required()
      ->check(CLI::IsMember(
          {"pods", "gangs", "jobs", "jobsets", "creates", "gets", "lists", "watchers"}));
  app.add_option("--kubeconfig", flags.kubeconfig, "The cluster (default: as kubectl chooses)");
  Options& all = flags.options;
  app.add_option("--connections", all.connections, "TLS connections")->capture_default_str();
  app.add_option("--namespace", all.name_space, "Where objects go")->capture_default_str();
  app.add_option("--pid", all.pids, "A process of the server on this machine; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--nodes", all.nodes, "Nodes to create first; without leases, see README.md")
      ->capture_default_str();
  app.add_option("--nodes-per-rack", all.nodes_per_rack, "Of the nodes created")
      ->capture_default_str();
  app.add_option("--patience", all.patience_s, "Seconds to wait for the last pod or event")
      ->capture_default_str();
  app.add_flag("--clean", all.clean, "Delete all that was created");
  app.add_flag("--json", flags.json, "Print JSON, one line per mode");
  app.add_flag("--markdown", flags.markdown, "Print rows of a table: what, value, goal");
  app.add_option("--pods", flags.pods.pods, "pods: how many")->capture_default_str();
  app.add_option("--groups", flags.gangs.groups, "gangs: how many")->capture_default_str();
  app.add_option("--group-size", flags.gangs.size, "gangs: pods in each")->capture_default_str();
  app.add_flag("--rack", flags.rack, "gangs: each inside one rack");
  app.add_option("--jobs", flags.jobs.jobs, "jobs: how many")->capture_default_str();
  app.add_option("--job-size", flags.jobs.size, "jobs: pods in each")->capture_default_str();
  app.add_flag("!--no-gang", flags.jobs.gang, "jobs: not as gangs");
  app.add_option("--job-sets", flags.job_sets.sets, "jobsets: how many")->capture_default_str();
  app.add_option("--replicated-jobs", flags.job_sets.replicated_jobs, "jobsets: in each")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--replicas", flags.job_sets.replicas, "jobsets: Jobs of each replicated job")
      ->capture_default_str();
  app.add_option("--set-job-size", flags.job_sets.size, "jobsets: pods of each Job")
      ->capture_default_str();
  app.add_option("--creates", flags.creates.pods, "creates: how many")->capture_default_str();
  app.add_flag("--on-nodes", flags.creates.on_nodes, "creates: bound to those of --nodes");
  app.add_option("--gets", flags.gets.gets, "gets: how many")->capture_default_str();
  app.add_option("--list-pods", flags.lists.pods, "lists: pods to list")->capture_default_str();
  app.add_option("--watchers", flags.watchers.watchers, "watchers: how many")
      ->capture_default_str();
  app.add_option("--events", flags.watchers.events, "watchers: events each must see")
      ->capture_default_str();
}

// A thousand watches need a thousand descriptors, and servers and shells often allow fewer at
// first.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// The first values of the design's table of speeds, for a server that shares two cores with the
// loader.
void expect_goals(const std::string& mode, Report& report) {
  using Side = Goal::Side;
  if (mode == "pods") {
    report.expect("pods/s, created to bound", {Side::AtLeast, 4000});
    report.expect("server CPU per 1,000 pods", {Side::AtMost, 120});
  } else if (mode == "jobs") {
    report.expect("Jobs/s, created to all pods bound", {Side::AtLeast, 400});
  } else if (mode == "jobsets") {
    report.expect("first created to all pods bound", {Side::AtMost, 6000});
  } else if (mode == "creates") {
    report.expect("durable creates/s", {Side::AtLeast, 6000});
  } else if (mode == "gets") {
    report.expect("gets/s", {Side::AtLeast, 30'000});
  } else if (mode == "lists") {
    report.expect("list best", {Side::AtMost, 1000});
    report.expect("server memory per pod beyond its JSON", {Side::AtMost, 4096});
  } else if (mode == "watchers") {
    report.expect("one event, create sent to all have it p50", {Side::AtMost, 20});
    report.expect("events lost", {Side::AtMost, 0});
    report.expect("watchers that saw another order", {Side::AtMost, 0});
  }
}

Report run_mode(Session& session, const std::string& mode, const Flags& flags) {
  if (mode == "pods") return run_pods(session, flags.pods);
  if (mode == "gangs") return run_gangs(session, flags.gangs);
  if (mode == "jobs") return run_jobs(session, flags.jobs);
  if (mode == "jobsets") return run_job_sets(session, flags.job_sets);
  if (mode == "creates") return run_creates(session, flags.creates);
  if (mode == "gets") return run_gets(session, flags.gets);
  if (mode == "lists") return run_lists(session, flags.lists);
  return run_watchers(session, flags.watchers);
}

std::string formatted(const Report& report, const Flags& flags) {
  if (flags.json) return api::to_text(report.json()) + "\n";
  return flags.markdown ? report.markdown() : report.text();
}

// True if nothing failed.
Result<bool> run_all(const Flags& flags) {
  Crowd crowd(TRY(read_target(flags.kubeconfig)));
  bool good = true;
  for (const std::string& mode : flags.modes) {
    // Each mode is a run of its own: names never meet those of another.
    Session session(crowd, flags.options);
    TRY(session.prepare());
    Report report = run_mode(session, mode, flags);
    expect_goals(mode, report);
    good &= !report.failed();
    fmt::print("{}", formatted(report, flags));
    std::fflush(stdout);
    if (flags.options.clean) session.clean_all();
  }
  return good;
}

int run(int argc, char** argv) {
  CLI::App app{"Puts a Kubernetes API server under load and reports what it did"};
  Flags flags;
  add_flags(app, flags);
  CLI11_PARSE(app, argc, argv);
  if (flags.rack) flags.gangs.topology_key = "topology.kubernetes.io/rack";
  ::signal(SIGPIPE, SIG_IGN);
  allow_many_files();
  const Result<bool> good = run_all(flags);
  if (!good) {
    fmt::print(stderr, "muster_loader: {}\n", good.error().message);
    return 2;
  }
  return *good ? 0 : 1;
}

}  // namespace
}  // namespace muster::loader

int main(int argc, char** argv) { return muster::loader::run(argc, argv); }
