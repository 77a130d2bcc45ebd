#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "api/reading.h"
#include "api/views/pod_view.h"
#include "controllers/common/revisions.h"
#include "controllers/statefulset/stateful_set_controller.h"

// How a plan for a StatefulSet becomes calls.
namespace muster::controllers {

using api::Json;
using api::ObjectPtr;
using api::StatefulSetView;

namespace {

// Makes pods, each of its revision; a template is read when the first pod needs it.
class NewPods {
 public:
  struct From {
    ObjectPtr set;
    ObjectPtr older;  // the revision of pods that are held back; null: none are
    std::string current, update;
  };
  explicit NewPods(const From& from) : from_(from) {}

  api::Request request(std::int32_t ordinal) {
    const api::Object& set = *from_.set;
    const bool held_back =
        from_.older != nullptr && is_held_back(set.view<StatefulSetView>(), ordinal);
    auto maker = makers_.find(held_back);
    if (maker == makers_.end()) {
      const Json kept = held_back ? template_of(*from_.older)
                                  : api::part_of(api::part_of(set.document(), "spec"), "template");
      const std::string& revision = held_back ? from_.current : from_.update;
      maker = makers_.emplace(held_back, StatefulPodMaker(set, kept, revision)).first;
    }
    return client::create_request(api::kinds::pod(), set.meta().name_space,
                                  maker->second.make(ordinal));
  }

