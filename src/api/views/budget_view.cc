#include "api/views/budget_view.h"

#include <algorithm>

#include "api/selectors.h"

namespace muster::api {

std::unique_ptr<BudgetView> BudgetView::read(const Object& budget) {
  auto view = std::make_unique<BudgetView>();
  const Json document = budget.document();
  if (auto selector = read_label_selector(find_path(document, "spec.selector")))
    view->selector = *std::move(selector);
  if (const Json* status = find(document, "status")) {
    if (const Json* allowed = find(*status, "disruptionsAllowed");
        allowed != nullptr && allowed->is_int64())
      view->disruptions_allowed = allowed->as_int64();
    if (const Json* disrupted = find(*status, "disruptedPods");
        disrupted != nullptr && disrupted->is_object())
      for (const auto& [name, since] : disrupted->as_object()) view->disrupted.emplace_back(name);
  }
  std::ranges::sort(view->disrupted);
  return view;
}

bool BudgetView::selects(const StringPairs& labels) const {
  return selector && !selector->selects_nothing() && selector->matches(labels);
}

}  // namespace muster::api
