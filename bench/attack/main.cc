// Replays attacks on a `muster up` of its own at full size, while a neighbour works on and its
// memory is looked at. Prints a table; the exit code is 1 if a promise of docs/threat-model.md was
// broken.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

#include "cases.h"
#include "neighbour.h"

namespace muster::attack {
namespace {

constexpr double kMostWait = 100;    // ms, p99 of a neighbour
constexpr double kMostBound = 1000;  // ms, p99 of a neighbour's pods until they are on a node
constexpr double kMostMemory = 512;  // MiB beyond idle
constexpr double kMostStopping = 5;  // s
constexpr std::size_t kMixed = 3;    // attacks at a time in a mixed run

constexpr int kAttackersNice = 0;
constexpr int kPatience = 180;  // s, for a case that ends by itself

struct Settings {
  std::string program;
  std::vector<std::string> only;  // parts of names
  int seconds = 5;
  int minutes = 0;    // of a mixed run instead of single cases
  bool ahead = true;  // of everything else on the machine
};

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// A server with its cast.
class Scene {
 public:
  Scene(const Settings& settings, const Case& first)
      : victim_({.program = settings.program,
                 .flags = first.flags.empty() ? std::vector<std::string>{"--nodes-per-rack", "8"}
                                              : first.flags,
                 .descriptors = first.descriptors}),
        cast_{.server = victim_.endpoint(),
              .nobody = victim_.make_user("nobody"),
              .tenant = victim_.make_user("tenant")} {
    set_up(cast_);
    sleep_s(0.5);
  }
  Victim& victim() { return victim_; }
  const Cast& cast() const { return cast_; }
  Credential neighbour() const { return victim_.make_user("neighbour"); }

 private:
  Victim victim_;
  Cast cast_;
};

// The threads of one case, from construction to finish().
class Assault {
 public:
  Assault(const Case& which, const Cast& cast) {
    for (int i = 0; i < which.threads; ++i)
      threads_.emplace_back([&, this] {
        ::setpriority(PRIO_PROCESS, 0, kAttackersNice);  // of this thread: behind the neighbour
        try {
          which.attack(cast, run_);
        } catch (const std::exception& error) {
          run_.complain(error.what());
        }
      });
  }
  ~Assault() { finish(); }
  Assault(const Assault&) = delete;
  Assault& operator=(const Assault&) = delete;

