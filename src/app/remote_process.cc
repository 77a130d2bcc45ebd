#include "app/remote_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "app/hosted_component.h"
#include "app/late_kinds.h"
#include "app/process_status.h"
#include "app/signals.h"
#include "app/standby_client.h"
#include "app/steady_clock.h"
#include "app/version.h"
#include "base/entropy.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/program_pages.h"
#include "client/https/https_client.h"
#include "client/kit/leader_election.h"
#include "client/remote/remote_client.h"

namespace muster::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kDrain = seconds{5};
constexpr milliseconds kLook{100};
// A server that is away at the start is asked again.
constexpr Duration kFirstPause = seconds{1};
constexpr Duration kPauseMax = seconds{30};
// Longer than any one step takes.
constexpr Duration kStuck = seconds{60};
constexpr Duration kStuckElection = seconds{20};
// An order to stop waits for a look at what the server serves by now.
constexpr long kLookTimeoutMs = 3'000;

// A component, idle until activated. One that is alone needs no thread beside the client's.
struct Running {
  Running(const RemoteComponent& component, client::RemoteClient& client,
          const ComponentThread::Surroundings& surroundings, bool is_alone)
      : standby(client) {
    if (is_alone)
      hosted.emplace(client, standby, surroundings, component.make);
    else
      thread.emplace(component.name, standby, surroundings, component.make);
  }

  StandbyClient standby;
  std::optional<HostedComponent> hosted;
  std::optional<ComponentThread> thread;
};

// How long to wait: until a signal comes, however often that is asked.
class Patience {
 public:
  explicit Patience(const Signals& signals) : signals_(signals) {}
  // Waits; false if a signal came, now or before.
  bool lasts(milliseconds time) {
    is_over_ = is_over_ || signals_.came_within(time);
    return !is_over_;
  }
  bool is_over() const { return is_over_; }

 private:
  const Signals& signals_;
  bool is_over_ = false;
};

class Process {
 public:
  Process(const RemoteProcessOptions& options, const client::Kubeconfig& config)
      : options_(options), config_(config) {}

  // From now on livez, readyz and metrics are answered, if anywhere.
  Result<void> serve() {
    if (options_.secure_port == 0) return {};
    status_ = TRY(ProcessStatus::start({.name = options_.name,
                                        .address = options_.bind_address,
                                        .port = options_.secure_port,
                                        .open_paths = options_.open_paths,
                                        .not_live = [this] { return not_live(); },
                                        .not_ready = [this] { return not_ready(); }},
                                       config_, clock_, metrics_));
    return {};
  }

  // What the server serves, as soon as it says so; nullopt if a signal came before.
  std::optional<ForeignCluster> discover(Patience& patience) {
    return ask_until_answered<ForeignCluster>(patience, [&] { return discover_cluster(config_); });
  }

  // Who else is at work, empty if nobody is; nullopt if a signal came before that was known.
  std::optional<std::string> find_rival(Patience& patience) {
    if (!options_.find_rival) return "";
    set_waits_for("it is not known yet whether somebody else is at work");
    return ask_until_answered<std::string>(patience, [&] {
      return options_.find_rival([&](seconds time) { return patience.lasts(time); });
    });
  }

  Result<void> start(const ForeignCluster& cluster,
                     const std::vector<RemoteComponent>& components) {
    served_ = cluster.served;
    client_ = TRY(client::RemoteClient::start(
        config_, served_,
        {.https = https({}),
         .rate = options_.rate,
         .may_write = [this] { return !options_.election.on || leadership_->leads(clock_.now()); },
         .metrics = &metrics_,
         .project = options_.project,
         .make = options_.make},
        entropy_, clock_));
    for (const RemoteComponent& component : components)
      running_.push_back(std::make_unique<Running>(component, *client_, surroundings_,
                                                   /*is_alone=*/components.size() == 1));
    published_ = client_.get();
    master_status_ = metrics_.gauge("leader_election_master_status",
                                    "Gauge of if the reporting system is master of the relevant "
                                    "lease, 0 indicates backup, 1 indicates master. 'name' is the "
                                    "string used to identify the lease.",
                                    {{"name", options_.election.name}});
    if (options_.election.on) return elect();
    master_status_.set(1);
    activate();
    return {};
  }

