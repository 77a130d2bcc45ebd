#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/json.h"

namespace muster::workload {

// Pods that will name a group.
struct PodLink {
  std::string job;  // namespace/name of their owner
  std::int64_t pods = 0;
  std::string pod_group;
  std::string kind = "Job";  // the kind of their owner, in words
};

struct CompiledManifest {
  // With apiVersion and kind, in the order they are created: each document of the file in the form
  // of 1.37, followed by what is made for it.
  std::vector<api::Json> documents;
  std::vector<PodLink> links;
  // What was changed and why something was left alone, a sentence each.
  std::vector<std::string> notes;
};

}  // namespace muster::workload