 private:
  const From& from_;
  std::map<bool, StatefulPodMaker> makers_;  // by whether their pods are held back
};

}  // namespace

void StatefulSetController::carry_out(const Look& look, const StatefulPlan& plan,
                                      const std::string& current, const std::string& update) {
  create(look, plan.create, current, update);
  for (const StatefulPlan::Removal& removal : plan.remove) remove(look, removal);
}

void StatefulSetController::create(const Look& look, const std::vector<std::int32_t>& ordinals,
                                   const std::string& current, const std::string& update) {
  if (api::lookup(look.set->meta().annotations, kPodsMadeElsewhere) != nullptr)
    return create_volume_claims(look, ordinals);
  std::vector<std::int32_t> ready;
  std::ranges::copy_if(ordinals, std::back_inserter(ready),
                       [&](std::int32_t ordinal) { return has_volume_claims(look, ordinal); });
  const ObjectPtr older =
      current == update ? nullptr : revisions_.find(look.set->meta().name_space, current);
  Writes writes{
      .count = ready.size(),
      .start_making = [from = NewPods::From{look.set, older, current, update}, ready]() -> Make {
        const auto pods = std::make_shared<NewPods>(from);
        return [&ready, pods](std::size_t index) { return pods->request(ready[index]); };
      }};
  write_in_batches(
      look.key, std::move(writes),
      [this, set = look.set, ready](std::size_t index, const client::Outcome& outcome, Time now) {
        return on_created(*set, pod_name(*set, ready[index]), outcome, now);
      });
}

// Making pods does not wait for claims.
void StatefulSetController::create_volume_claims(const Look& look,
                                                 const std::vector<std::int32_t>& ordinals) {
  if (look.view.claim_templates.empty()) return;
  for (const std::int32_t ordinal : ordinals) has_volume_claims(look, ordinal);
  for (const std::int32_t ordinal : look.roster.unavailable())
    if (const StatefulPod* pod = look.roster.find(ordinal); pod->pending && !pod->terminating)
      has_volume_claims(look, ordinal);
}

bool StatefulSetController::on_created(const api::Object& set, const std::string& pod,
                                       const client::Outcome& outcome, Time now) {
  const std::string about = fmt::format("create Pod {} in StatefulSet {}", pod, set.meta().name);
  if (outcome) {
    record(set, "Normal", "SuccessfulCreate", about + " successful", now);
    return false;
  }
  if (is_name_space_ending(outcome.error())) return false;
  record(set, "Warning", "FailedCreate",
         fmt::format("{} failed error: {}", about, outcome.error().message), now);
  return true;
}

void StatefulSetController::remove(const Look& look, const StatefulPlan::Removal& removal) {
  const StatefulPod& pod = *removal.pod;
  if (removal.why == StatefulPlan::Why::Scaled &&
      hand_over_claims(look, pod.ordinal, claim_owner(look.view, true)))
    return;  // the pod goes once its claims go with it
  const std::string& name = pod.object->meta().name;
  const api::ObjectMeta& set = look.set->meta();
  if (removal.why == StatefulPlan::Why::Ended) {
    const bool failed = pod.object->view<api::PodView>().phase == "Failed";
    record(*look.set, failed ? "Warning" : "Normal",
           failed ? "RecreatingFailedPod" : "RecreatingTerminatedPod",
           fmt::format("StatefulSet {}/{} is recreating {} Pod {}", set.name_space, set.name,
                       failed ? "failed" : "terminated", name),
           look.now);
  }
  write_call(
      look.key, client::delete_request(*pod.object, std::nullopt),
      [this, set = look.set, name](const client::Outcome& outcome, Time now) {
        if (outcome)
          record(*set, "Normal", "SuccessfulDelete",
                 fmt::format("delete Pod {} in StatefulSet {} successful", name, set->meta().name),
                 now);
        else if (outcome.error().reason != Reason::NotFound)
          record(*set, "Warning", "FailedDelete",
                 fmt::format("delete Pod {} in StatefulSet {} failed error: {}", name,
                             set->meta().name, outcome.error().message),
                 now);
      });
}

bool StatefulSetController::has_volume_claims(const Look& look, std::int32_t ordinal) {
  bool all = true;
  for (const std::string& each : look.view.claim_templates) {
    const ObjectPtr claim =
        volume_claims_.find(look.set->meta().name_space, claim_name(each, *look.set, ordinal));
    if (claim != nullptr && !claim->meta().deletion_time &&
        !is_stale_claim(*claim, *look.set, nullptr))
      continue;
    all = false;
    // One that is going must have gone; its end brings us back.
    if (claim == nullptr) create_volume_claim(look, each, ordinal);
  }
  return all;
}

void StatefulSetController::create_volume_claim(const Look& look, const std::string& claim_template,
                                                std::int32_t ordinal) {
  const std::string about = fmt::format("create Claim {} Pod {} in StatefulSet {}",
                                        claim_name(claim_template, *look.set, ordinal),
                                        pod_name(*look.set, ordinal), look.set->meta().name);
  write_later(
      look.key,
      [set = look.set, claim_template, ordinal] {
        return create_claim_request(*set, claim_template, ordinal);
      },
      [this, set = look.set, about](const client::Outcome& outcome, Time now) {
        if (outcome)
          record(*set, "Normal", "SuccessfulCreate", about + " success", now);
        else
          record(*set, "Warning", "FailedCreate",
                 fmt::format("{} failed error: {}", about, outcome.error().message), now);
      });
}

bool StatefulSetController::hand_over_claims(const Look& look, std::int32_t ordinal,
                                             ClaimOwner owner) {
  bool changed = false;
  const StatefulPod* pod = look.roster.find(ordinal);
  for (const std::string& each : look.view.claim_templates) {
    const ObjectPtr claim =
        volume_claims_.find(look.set->meta().name_space, claim_name(each, *look.set, ordinal));
    if (claim == nullptr || claim->meta().deletion_time) continue;
    const api::Object* holder = pod == nullptr ? nullptr : pod->object.get();
    if (auto request = claim_owner_request(*claim, *look.set, holder, owner)) {
      write_call(look.key, *std::move(request));
      changed = true;
    }
  }
  return changed;
}

void StatefulSetController::look_after_claims(const Look& look) {
  Memory& memory = look.memory;
  if (look.view.claim_templates.empty()) return;
  // A pod that waits for a claim that somebody deleted would wait forever.
  for (const std::int32_t ordinal : std::exchange(memory.lost_claims, {}))
    if (const StatefulPod* pod = look.roster.find(ordinal);
        pod != nullptr && pod->pending && !pod->terminating)
      has_volume_claims(look, ordinal);
  if (!std::exchange(memory.owns_claims, false)) return;
  for (const auto& [ordinal, pod] : look.roster.pods())
    if (look.roster.is_inside(ordinal) &&
        hand_over_claims(look, ordinal, claim_owner(look.view, false)))
      memory.owns_claims = true;
}

}  // namespace muster::controllers
