#include "api/views/budget_view.h"

#include "api/selectors.h"

namespace muster::api {

std::unique_ptr<BudgetView> BudgetView::read(const Object& budget) {
  auto view = std::make_unique<BudgetView>();
  const Json document = budget.document();
  if (auto selector = read_label_selector(find_path(document, "spec.selector")))
    view->selector = *std::move(selector);
  return view;
}

bool BudgetView::selects(const StringPairs& labels) const {
  return selector && !selector->selects_nothing() && selector->matches(labels);
}

}  // namespace muster::api
