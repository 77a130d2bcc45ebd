#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace muster::app {

// The flags of `muster build` as given, before they are parsed.
struct BuildFlags {
  std::string file;  // "-": standard input
  std::string name_space = "default";
  std::string output = "yaml";
  std::string job_workloads = "all";
  std::string job_gang_default = "none";
  std::vector<std::string> feature_gates;
};

struct BuildText {
  std::string output;
  std::vector<std::string> notes;  // for standard error, a sentence each
};

// Compiles the manifests of a file to Workloads and groups, without a server.
Result<BuildText> build_from_file(const BuildFlags& flags);

}  // namespace muster::app
