#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"
#include "api/views/leader_worker_set_view.h"
#include "controllers/leaderworkerset/lws_keys.h"
#include "controllers/leaderworkerset/lws_rollout.h"

// The documents of what a LeaderWorkerSet is made of.
namespace muster::controllers {

const api::Kind& leader_worker_set_kind();
const api::Kind& service_kind();

// What a revision of the set keeps: everything that a replica is made from.
api::Json lws_revision_data(const api::Json& set);
// The part of the spec that a revision keeps, to make a replica of it.
api::Json lws_revision_spec(const api::Object& revision);

// The StatefulSet of all leaders.
api::Request create_leader_set(const api::Object& set, const api::Json& document,
                               std::string_view revision, const LwsRollout& rollout);
// Updates it to the newest revision and the next step.
api::Request update_leader_set(const api::Object& leader_set, const api::Object& set,
                               const api::Json& document, std::string_view revision,
                               const LwsRollout& rollout);
// The StatefulSet of one leader's workers. `spec` as of the leader's revision.
api::Request create_worker_set(const api::Object& set, const api::Object& leader,
                               const api::Json& spec, std::string_view pod_group);
// A headless Service: of all replicas, or of one, which its leader owns.
api::Request create_service(const api::Object& set, const api::Object* leader);

// What a pod learns about its place: labels, environment, the group it is scheduled with. `index`:
// of the replica; `worker`: in it, 0 is the leader.
struct LwsPlace {
  std::string set;
  std::int32_t index = 0;
  std::int32_t worker = 0;
  std::string pod_group = {};  // empty: as the template says
};
void place_lws_pod(const LwsPlace& place, api::Json& pod);

api::Request lws_status_request(const api::Object& set,
                                const api::LeaderWorkerSetView::Status& status, Time now);
std::string lws_hpa_selector(const api::Object& set);

}  // namespace muster::controllers
