#pragma once

#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "controllers/job/pod_changes.h"

namespace muster::controllers {

// Makes the documents of a Job's pods from its template.
class PodMaker {
 public:
  // `group`: the PodGroup they belong to; empty: none of the Job's.
  PodMaker(const api::Object& job, std::string_view group);

  api::Json make(const NewPod& pod) const;

 private:
  void add_index(const NewPod& pod, api::JsonObject& document) const;

  const std::string job_;  // its name
  const bool per_index_;   // counts failures by index
  api::JsonObject pod_;    // what all of them share
};

}  // namespace muster::controllers
