#include "app/process_status.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "api/kinds/kind.h"
#include "app/version.h"
#include "base/check.h"
#include "base/log.h"
#include "server/http/certificates.h"

namespace muster::app {
namespace {

constexpr long kReviewTimeoutMs = 5000;
// Invented tokens must not become a load on the API server.
constexpr client::RateLimit::Options kReviewRate{.per_second = 20, .burst = 40};

// They are stable, so that nobody needs to ask the server what it serves before it is reachable.
client::ServedKinds reviews() {
  client::ServedKinds served;
  for (const auto& [group, name] : {std::pair{"authentication.k8s.io", "TokenReview"},
                                    std::pair{"authorization.k8s.io", "SubjectAccessReview"}}) {
    const api::Kind* const kind = api::find_kind(group, name);
    CHECK(kind != nullptr);
    served.set(*kind, "v1");
  }
  return served;
}

server::StatusListener::Answer verdict_on(const std::string& complaint, int code_if_any) {
  if (complaint.empty()) return {.code = 200, .text = "ok"};
  return {.code = code_if_any, .text = complaint + "\n"};
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

Result<std::unique_ptr<ProcessStatus>> ProcessStatus::start(Options options,
                                                            const client::Kubeconfig& config,
                                                            const Clock& clock,
                                                            const Metrics& metrics) {
  std::unique_ptr<ProcessStatus> status(new ProcessStatus(std::move(options), clock, metrics));
  TRY(status->listen(config));
  return status;
}

// No reply comes after the client has stopped, and it hands none to a listener that is gone.
ProcessStatus::~ProcessStatus() {
  if (client_ != nullptr) client_->stop();
}

Result<void> ProcessStatus::listen(const client::Kubeconfig& config) {
  client_ = TRY(client::RemoteClient::start(
      config, reviews(),
      {.https = {.timeout_ms = kReviewTimeoutMs,
                 .user_agent = fmt::format("{}/{}", options_.name, version())},
       .rate = kReviewRate},
      entropy_, clock_));
  access_ = std::make_unique<DelegatedAccess>(*client_, clock_);
  const Time now = SystemClock{}.now();
  const server::Credential authority = TRY(server::make_authority(options_.name + "-ca", now));
  const server::Credential serving = TRY(server::make_serving_certificate(
      authority, {.dns = {"localhost", host_name()}, .addresses = {"127.0.0.1", "::1"}}, now));
  listener_ = TRY(server::StatusListener::start(
      {.address = options_.address, .port = options_.port, .certificate = serving},
      [this](const Question& question, Reply reply) { answer(question, std::move(reply)); }));
  log(LogLevel::Info, "livez, readyz and metrics on https://{}:{}", options_.address,
      options_.port);
  return {};
}

void ProcessStatus::answer(const Question& question, Reply reply) {
  if (std::ranges::find(options_.open_paths, question.path) != options_.open_paths.end())
    return reply(content(question.path));
  access_->check(
      question.bearer, question.path,
      [this, path = question.path, reply = std::move(reply)](const DelegatedAccess::Answer& said) {
        switch (said.access) {
          case DelegatedAccess::Access::Allowed: return reply(content(path));
          case DelegatedAccess::Access::Unauthorized:
            return reply({.code = 401, .text = said.text});
          case DelegatedAccess::Access::Forbidden: return reply({.code = 403, .text = said.text});
          case DelegatedAccess::Access::Unknown: return reply({.code = 503, .text = said.text});
        }
      });
}

server::StatusListener::Answer ProcessStatus::content(std::string_view path) const {
  if (path == "/metrics") return {.code = 200, .text = metrics_.text()};
  if (path == "/livez" || path == "/healthz") return verdict_on(options_.not_live(), 500);
  if (path == "/readyz") return verdict_on(options_.not_ready(), 503);
  return {.code = 404, .text = "404 page not found\n"};
}

}  // namespace muster::app