  // Everything that the components follow has been read.
  bool is_ready() const { return client_->troubles().empty(); }
  // Why it cannot go on; empty: it can.
  std::string failure() {
    if (leadership_->ended())
      return fmt::format(
          "the lease {}/{} was lost; another process leads now, or the API server could not be "
          "reached for too long",
          options_.election.name_space, options_.election.name);
    if (const std::string kind = client_->vanished(); !kind.empty())
      return fmt::format("the server no longer serves {}; restart to continue with what it serves",
                         kind);
    const std::vector<const api::Kind*> absent = client_->absent();
    if (const std::string kind = late_kinds_.look(absent, clock_.now()); !kind.empty())
      return fmt::format("the server serves {} now, as it did not at the start; restart to use it",
                         kind);
    return is_elected_ ? activate_if_alone() : "";
  }

  // Nothing is sent once the next leader may decide.
  void stop() {
    rival_look_.reset();
    if (client_ != nullptr) stop_working();
  }

 private:
  // Meanwhile readyz says what is in the way, whatever it is: a server that starts even says
  // Forbidden before it has read its roles.
  template <typename Answer, typename Ask>
  std::optional<Answer> ask_until_answered(Patience& patience, const Ask& ask) {
    for (Duration pause = kFirstPause;; pause = std::min<Duration>(pause * 2, kPauseMax)) {
      Result<Answer> answer = ask();
      if (patience.is_over()) return std::nullopt;
      if (answer) return *std::move(answer);
      log(LogLevel::Warning, "{}; asking again in {} s", answer.error().message,
          std::chrono::duration_cast<seconds>(pause).count());
      set_waits_for(answer.error().message);
      if (!patience.lasts(std::chrono::ceil<milliseconds>(pause))) return std::nullopt;
    }
  }

  void stop_working() {
    if (!client_->drain(kDrain))
      log(LogLevel::Warning, "calls were still under way after {} s",
          std::chrono::duration_cast<seconds>(kDrain).count());
    client_->stop();  // what waits for a connection must not be sent after the hand-over
    if (!election_) return;
    leadership_->give_up();
    for (Duration waited{}; waited < kDrain && !leadership_->ended(); waited += kLook)
      std::this_thread::sleep_for(kLook);
    lease_client_->stop();
  }

  client::HttpsOptions https(std::optional<Duration> timeout) const {
    client::HttpsOptions https;
    https.user_agent = fmt::format("{}/{}", options_.name, version());
    if (timeout)
      https.timeout_ms = static_cast<long>(std::chrono::ceil<milliseconds>(*timeout).count());
    return https;
  }

  // The lease has a connection of its own: renewing it waits for nobody.
  Result<void> elect() {
    const RemoteProcessOptions::Election& wanted = options_.election;
    const Duration timeout = std::max<Duration>(wanted.renew_deadline / 2, seconds{1});
    lease_client_ = TRY(client::RemoteClient::start(
        config_, served_, {.https = https(timeout), .rate = {.per_second = 0}}, lease_entropy_,
        clock_));
    election_ = std::make_unique<ComponentThread>(
        "election", *lease_client_, surroundings_, [&](client::ComponentContext context) {
          return std::make_unique<client::LeaderElection>(
              client::LeaderElection::Options{.name_space = wanted.name_space,
                                              .name = wanted.name,
                                              .identity = process_identity(),
                                              .lease_duration = wanted.lease_duration,
                                              .renew_deadline = wanted.renew_deadline,
                                              .retry_period = wanted.retry_period},
              std::move(context), election_entropy_, leadership_, [this] { on_elected(); });
        });
    return {};
  }

  // On the election's thread, which must not wait: it renews the lease.
  void on_elected() {
    master_status_.set(1);
    if (options_.find_rival)
      is_elected_ = true;
    else
      activate();
  }

  // Who else is at work; empty: nobody, or it is not known yet.
  std::string activate_if_alone() {
    if (is_active_) return "";
    if (!rival_look_) rival_look_.emplace(options_.find_rival);
    std::optional<std::string> rival = rival_look_->found();
    if (rival && rival->empty()) activate();
    return rival ? *std::move(rival) : "";
  }

