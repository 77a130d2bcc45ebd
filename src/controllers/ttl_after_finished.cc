#include "controllers/ttl_after_finished.h"

#include <chrono>
#include <optional>
#include <utility>

#include "api/views/job_view.h"
#include "base/check.h"

namespace muster::controllers {
namespace {

const api::Kind& job_kind() {
  static const api::Kind* const kKind = api::find_kind("batch", "Job");
  CHECK(kKind != nullptr);
  return *kKind;
}

// When the Job is to go; nullopt if it says nothing, runs, or is going already.
std::optional<Time> end_of_life(const api::Object& job) {
  const auto& view = job.view<api::JobView>();
  if (!view.ttl_s || job.meta().deletion_time) return std::nullopt;
  for (const api::JobCondition& condition : view.status.conditions)
    if (condition.status == "True" &&
        (condition.type == "Complete" || condition.type == "Failed") && condition.last_transition)
      return *condition.last_transition + std::chrono::seconds{*view.ttl_s};
  return std::nullopt;
}

}  // namespace

TtlAfterFinished::TtlAfterFinished(client::ComponentContext context)
    : Controller("ttl-after-finished", std::move(context),
                 {{.kind = &job_kind(), .mirror = &jobs_, .keys_of = on_job}}) {}

// Jobs that go nowhere cost nothing but their place in the mirror.
TtlAfterFinished::Keys TtlAfterFinished::on_job(const Change& change) {
  if (change.after == nullptr || !end_of_life(*change.after)) return {};
  return own_key(change);
}

void TtlAfterFinished::reconcile(const std::string& key, Time now) {
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr job = jobs_.find(name_space, name);
  if (job == nullptr) return;
  const std::optional<Time> end = end_of_life(*job);
  if (!end) return;
  if (now < *end) return work().add_at(*end, key);
  api::Request request = client::delete_request(*job, std::nullopt);
  // Its name is free again only when its pods are gone.
  request.remove.propagation_policy = "Foreground";
  call(key, std::move(request));
}

}  // namespace muster::controllers
