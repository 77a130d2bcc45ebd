#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "base/time.h"
#include "server/http/router.h"

namespace muster::server {

// What an audit log tells of a request that is over. Never a body: secrets stay out.
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
// only its owner may read. Any thread. A line is written in one piece, so a rotated or shared file
// stays readable; a full disk loses lines, never requests.
class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void write(const AuditRecord& record);

 private:
  explicit AuditLog(int file) : file_(file) {}

  const int file_;
  std::mutex mutex_;
  bool failed_ = false;  // under mutex_: said so once
};

// The line, with its end.
std::string audit_line(const AuditRecord& record);

}  // namespace muster::server
