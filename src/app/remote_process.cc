#include "app/remote_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "app/delegated_access.h"
#include "app/hosted_component.h"
#include "app/signals.h"
#include "app/standby_client.h"
#include "app/steady_clock.h"
#include "app/version.h"
#include "base/entropy.h"
#include "base/log.h"
#include "base/metrics.h"
#include "client/kit/leader_election.h"
#include "client/remote/remote_client.h"
#include "server/http/certificates.h"
#include "server/http/status_listener.h"

namespace muster::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kDrain = seconds{5};
constexpr milliseconds kLook{100};
constexpr Duration kReviewTimeout = seconds{5};
// Invented tokens must not become a load on the API server.
constexpr client::RateLimit::Options kReviewRate{.per_second = 20, .burst = 40};

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

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

class Process {
 public:
  Process(const RemoteProcessOptions& options, const ForeignCluster& cluster)
      : options_(options), cluster_(cluster) {}

  Result<void> start(const std::vector<RemoteComponent>& components) {
    client_ = TRY(client::RemoteClient::start(
        cluster_.config, cluster_.served,
        {.https = https({}),
         .rate = options_.rate,
         .may_write = [this] { return !options_.election.on || leadership_->leads(clock_.now()); },
         .project = options_.project,
         .make = options_.make},
        entropy_, clock_));
    for (const RemoteComponent& component : components)
      running_.push_back(std::make_unique<Running>(component, *client_, surroundings_,
                                                   /*is_alone=*/components.size() == 1));
    TRY(serve());
    master_status_ = metrics_.gauge("leader_election_master_status",
                                    "Gauge of if the reporting system is master of the relevant "
                                    "lease, 0 indicates backup, 1 indicates master. 'name' is the "
                                    "string used to identify the lease.",
                                    {{"name", options_.election.name}});
    if (options_.election.on) return elect();
    activate();
    return {};
  }

  bool lost() const { return leadership_->ended(); }

  // Nothing is sent once the next leader may decide.
  void stop() {
    if (client_ == nullptr) return;
    if (!client_->drain(kDrain))
      log(LogLevel::Warning, "calls were still under way after {} s",
          std::chrono::duration_cast<seconds>(kDrain).count());
    if (election_) {
      leadership_->give_up();
      for (Duration waited{}; waited < kDrain && !leadership_->ended(); waited += kLook)
        std::this_thread::sleep_for(kLook);
      lease_client_->stop();
    }
    client_->stop();
    if (review_client_ != nullptr) review_client_->stop();  // no reply comes after this
  }