  Run& run() { return run_; }
  void finish() {
    run_.end();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  Run run_;
  std::vector<std::thread> threads_;
};

class Table {
 public:
  Table() {
    fmt::print(
        "| attack | by | sent MiB | answers | neighbour p50 | p99 | reads p99 | writes p99 | worst "
        "| refused | pod bound p50 | p99 | worst | memory MiB | "
        "SIGTERM s | |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  }
  struct Row {
    std::string name, who;
    double mib = 0;
    std::string codes = {};
    Experience seen = {};
    double memory = 0;
    double stopping = -1;  // no SIGTERM in this case
    bool died = false;
    std::vector<std::string> complaints = {};
  };
  void add(Row row) {
    std::vector<std::string> wrong = row.complaints;
    if (row.died) wrong.emplace_back("DIED");
    if (share_of(row.seen.waits_ms(), 0.99) > kMostWait) wrong.emplace_back("neighbour waits");
    if (share_of(row.seen.bound_ms, 0.99) > kMostBound) wrong.emplace_back("neighbour's pods wait");
    if (row.memory > kMostMemory) wrong.emplace_back("memory");
    if (row.seen.failed() > 0) wrong.emplace_back("neighbour refused");
    if (row.stopping > kMostStopping) wrong.emplace_back("slow to stop");
    failed_ += wrong.empty() ? 0 : 1;
    std::string verdict = wrong.empty() ? "ok" : "";
    for (const std::string& text : wrong) verdict += (verdict.empty() ? "" : "; ") + text;
    const std::vector<double> waits = row.seen.waits_ms();
    fmt::print(
        "| {} | {} | {:.0f} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} of {} | {:.1f} "
        "| "
        "{:.1f} | {:.1f} | {:+.0f} | {} | {} |\n",
        row.name, row.who, row.mib, row.codes, share_of(waits, 0.5), share_of(waits, 0.99),
        share_of(row.seen.reads_ms, 0.99), share_of(row.seen.writes_ms, 0.99), share_of(waits, 1),
        row.seen.failed(), waits.size(), share_of(row.seen.bound_ms, 0.5),
        share_of(row.seen.bound_ms, 0.99), share_of(row.seen.bound_ms, 1), row.memory,
        row.stopping < 0 ? "-" : fmt::format("{:.1f}", row.stopping), verdict);
    std::fflush(stdout);
  }
  int failed() const { return failed_; }

 private:
  int failed_ = 0;
};

// Whether a case is asked for by its name: by any of the texts of --only, or by there being none.
bool is_asked_for(const Case& which, const Settings& settings) {
  return settings.only.empty() || std::ranges::any_of(settings.only, [&](const std::string& text) {
           return which.name.find(text) != std::string_view::npos;
         });
}

void run_case(const Case& which, const Settings& settings, Table& table) {
  Scene scene(settings, which);
  if (which.prepare) which.prepare(scene.cast());
  Table::Row row{.name = std::string(which.name), .who = std::string(which.who)};
  const double idle = scene.victim().resident_mib();
  scene.victim().forget_peak();
  Neighbour neighbour(scene.cast().server, scene.neighbour());
  sleep_s(0.5);
  Assault assault(which, scene.cast());
  const int most = which.ends ? kPatience : settings.seconds;
  for (int i = 0; i < most * 10 && !assault.run().over() && scene.victim().alive(); ++i)
    sleep_s(0.1);
  row.seen = neighbour.finish();
  row.died = !scene.victim().alive();
  row.memory = row.died ? 0 : scene.victim().peak_mib() - idle;
  // It is still at it when the order to stop comes.
  if (!row.died) row.stopping = scene.victim().stop();
  if (!row.died && scene.victim().status() != 0)
    row.complaints.push_back(fmt::format("status {}", scene.victim().status()));
  if (row.died) fmt::print(stderr, "{}\n", scene.victim().last_words());
  assault.finish();
  row.mib = assault.run().mib();
  row.codes = assault.run().codes();
  for (std::string& text : assault.run().complaints()) row.complaints.push_back(std::move(text));
  if (!row.died && !scene.victim().store_is_whole())
    row.complaints.emplace_back("the store is damaged");
  table.add(std::move(row));
}

// A case that cannot be prepared fails; its server ends with its scene, and the next one begins.
void try_case(const Case& which, const Settings& settings, Table& table) {
  try {
    run_case(which, settings, table);
  } catch (const std::exception& error) {
    table.add({.name = std::string(which.name),
               .who = std::string(which.who),
               .complaints = {fmt::format("not prepared: {}", error.what())}});
  }
}

// All attacks on one server, a few at a time, changing; the neighbour works on throughout.
void run_mixed(const Settings& settings, Table& table) {
  std::vector<const Case*> cases;
  for (const Case& each : all_cases())
    if (each.flags.empty() && !each.ends && !each.alone && is_asked_for(each, settings))
      cases.push_back(&each);
  if (cases.empty()) throw std::runtime_error("no attack of that name can be mixed");
  Scene scene(settings, *cases.front());
  for (const Case* each : cases)
    if (each->prepare) each->prepare(scene.cast());
  const double idle = scene.victim().resident_mib();
  std::mt19937 random(1);
  Experience total;
  double most = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(settings.minutes);
  for (int round = 1; std::chrono::steady_clock::now() < end && scene.victim().alive(); ++round) {
    scene.victim().forget_peak();
    Table::Row row{.name = fmt::format("round {}:", round), .who = "all"};
    Neighbour neighbour(scene.cast().server, scene.neighbour());
    std::vector<std::unique_ptr<Assault>> assaults;
    for (std::size_t i = 0; i < kMixed; ++i) {
      const Case& which = *cases[random() % cases.size()];
      row.name += fmt::format(" {},", which.name);
      assaults.push_back(std::make_unique<Assault>(which, scene.cast()));
    }
    for (int i = 0; i < settings.seconds * 10 && scene.victim().alive(); ++i) sleep_s(0.1);
    row.seen = neighbour.finish();
    total.add(row.seen);
    row.died = !scene.victim().alive();
    if (!row.died) row.memory = scene.victim().peak_mib() - idle;
    most = std::max(most, row.memory);
    for (const auto& each : assaults) {
      each->finish();
      row.mib += each->run().mib();
      row.codes += each->run().codes() + "; ";
      for (std::string& text : each->run().complaints()) row.complaints.push_back(std::move(text));
    }
    if (row.died) fmt::print(stderr, "{}\n", scene.victim().last_words());
    table.add(std::move(row));
  }
  Table::Row all{.name = fmt::format("{} minutes, mixed", settings.minutes),
                 .who = "all",
                 .codes = "",
                 .seen = std::move(total),
                 .memory = most,
                 .died = !scene.victim().alive(),
                 .complaints = {}};
  if (!all.died) all.stopping = scene.victim().stop();
  if (!scene.victim().store_is_whole()) all.complaints.emplace_back("the store is damaged");
  table.add(std::move(all));
}

int run(const Settings& settings) {
  if (std::ranges::none_of(all_cases(),
                           [&](const Case& each) { return is_asked_for(each, settings); })) {
    fmt::print(stderr, "No attack has a name that contains what --only says.\n");
    return 2;
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  ::signal(SIGPIPE, SIG_IGN);
  if (settings.ahead) step_forward();
  Table table;
  if (settings.minutes > 0) {
    run_mixed(settings, table);
  } else {
    for (const Case& each : all_cases())
      if (is_asked_for(each, settings)) try_case(each, settings, table);
  }
  fmt::print("\n{} failed. Waits of the neighbour in ms.\n", table.failed());
  return table.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace muster::attack

int main(int argc, char** argv) {
  muster::attack::Settings settings;
  CLI::App app("Replays attacks on a `muster up` of its own at full size");
  app.add_option("--muster", settings.program, "The muster to attack")->required();
  app.add_option("--only", settings.only,
                 "Only attacks whose name contains this; may be given again");
  app.add_option("--seconds", settings.seconds, "How long each goes on")->capture_default_str();
  app.add_option("--minutes", settings.minutes, "Mix them on one server, for so long");
  app.add_flag("!--share", settings.ahead,
               "Leave others of the machine their share; waits then say little");
  CLI11_PARSE(app, argc, argv);
  try {
    return muster::attack::run(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
