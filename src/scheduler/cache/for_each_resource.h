#pragma once

#include <string_view>

#include "api/views/pod_view.h"

namespace muster::scheduler {

// Visits every resource an amount names: visit(name, value), zeros of scalars included.
template <typename Visit>
void for_each_resource(const api::Amounts& amounts, Visit&& visit) {
  visit("cpu", amounts.cpu_milli);
  visit("memory", amounts.memory);
  visit("ephemeral-storage", amounts.ephemeral_storage);
  for (const auto& [name, amount] : amounts.scalars) visit(std::string_view(name), amount);
}

}  // namespace muster::scheduler
