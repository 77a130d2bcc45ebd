#include "server/http/audit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "api/json.h"
#include "base/log.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

JsonArray list_of(const std::vector<std::string>& items) {
  JsonArray out;
  for (const std::string& item : items) out.emplace_back(item);
  return out;
}

JsonObject user_json(const api::User& user) {
  return {{"username", user.name}, {"groups", list_of(user.groups)}};
}

JsonObject object_reference(const Attributes& asked) {
  JsonObject out{{"resource", asked.resource}};
  const auto add = [&](std::string_view member, const std::string& value) {
    if (!value.empty()) out.emplace(member, value);
  };
  add("namespace", asked.name_space);
  add("name", asked.name);
  add("apiGroup", asked.group);
  add("apiVersion", asked.version);
  add("subresource", asked.subresource);
  return out;
}

}  // namespace

std::string audit_line(const AuditRecord& record) {
  JsonObject out{{"kind", "Event"},
                 {"apiVersion", "audit.k8s.io/v1"},
                 {"level", "Metadata"},
                 {"auditID", record.id},
                 {"stage", "ResponseComplete"},
                 {"requestURI", record.target},
                 {"verb", record.asked.verb},
                 {"user", user_json(record.user)},
                 {"userAgent", record.user_agent}};
  if (!record.impersonated.name.empty())
    out.emplace("impersonatedUser", user_json(record.impersonated));
  if (record.asked.is_resource) out.emplace("objectRef", object_reference(record.asked));
  out.emplace("responseStatus", JsonObject{{"metadata", JsonObject()}, {"code", record.code}});
  out.emplace("requestReceivedTimestamp", format_micro_time(record.received));
  out.emplace("stageTimestamp", format_micro_time(record.finished));
  if (!record.pods.empty())
    out.emplace("annotations", JsonObject{{"scheduling.muster.dev/pods",
                                           fmt::format("{}", fmt::join(record.pods, ","))}});
  return api::to_text(out) + "\n";
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0)
    return fail(Reason::InternalError, "cannot write the audit log {}: {}", path,
                std::strerror(errno));
  return std::unique_ptr<AuditLog>(new AuditLog(file));
}

AuditLog::~AuditLog() { ::close(file_); }

void AuditLog::write(const AuditRecord& record) {
  const std::string line = audit_line(record);
  const std::lock_guard lock(mutex_);
  const ssize_t written = ::write(file_, line.data(), line.size());
  const bool good = written == static_cast<ssize_t>(line.size());
  if (!good && !std::exchange(failed_, true))
    log(LogLevel::Error, "the audit log cannot be written: {}", std::strerror(errno));
  if (good) failed_ = false;
}

}  // namespace muster::server
