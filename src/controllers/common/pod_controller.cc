#include "controllers/common/pod_controller.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {

void PodController::create_pods(PodBatch batch) {
  if (batch.pods.empty()) return;
  send_batch(std::make_shared<Progress>(Progress{.batch = std::move(batch)}));
}

void PodController::send_batch(const ProgressPtr& progress) {
  PodBatch& batch = progress->batch;
  const std::size_t end = std::min(batch.pods.size(), progress->next + progress->size);
  progress->under_way = end - progress->next;
  // Outcomes may arrive before the last call is made.
  for (std::size_t at = std::exchange(progress->next, end); at < end; ++at)
    write_call(batch.key,
               client::create_request(api::kinds::pod(), batch.owner->meta().name_space,
                                      std::move(batch.pods[at])),
               [this, progress](const client::Outcome& outcome, Time now) {
                 on_created(progress, outcome, now);
               });
}

void PodController::on_created(const ProgressPtr& progress, const client::Outcome& outcome,
                               Time now) {
  PodBatch& batch = progress->batch;
  if (batch.on_each) batch.on_each(outcome, now);
  if (outcome) {
    if (const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what))
      record(*batch.owner,
             {"Normal", "SuccessfulCreate", "Reconciling",
              "Created pod: " + answer->object->meta().name},
             now);
  } else if (!is_name_space_ending(outcome.error())) {
    progress->failed = true;
    record(*batch.owner,
           {"Warning", "FailedCreate", "Reconciling", "Error creating: " + outcome.error().message},
           now);
  }
  if (--progress->under_way > 0) return;
  if (progress->failed) return retry_once(batch.key, now);
  if (progress->next == batch.pods.size()) return;
  progress->size = batch.whole ? batch.pods.size() : progress->size * 2;
  send_batch(progress);
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