 private:
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
        cluster_.config, cluster_.served, {.https = https(timeout), .rate = {.per_second = 0}},
        lease_entropy_, clock_));
    election_ = std::make_unique<ComponentThread>(
        "election", *lease_client_, surroundings_, [&](client::ComponentContext context) {
          return std::make_unique<client::LeaderElection>(
              client::LeaderElection::Options{.name_space = wanted.name_space,
                                              .name = wanted.name,
                                              .identity = process_identity(),
                                              .lease_duration = wanted.lease_duration,
                                              .renew_deadline = wanted.renew_deadline,
                                              .retry_period = wanted.retry_period},
              std::move(context), election_entropy_, leadership_, [this] { activate(); });
        });
    return {};
  }

  void activate() {
    master_status_.set(1);
    for (const auto& component : running_) component->standby.activate();
  }

  // Who may read numbers is asked on a connection of its own: writes are fenced, reviews are not.
  Result<void> serve() {
    if (options_.secure_port == 0) return {};
    review_client_ = TRY(client::RemoteClient::start(
        cluster_.config, cluster_.served, {.https = https(kReviewTimeout), .rate = kReviewRate},
        review_entropy_, clock_));
    access_ = std::make_unique<DelegatedAccess>(*review_client_, clock_);
    const Time now = SystemClock{}.now();
    const server::Credential authority = TRY(server::make_authority(options_.name + "-ca", now));
    const server::Credential serving = TRY(server::make_serving_certificate(
        authority, {.dns = {"localhost", host_name()}, .addresses = {"127.0.0.1", "::1"}}, now));
    status_ = TRY(server::StatusListener::start(
        {.address = options_.bind_address, .port = options_.secure_port, .certificate = serving},
        [this](const server::StatusListener::Question& question,
               server::StatusListener::Reply reply) { answer(question, std::move(reply)); }));
    log(LogLevel::Info, "livez, readyz and metrics on https://{}:{}", options_.bind_address,
        options_.secure_port);
    return {};
  }

  void answer(const server::StatusListener::Question& question,
              server::StatusListener::Reply reply) {
    if (std::ranges::find(options_.open_paths, question.path) != options_.open_paths.end())
      return reply(content(question.path));
    access_->check(question.bearer, question.path,
                   [this, path = question.path,
                    reply = std::move(reply)](const DelegatedAccess::Answer& said) {
                     switch (said.verdict) {
                       case DelegatedAccess::Verdict::Allowed: return reply(content(path));
                       case DelegatedAccess::Verdict::Unauthorized:
                         return reply({.code = 401, .text = said.text});
                       case DelegatedAccess::Verdict::Forbidden:
                         return reply({.code = 403, .text = said.text});
                       case DelegatedAccess::Verdict::Unknown:
                         return reply({.code = 503, .text = said.text});
                     }
                   });
  }

  server::StatusListener::Answer content(std::string_view path) const {
    if (path != "/livez" && path != "/healthz" && path != "/readyz" && path != "/metrics")
      return {.code = 404, .text = "404 page not found\n"};
    if (path == "/metrics") return {.code = 200, .text = metrics_.text()};
    if (path != "/readyz") return {.code = 200, .text = "ok"};
    const std::vector<std::string> troubles = client_->troubles();
    if (troubles.empty()) return {.code = 200, .text = "ok"};
    return {.code = 503, .text = fmt::format("{}\n", fmt::join(troubles, "\n"))};
  }

  const RemoteProcessOptions& options_;
  const ForeignCluster& cluster_;
  const SteadyClock clock_;
  SystemEntropy entropy_;  // each belongs to one thread
  SystemEntropy lease_entropy_;
  SystemEntropy election_entropy_;
  SystemEntropy review_entropy_;
  Metrics metrics_;
  Gauge master_status_;
  const ComponentThread::Surroundings surroundings_{.clock = clock_, .metrics = metrics_};
  const std::shared_ptr<client::Leadership> leadership_ = std::make_shared<client::Leadership>();
  std::unique_ptr<client::RemoteClient> client_;
  std::unique_ptr<client::RemoteClient> lease_client_;
  std::vector<std::unique_ptr<Running>> running_;
  std::unique_ptr<ComponentThread> election_;
  std::unique_ptr<client::RemoteClient> review_client_;
  std::unique_ptr<DelegatedAccess> access_;
  std::unique_ptr<server::StatusListener> status_;
};

}  // namespace

std::string process_identity() {
  SystemEntropy entropy;
  return fmt::format("{}_{}", host_name(), random_uuid(entropy));
}

Result<void> run_remote_process(const RemoteProcessOptions& options, const ForeignCluster& cluster,
                                const std::vector<RemoteComponent>& components) {
  const Signals signals;
  Process process(options, cluster);
  Result<void> started = process.start(components);
  if (started) {
    while (!process.lost() && !signals.came_within(kLook)) {
    }
  }
  const bool lost = process.lost();
  process.stop();
  if (!started) return started;
  if (lost)
    return fail(Reason::ServiceUnavailable,
                "the lease {}/{} was lost; another process leads now, or the API server could not "
                "be reached for too long",
                options.election.name_space, options.election.name);
  return {};
}

}  // namespace muster::app
