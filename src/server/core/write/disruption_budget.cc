#include "server/core/write/disruption_budget.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "api/views/budget_view.h"
#include "base/check.h"
#include "server/core/request/errors.h"
#include "server/core/request/selection.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/pod_condition.h"

namespace muster::server {
namespace {

// With more than these, nobody confirms evictions any more.
constexpr std::size_t kUnconfirmedMax = 2000;
constexpr int kUnobservedRetrySeconds = 10;

const api::Kind& budgets() {
  static const api::Kind* const kKind = api::find_kind("policy", "PodDisruptionBudget");
  CHECK(kKind != nullptr);
  return *kKind;
}

std::int64_t number_at(const Json& document, std::string_view path) {
  const Json* found = api::find_path(document, path);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

// Pods that no budget counts: they have ended, are about to, or never began.
bool is_beyond_budgets(const api::Object& pod) {
  const std::string phase = scalar_at(pod.bytes(), "status.phase");
  return pod.meta().deletion_time || phase == "Succeeded" || phase == "Failed" ||
         phase == "Pending";
}

bool is_ready(const api::Object& pod) {
  const Json document = pod.document();
  const Json* conditions = api::find_path(document, "status.conditions");
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& condition : conditions->get_array())
    if (api::find_string(condition, "type") == "Ready")
      return api::find_string(condition, "status") == "True";
  return false;
}

std::vector<api::ObjectPtr> budgets_of(Context& context, const api::Object& pod) {
  std::vector<api::ObjectPtr> out;
  for (const api::ObjectPtr& budget :
       context.staging.list(budgets().store_prefix + "/" + pod.meta().name_space + "/"))
    if (budget->view<api::BudgetView>().selects(pod.meta().labels)) out.push_back(budget);
  return out;
}

// A pod that does not serve anyway may go if its budget says so, or if enough others do.
bool may_go_unhealthy(const Json& budget, const api::Object& pod) {
  if (is_ready(pod)) return false;
  const Json* spec = api::find(budget, "spec");
  if (spec != nullptr && api::find_string(*spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow")
    return true;
  const std::int64_t desired = number_at(budget, "status.desiredHealthy");
  return desired > 0 && number_at(budget, "status.currentHealthy") >= desired;
}

Error too_many(std::string cause, int retry_after_s) {
  Error error = make_error(Reason::TooManyRequests,
                           "Cannot evict pod as it would violate the pod's disruption budget.");
  error.retry_after_s = retry_after_s;
  error.causes.push_back({.type = "DisruptionBudget", .field = {}, .message = std::move(cause)});
  return error;
}

// The budget must be up to date and have something left.
Result<void> check_budget(const api::Object& object, const Json& budget) {
  const std::string& name = object.meta().name;
  if (number_at(budget, "status.observedGeneration") < object.meta().generation)
    return fail(too_many(
        fmt::format("The disruption budget {} is still being processed by the server.", name),
        kUnobservedRetrySeconds));
  const std::int64_t allowed = number_at(budget, "status.disruptionsAllowed");
  if (allowed < 0) return fail(forbidden(budgets(), name, "pdb disruptions allowed is negative"));
  const Json* disrupted = api::find_path(budget, "status.disruptedPods");
  if (disrupted != nullptr && disrupted->is_object() &&
      disrupted->get_object().size() > kUnconfirmedMax)
    return fail(forbidden(budgets(), name,
                          "DisruptedPods map too big - too many evictions not confirmed by PDB "
                          "controller"));
  if (allowed == 0)
    return fail(
        too_many(fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                             name, number_at(budget, "status.desiredHealthy"),
                             number_at(budget, "status.currentHealthy")),
                 0));
  return {};
}

}  // namespace

Result<BudgetVerdict> spend_budget(Context& context, const api::Object& pod) {
  if (is_beyond_budgets(pod)) return BudgetVerdict{};
  const std::vector<api::ObjectPtr> found = budgets_of(context, pod);
  if (found.empty()) return BudgetVerdict{};
  if (found.size() > 1)
    return fail(Reason::InternalError,
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support.");
  const api::ObjectPtr& object = found.front();
  Json budget = object->document();
  if (may_go_unhealthy(budget, pod)) return BudgetVerdict{};
  TRY(check_budget(*object, budget));
  JsonObject& status = api::ensure_object(budget.get_object(), "status");
  status["disruptionsAllowed"] = number_at(budget, "status.disruptionsAllowed") - 1;
  api::ensure_object(status, "disruptedPods")[pod.meta().name] = format_time(context.now);
  return BudgetVerdict{.spent = api::Object::make(object->kind(), budget), .before = object};
}

}  // namespace muster::server
