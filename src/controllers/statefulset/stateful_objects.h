#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"
#include "api/views/stateful_set_view.h"

// The documents of a StatefulSet's pods and claims, and who owns the claims.
namespace muster::controllers {

const api::Kind& stateful_set_kind();
const api::Kind& claim_kind();

// An annotation of StatefulSets: another controller makes their pods, because each one is
// different. Everything else about the set is done here.
inline constexpr std::string_view kPodsMadeElsewhere = "muster.dev/pods-made-elsewhere";

std::string pod_name(const api::Object& set, std::int32_t ordinal);
// <template>-<set>-<ordinal>
std::string claim_name(std::string_view claim_template, const api::Object& set,
                       std::int32_t ordinal);

// Makes the documents of pods from one revision of the template.
class StatefulPodMaker {
 public:
  StatefulPodMaker(const api::Object& set, const api::Json& pod_template,
                   std::string_view revision);
  api::Json make(std::int32_t ordinal) const;

 private:
  const api::Object& set_;
  api::JsonObject pod_;  // what all of them share
};

// The object whose deletion deletes the claims of a pod.
enum class ClaimOwner : std::uint8_t { Nobody, Set, Pod };
ClaimOwner claim_owner(const api::StatefulSetView& set, bool pod_condemned);

api::Request create_claim_request(const api::Object& set, std::string_view claim_template,
                                  std::int32_t ordinal);
// None if the claim is as it should be, or somebody else controls it. `pod`: of its ordinal; may be
// null unless the pod must own the claim.
std::optional<api::Request> claim_owner_request(const api::Object& claim, const api::Object& set,
                                                const api::Object* pod, ClaimOwner owner);
// Whether the claim will go with a pod that no longer exists.
bool is_stale_claim(const api::Object& claim, const api::Object& set, const api::Object* pod);

// Gives a pod the labels that say who it is.
api::Request name_pod_request(const api::Object& pod, std::int32_t ordinal);

api::Request stateful_status_request(const api::Object& set,
                                     const api::StatefulSetView::Status& status);

}  // namespace muster::controllers
