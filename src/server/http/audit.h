#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "base/time.h"
#include "server/http/router.h"

namespace muster::server {

// What an audit log records about a finished request. Never a body: secrets stay out.
struct AuditRecord {
  std::string id;
  std::string target;
  std::string user_agent;
  api::User user;               // who asked
  api::User impersonated = {};  // and as whom; without a name: as themselves
  Attributes asked;
  int code = 0;
  Time received;
  Time finished;
  std::vector<std::string> pods;  // that a GroupBinding bound
};

// One line of JSON per request (audit.k8s.io/v1 Event, level Metadata), appended to a file that
// only its owner may read. Any thread. A line is written in one piece, so a shared file stays
// readable; a full disk loses lines, never requests. A file that has grown to its limit is renamed
// (audit-2026-01-01T00-00-00.000.log) and a new one begun, as upstream does.
class AuditLog {
 public:
  struct Rotation {
    std::size_t bytes_max = 100U << 20U;
    std::size_t backups_max = 0;   // renamed files that are kept; 0: all
    std::chrono::days age_max{0};  // how long; 0: forever
  };
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path, Rotation rotation);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void write(const AuditRecord& record);

 private:
  AuditLog(std::string path, Rotation rotation, int file, std::size_t bytes)
      : path_(std::move(path)), rotation_(rotation), file_(file), bytes_(bytes) {}
  void rotate(Time now);
  void remove_old(Time now) const;

  const std::string path_;
  const Rotation rotation_;
  std::mutex mutex_;
  int file_;             // under mutex_, as all below
  std::size_t bytes_;    // in the file
  bool failed_ = false;  // said so once
};

// The line, with its end.
std::string audit_line(const AuditRecord& record);

}  // namespace muster::server
