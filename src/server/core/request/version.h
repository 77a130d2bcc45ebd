#pragma once

#include <string>
#include <string_view>

namespace muster::server {

// Muster follows the Kubernetes 1.37 API, so it answers as that version: kubectl compares minors
// and warns when they are more than one apart, and some clients switch features on it. What follows
// the plus is semver build metadata: every client ignores it when comparing, and a human sees who
// answered.
inline constexpr std::string_view kKubernetesMajor = "1";
inline constexpr std::string_view kKubernetesMinor = "37";
inline constexpr std::string_view kGitVersion = "v1.37.0+muster-0.1.0";

// The document behind /version.
std::string version_json();

}  // namespace muster::server
