#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/job_view.h"
#include "controllers/common/testing_texts.h"
#include "controllers/job/job_pods.h"
#include "controllers/job/tally.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A pod of a Job, in words: "Running", "Succeeded", "Failed", "Pending"; then what is special.
struct PodText {
  std::string name = {};
  std::string phase = "Running";
  int index = -1;
  bool tracked = true;
  bool deleted = false;
  bool ready = false;
  int index_failures = -1;
  std::string node = "n1";
  std::string made = "2026-01-01T00:00:00Z";
  std::string more_status = {};  // further members
};

inline JobPod make_pod(const PodText& text) {
  std::string annotations;
  if (text.index >= 0) annotations = fmt::format(R"("{}":"{}")", kCompletionIndex, text.index);
  if (text.index_failures >= 0)
    annotations += fmt::format(R"(,"{}":"{}")", kIndexFailures, text.index_failures);
  const std::string document = fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}","creationTimestamp":"{1}",
          "annotations":{{{2}}},"finalizers":[{3}]{4}}},
          "spec":{{"nodeName":"{5}"}},
          "status":{{"phase":"{6}","conditions":[{{"type":"Ready","status":"{7}",
          "lastTransitionTime":"{1}"}}]{8}{9}}}}})",
      text.name, text.made, annotations, text.tracked ? fmt::format(R"("{}")", kJobTracking) : "",
      text.deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:30Z")" : "", text.node, text.phase,
      text.ready ? "True" : "False", text.more_status.empty() ? "" : ",", text.more_status);
  return JobPod(api::Object::make(api::kinds::pod(), parsed(document)));
}

inline std::vector<JobPod> make_pods(const std::vector<PodText>& texts) {
  std::vector<JobPod> out;
  for (const PodText& text : texts) out.push_back(make_pod(text));
  return out;
}

// From the members of its spec and of its status.
inline std::unique_ptr<api::JobView> make_job(std::string_view spec, std::string_view status = "") {
  return api::JobView::of(
      parsed(fmt::format(R"({{"spec":{{{}}},"status":{{{}}}}})", spec, status)));
}

inline JobState state_of(const api::JobView& job, const std::vector<JobPod>& pods,
                         Time now = kNow) {
  return {.job = job, .deleting = false, .pods = pods, .now = now};
}

inline std::vector<std::string> names_of(const std::vector<const JobPod*>& pods) {
  std::vector<std::string> out;
  for (const JobPod* pod : pods) out.push_back(pod->object->meta().name);
  return out;
}

}  // namespace muster::controllers
