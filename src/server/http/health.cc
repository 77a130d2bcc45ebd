#include "server/http/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace muster::server {
namespace {

HttpResponse plain_text(int code, std::string body) {
  HttpResponse response;
  response.code = code;
  response.content_type = "text/plain; charset=utf-8";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = std::move(body);
  return response;
}

// Names that were to be excluded but are none of ours.
std::string unmatched(std::span<const HealthCheck> checks,
                      const std::vector<std::string>& excluded) {
  std::string names;
  for (const std::string& name : excluded) {
    if (std::ranges::find(checks, name, &HealthCheck::name) != checks.end()) continue;
    fmt::format_to(std::back_inserter(names), "{}\"{}\"", names.empty() ? "" : ",", name);
  }
  return names;
}

HttpResponse answer_one(std::span<const HealthCheck> checks, std::string_view name) {
  const auto check = std::ranges::find(checks, name, &HealthCheck::name);
  if (check == checks.end()) return plain_text(404, "404 page not found\n");
  if (!check->good) return plain_text(500, "internal server error: reason withheld\n");
  return plain_text(200, "ok");
}

}  // namespace

HealthChecks health_checks(const store::Health* store) {
  return [store](std::string_view endpoint) {
    const bool writable = store == nullptr || !store->why_not_writable();
    // Reads are answered from memory, so the store is always alive; it may not be writable.
    const bool lives = endpoint == "livez";
    std::vector<HealthCheck> checks = {{"ping"}, {"log"}, {"etcd", lives || writable}};
    if (endpoint == "readyz") {
      checks.push_back({"etcd-readiness", writable});
      checks.push_back({"informer-sync"});
    }
    // Both are done before the first connection is accepted.
    checks.push_back({"poststarthook/rbac/bootstrap-roles"});
    checks.push_back({"poststarthook/scheduling/bootstrap-system-priority-classes"});
    if (endpoint == "readyz") checks.push_back({"shutdown"});
    return checks;
  };
}

HttpResponse answer_health(const HealthQuestion& question, const Query& query,
                           std::span<const HealthCheck> checks) {
  if (!question.check.empty()) return answer_one(checks, question.check);

  const std::vector<std::string> excluded = query.all("exclude");
  std::string lines;
  const auto to = std::back_inserter(lines);
  bool good = true;
  for (const HealthCheck& check : checks) {
    if (std::ranges::find(excluded, check.name) != excluded.end()) {
      fmt::format_to(to, "[+]{} excluded: ok\n", check.name);
    } else if (check.good) {
      fmt::format_to(to, "[+]{} ok\n", check.name);
    } else {
      fmt::format_to(to, "[-]{} failed: reason withheld\n", check.name);
      good = false;
    }
  }
  if (const std::string names = unmatched(checks, excluded); !names.empty())
    fmt::format_to(to, "warn: some health checks cannot be excluded: no matches for {}\n", names);
  if (!good) return plain_text(500, fmt::format("{}{} check failed\n", lines, question.endpoint));
  if (query.find("verbose") == nullptr) return plain_text(200, "ok");
  return plain_text(200, fmt::format("{}{} check passed\n", lines, question.endpoint));
}

}  // namespace muster::server
