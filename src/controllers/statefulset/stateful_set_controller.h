#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/views/stateful_set_view.h"
#include "client/kit/mirror.h"
#include "controllers/common/writing_controller.h"
#include "controllers/statefulset/roster.h"
#include "controllers/statefulset/stateful_objects.h"
#include "controllers/statefulset/stateful_plan.h"

namespace muster::controllers {

// Runs StatefulSets: pods with a name, a place in an order and claims of their own, that survive
// them.
//
//   feeds ──▶ rosters ──▶ look at a set: StatefulState ──▶ plan_stateful() ──▶ calls
//
// A roster is kept up to date pod by pod, so a look costs what has changed, not what there is.
class StatefulSetController final : public WritingController {
 public:
  explicit StatefulSetController(client::ComponentContext context);

 private:
  // What decides who owns the volume claims of pods.
  struct ClaimScope {
    std::int32_t replicas = 0;
    std::int32_t first_ordinal = 0;
    bool go_with_set = false;
    friend bool operator==(const ClaimScope&, const ClaimScope&) = default;
  };
  // What is remembered of a set between looks; everything else is in the API.
  struct Memory {
    std::string uid;
    std::int64_t generation = -1;  // of which the template below is
    api::Json data;                // of the revision of the set's template
    std::string data_text;
    std::int32_t collisions = 0;
    bool claims_pods = true;             // pods may have to be adopted or released
    bool owns_claims = true;             // owners of volume claims may have to change,
    ClaimScope claim_scope = {};         // as they do if this does
    std::set<std::int32_t> lost_claims;  // ordinals of which a volume claim has gone
  };
  struct Look {
    const std::string& key;
    const api::ObjectPtr& set;
    const api::StatefulSetView& view;
    Memory& memory;
    Roster& roster;
    Time now;
  };

  static std::vector<Watch> watches(StatefulSetController& self);
  Keys on_pod(const Change& change);
  Keys on_revision(const Change& change);
  Keys on_volume_claim(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  // Adopts and releases pods and revisions. True if calls were made.
  bool claim(const Look& look);
  // Makes the template's revision the newest and returns it. Null while that is under way.
  api::ObjectPtr update_revision(const Look& look);
  void carry_out(const Look& look, const StatefulPlan& plan, const std::string& current,
                 const std::string& update);
  void create(const Look& look, const std::vector<std::int32_t>& ordinals,
              const std::string& current, const std::string& update);
  void create_volume_claims(const Look& look, const std::vector<std::int32_t>& ordinals);
  // True if it is a failure that others of its kind would share.
  bool on_created(const api::Object& set, const std::string& pod, const client::Outcome& outcome,
                  Time now);
  void remove(const Look& look, const StatefulPlan::Removal& removal);
  // Whether the pod's volume claims can be used; makes those that are missing.
  bool has_volume_claims(const Look& look, std::int32_t ordinal);
  void create_volume_claim(const Look& look, const std::string& claim_template,
                           std::int32_t ordinal);
  // True if owners of the claims of this ordinal have to change first.
  bool hand_over_claims(const Look& look, std::int32_t ordinal, ClaimOwner owner);
  void look_after_claims(const Look& look);
  void trim_history(const Look& look, const std::string& current, const std::string& update);

  client::Mirror sets_;
  client::Mirror pods_;
  client::Mirror revisions_;
  client::Mirror volume_claims_;
  std::map<std::string, Roster, std::less<>> rosters_;  // by uid of the set; of those with pods
  std::map<std::string, Memory, std::less<>> memory_;   // by key; of sets that exist
};

}  // namespace muster::controllers
