#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/object.h"

// What a Deployment writes into the annotations of its ReplicaSets.
namespace muster::controllers {

inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";

using Annotations = std::map<std::string, std::string, std::less<>>;

// The number in an annotation of the object; none if there is none.
std::optional<std::int64_t> annotated_number(const api::Object& object, std::string_view key);
// 0 if it has none.
std::int64_t revision_of(const api::Object& set);

// What must be set so that the newest set has this revision and the annotations of its Deployment.
// `set` is null if it is to be made. A set that gets a newer revision than it had was rolled back
// to: its history keeps the old one.
Annotations newest_set_annotations(const api::Object& deployment, const api::Object* set,
                                   std::int64_t revision);
// What must be set to remember for which size the set was scaled. `set` as above.
Annotations size_annotations(const api::Object* set, std::int64_t desired, std::int64_t at_most);

}  // namespace muster::controllers