  void activate() {
    is_active_ = true;
    for (const auto& component : running_) component->standby.activate();
  }

  // Any thread, like the next.
  std::string not_live() const {
    const Time now = clock_.now();
    if (const client::RemoteClient* const client = published_;
        client != nullptr && now - client->last_turn() > kStuck)
      return fmt::format("the thread that talks to the API server has not finished a turn for {} s",
                         std::chrono::duration_cast<seconds>(now - client->last_turn()).count());
    if (leadership_->is_overdue(now, kStuckElection))
      return "leaderElection: the lease was not renewed, and the election does not say so";
    return "";
  }

  std::string not_ready() const {
    if (const client::RemoteClient* const client = published_; client != nullptr)
      return fmt::format("{}", fmt::join(client->troubles(), "\n"));
    const std::lock_guard lock(mutex_);
    return waits_for_;
  }

  // One client for all looks: it keeps its connection, and reads what stands in files again.
  Result<client::ServedKinds> served_now(std::span<const api::Kind* const> kinds) {
    if (!look_client_) {
      client::HttpsOptions impatient = https({});
      impatient.connect_timeout_ms = impatient.timeout_ms = kLookTimeoutMs;
      look_client_ = TRY(client::HttpsClient::open(config_, impatient));
    }
    return client::ServedKinds::discover(*look_client_, kinds);
  }

  void set_waits_for(std::string what) {
    const std::lock_guard lock(mutex_);
    waits_for_ = std::move(what);
  }

  const RemoteProcessOptions& options_;
  const client::Kubeconfig& config_;
  client::ServedKinds served_;
  const SteadyClock clock_;
  SystemEntropy entropy_;  // each belongs to one thread
  SystemEntropy lease_entropy_;
  SystemEntropy election_entropy_;
  Metrics metrics_;
  Gauge master_status_;
  const ComponentThread::Surroundings surroundings_{
      .clock = clock_,
      .metrics = metrics_,
      .host = std::string(client::authority_of(config_.server))};
  const std::shared_ptr<client::Leadership> leadership_ = std::make_shared<client::Leadership>();
  std::unique_ptr<client::RemoteClient> client_;
  std::unique_ptr<client::RemoteClient> lease_client_;
  std::vector<std::unique_ptr<Running>> running_;
  std::unique_ptr<ComponentThread> election_;
  std::atomic<bool> is_elected_ = false;  // and has to look for a rival
  std::atomic<bool> is_active_ = false;
  std::optional<RivalLook> rival_look_;
  std::optional<client::HttpsClient> look_client_;
  LateKinds late_kinds_{
      [this](std::span<const api::Kind* const> kinds) { return served_now(kinds); }};

  // For the listener's thread.
  std::atomic<const client::RemoteClient*> published_ = nullptr;  // once there is one
  mutable std::mutex mutex_;
  std::string waits_for_ = "the API server was not asked yet";  // before; under mutex_
  std::unique_ptr<ProcessStatus> status_;                       // last: it asks the rest
};

}  // namespace

std::string process_identity() {
  SystemEntropy entropy;
  return fmt::format("{}_{}", host_name(), random_uuid(entropy));
}

Result<void> run_remote_process(const RemoteProcessOptions& options,
                                const client::Kubeconfig& config, const ChooseComponents& choose) {
  const Signals signals;
  Process process(options, config);
  TRY(process.serve());
  Patience patience(signals);
  const std::optional<ForeignCluster> cluster = process.discover(patience);
  if (!cluster) return {};
  const std::optional<std::string> rival = process.find_rival(patience);
  if (!rival) return {};
  if (!rival->empty()) return fail(Reason::Conflict, "{}", *rival);
  release_program_pages();
  const std::vector<RemoteComponent> components = TRY(choose(*cluster));
  Result<void> started = process.start(*cluster, components);
  std::string failure;
  bool has_settled = false;
  while (started && (failure = process.failure()).empty() && !signals.came_within(kLook)) {
    if (has_settled || !process.is_ready()) continue;
    has_settled = true;
    release_program_pages();  // what reading the whole cluster needed
  }
  process.stop();
  if (!failure.empty()) return fail(Reason::ServiceUnavailable, "{}", failure);
  return started;
}

}  // namespace muster::app
