#include "controllers/common/pod_controller.h"

#include <ranges>
#include <utility>

namespace muster::controllers {

namespace {

// How many pods are adopted, and how many released, in one look.
constexpr std::size_t kClaimedMax = 500;

}  // namespace

bool PodController::adopt_and_release(const std::string& key, const api::Object& owner,
                                      const Claim& claim) {
  for (const api::ObjectPtr& pod : claim.adopt | std::views::take(kClaimedMax))
    write_call(key, adopt_request(*pod, owner));
  for (const api::ObjectPtr& pod : claim.release | std::views::take(kClaimedMax))
    write_call(key, release_request(*pod, owner));
  return !claim.adopt.empty() || !claim.release.empty();
}

void PodController::create_pods(PodBatch batch) {
  Writes writes{
      .count = batch.count,
      .start_making = [owner = batch.owner, start = std::move(batch.start_making)]() -> Make {
        return [&owner, make = start()](std::size_t index) {
          return client::create_request(api::kinds::pod(), owner->meta().name_space, make(index));
        };
      },
      .all_after_first = batch.whole};
  write_in_batches(batch.key, std::move(writes),
                   [this, owner = batch.owner, on_each = std::move(batch.on_each)](
                       std::size_t, const client::Outcome& outcome, Time now) {
                     if (on_each) on_each(outcome, now);
                     if (outcome) {
                       if (const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what))
                         record(*owner,
                                {"Normal", "SuccessfulCreate", "Reconciling",
                                 "Created pod: " + answer->object->meta().name},
                                now);
                       return false;
                     }
                     if (is_name_space_ending(outcome.error())) return false;
                     record(*owner,
                            {"Warning", "FailedCreate", "Reconciling",
                             "Error creating: " + outcome.error().message},
                            now);
                     return true;
                   });
}

void PodController::delete_pod(const std::string& key, const api::ObjectPtr& owner,
                               const api::ObjectPtr& pod, Also also) {
  write_call(
      key, client::delete_request(*pod, std::nullopt),
      [this, owner, pod, also = std::move(also)](const client::Outcome& outcome, Time now) {
        if (outcome)
          record(*owner,
                 {"Normal", "SuccessfulDelete", "Reconciling", "Deleted pod: " + pod->meta().name},
                 now);
        else if (outcome.error().reason != Reason::NotFound)
          record(*owner,
                 {"Warning", "FailedDelete", "Reconciling",
                  "Error deleting: " + outcome.error().message},
                 now);
        if (also) also(outcome, now);
      });
}

}  // namespace muster::controllers
