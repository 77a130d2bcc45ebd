#include "server/http/audit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <utility>

#include "api/json.h"
#include "base/log.h"

namespace muster::server {
namespace {

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

namespace {

// Never through a link that somebody else has put there, and 0600 whatever the umask is.
int open_log(const std::string& path) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) (void)::fchmod(file, 0600);
  return file;
}

// audit.log becomes audit-2026-01-01T00-00-00.000.log.
std::string backup_path(const std::filesystem::path& path, Time now) {
  std::string time = format_micro_time(now).substr(0, 23);
  std::ranges::replace(time, ':', '-');
  return (path.parent_path() /
          fmt::format("{}-{}{}", path.stem().string(), time, path.extension().string()))
      .string();
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path, Rotation rotation) {
  const int file = open_log(path);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0)
    return fail(Reason::InternalError, "cannot write the audit log {}: {}", path,
                std::strerror(errno));
  return std::unique_ptr<AuditLog>(
      new AuditLog(path, rotation, file, static_cast<std::size_t>(status.st_size)));
}

AuditLog::~AuditLog() { ::close(file_); }

// If the file cannot be renamed or the new one not be opened, the old one grows on: a long log is
// better than none.
void AuditLog::rotate(Time now) {
  const std::string backup = backup_path(path_, now);
  bytes_ = 0;
  if (::rename(path_.c_str(), backup.c_str()) != 0) return;
  const int file = open_log(path_);
  if (file < 0) {
    (void)::rename(backup.c_str(), path_.c_str());
    return;
  }
  ::close(std::exchange(file_, file));
  remove_old(now);
}

void AuditLog::remove_old(Time now) const {
  namespace fs = std::filesystem;
  const fs::path path = path_;
  const std::string oldest = rotation_.age_max.count() > 0
                                 ? fs::path(backup_path(path, now - rotation_.age_max)).filename()
                                 : "";
  const std::string start = path.stem().string() + "-";
  std::error_code error;
  std::vector<std::string> names;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    const bool ours = name.size() == start.size() + 23 + path.extension().string().size() &&
                      name.starts_with(start) && name.ends_with(path.extension().string());
    if (ours) names.push_back(std::move(name));
  }
  // Their names are in the order of their times.
  std::ranges::sort(names, std::greater<>());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool too_many = rotation_.backups_max > 0 && i >= rotation_.backups_max;
    if (too_many || names[i] < oldest) fs::remove(folder / names[i], error);
  }
}

void AuditLog::write(const AuditRecord& record) {
  const std::string line = audit_line(record);
  const std::lock_guard lock(mutex_);
  if (bytes_ > 0 && bytes_ + line.size() > rotation_.bytes_max) rotate(record.finished);
  const ssize_t written = ::write(file_, line.data(), line.size());
  const bool good = written == static_cast<ssize_t>(line.size());
  if (!good && !std::exchange(failed_, true))
    log(LogLevel::Error, "the audit log cannot be written: {}",
        std::strerror(written < 0 ? errno : ENOSPC));
  if (good) failed_ = false;
  bytes_ += line.size();
}

}  // namespace muster::server
