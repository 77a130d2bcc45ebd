#include "server/core/write/eviction.h"

#include <utility>

#include "server/core/request/errors.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/pod_condition.h"
#include "server/core/write/deletion.h"
#include "server/core/write/disruption_budget.h"

namespace muster::server {
namespace {

std::optional<std::string> text_at(const Json& options, std::string_view member) {
  const Json* preconditions = api::find(options, "preconditions");
  if (preconditions == nullptr) return std::nullopt;
  const std::string_view text = api::find_string(*preconditions, member);
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

api::DeleteOptions read_options(const Json& eviction) {
  api::DeleteOptions out;
  const Json* options = api::find(eviction, "deleteOptions");
  if (options == nullptr) return out;
  if (const Json* grace = api::find(*options, "gracePeriodSeconds"); grace && grace->is_int64())
    out.grace_period_s = grace->get_int64();
  out.propagation_policy = api::find_string(*options, "propagationPolicy");
  out.preconditions = {.uid = text_at(*options, "uid"),
                       .resource_version = text_at(*options, "resourceVersion")};
  return out;
}

}  // namespace

Result<Decision> decide_eviction(Context& context, api::Request& request) {
  if (const auto name = meta_text(request.body, "name"); !name.empty() && name != request.name)
    return fail(Reason::BadRequest, "name in URL does not match name in Eviction object");
  request.dry_run |= !text_list(request.body, "deleteOptions.dryRun").empty();
  const api::ObjectPtr pod =
      context.staging.get(store::make_key(*request.kind, request.name_space, request.name));
  if (!pod) return fail(not_found(*request.kind, request.name));
  const auto mark = [&](Json& document) {
    set_pod_condition(document,
                      {.type = "DisruptionTarget",
                       .status = "True",
                       .reason = "EvictionByEvictionAPI",
                       .message = "Eviction API: evicting"},
                      context.now);
  };
  BudgetVerdict budget = TRY(spend_budget(context, *pod));
  Decision decision = TRY(decide_removal(context, pod, read_options(request.body), mark));
  if (budget.spent)
    decision.transaction.writes.push_back(
        {.key = store::make_key(budget.before->kind(), budget.before->meta().name_space,
                                budget.before->meta().name),
         .object = std::move(budget.spent),
         .expected = budget.before->revision()});
  decision.answer.what =
      api::StatusAnswer{.code = 201, .name = {}, .group = {}, .kind = {}, .uid = {}};
  return decision;
}

}  // namespace muster::server
