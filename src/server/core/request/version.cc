#include "server/core/request/version.h"

#include <fmt/format.h>

namespace muster::server {

// Clients parse all of these members; the ones that speak of a Go build say what is true of ours.
std::string version_json() {
  return fmt::format(
      R"({{"major":"{0}","minor":"{1}","emulationMajor":"{0}","emulationMinor":"{1}",)"
      R"("minCompatibilityMajor":"{0}","minCompatibilityMinor":"36","gitVersion":"{2}","gitCommit":"",)"
      R"("gitTreeState":"clean","buildDate":"1970-01-01T00:00:00Z","goVersion":"none",)"
      R"("compiler":"{3}","platform":"linux/{4}"}})",
      kKubernetesMajor, kKubernetesMinor, kGitVersion,
#if defined(__clang__)
      "clang++",
#else
      "g++",
#endif
#if defined(__aarch64__)
      "arm64"
#else
      "amd64"
#endif
  );
}

}  // namespace muster::server
