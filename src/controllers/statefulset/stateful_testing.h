#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "base/time.h"
#include "controllers/common/testing_texts.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A pod of the StatefulSet "web", in words.
struct PodText {
  std::int32_t ordinal = 0;
  std::string revision = "web-a";
  std::string phase = "Running";
  bool ready = true;
  bool deleted = false;
  Time ready_since = kNow;
  std::string uid = {};
};

inline std::string pod_json(const PodText& text) {
  return fmt::format(
      R"({{"metadata":{{"name":"web-{0}","namespace":"ns","uid":"{1}",
      "labels":{{"app":"web","controller-revision-hash":"{2}","apps.kubernetes.io/pod-index":"{0}",
      "statefulset.kubernetes.io/pod-name":"web-{0}"}},"ownerReferences":[{{"apiVersion":"apps/v1",
      "kind":"StatefulSet","name":"web","uid":"us","controller":true}}]{3}}},"spec":{{}},
      "status":{{"phase":"{4}","conditions":[{{"type":"Ready","status":"{5}",
      "lastTransitionTime":"{6}"}}]}}}})",
      text.ordinal, text.uid.empty() ? fmt::format("u{}", text.ordinal) : text.uid, text.revision,
      text.deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:30Z")" : "", text.phase,
      text.ready ? "True" : "False", format_time(text.ready_since));
}

inline api::ObjectPtr pod_object(const PodText& text) {
  return api::Object::make(api::kinds::pod(), parsed(pod_json(text)));
}

}  // namespace muster::controllers
