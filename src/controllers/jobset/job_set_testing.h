#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/job_set_view.h"
#include "controllers/common/testing_texts.h"
#include "controllers/jobset/job_set_keys.h"
#include "controllers/jobset/set_plan.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A Job of set "js", in words.
struct JobText {
  std::string entry;
  int index = 0;
  int attempt = 0;
  int job_attempt = 0;
  std::string end = {};  // Complete, Failed
  std::string reason = "BackoffLimitExceeded";
  std::string message = "no";
  std::string ended = "2026-01-01T00:00:00Z";
  int ready = 0;
  int active = 1;
  bool suspend = false;
  bool deleted = false;
  std::string spec = R"("parallelism":1,"completions":1,"completionMode":"Indexed")";
};

inline api::ObjectPtr make_job(const JobText& job) {
  const std::string condition =
      job.end.empty()
          ? ""
          : fmt::format(
                R"({{"type":"{}","status":"True","reason":"{}","message":"{}","lastTransitionTime":"{}"}})",
                job.end, job.reason, job.message, job.ended);
  return api::Object::make(
      *api::find_kind("batch", "Job"),
      parsed(fmt::format(
          R"({{"metadata":{{"name":"js-{0}-{1}","namespace":"ns","uid":"u-{0}-{1}","labels":{{
              "{2}":"{0}","{3}":"{1}","{4}":"{5}","{6}":"{7}"}}{8}}},
              "spec":{{{9},"suspend":{10}}},
              "status":{{"ready":{11},"active":{12},"conditions":[{13}]}}}})",
          job.entry, job.index, job_set::kJobName, job_set::kJobIndex, job_set::kRestartAttempt,
          job.attempt, job_set::kJobRestartAttempt, job.job_attempt,
          job.deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "", job.spec,
          job.suspend, job.ready, job.end.empty() ? job.active : 0, condition)));
}

// A JobSet "js" from the members of its spec and of its status.
inline api::ObjectPtr make_set(std::string_view spec, std::string_view status = "",
                               std::string_view more_meta = "") {
  return api::Object::make(
      *api::find_kind("jobset.x-k8s.io", "JobSet"),
      parsed(fmt::format(
          R"({{"metadata":{{"name":"js","namespace":"ns","uid":"ujs"{}}},"spec":{{{}}},"status":{{{}}}}})",
          more_meta, spec, status)));
}

}  // namespace muster::controllers
