#include "api/views/amounts.h"

#include <algorithm>
#include <iterator>

#include "api/views/amount_max.h"

namespace muster::api {
namespace {

auto position(auto& quantities, std::string_view name) {
  return std::lower_bound(
      quantities.begin(), quantities.end(), name,
      [](const auto& pair, std::string_view wanted) { return pair.first < wanted; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

Quantity read_quantity(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_string();
    return Quantity::parse(trimmed({text.data(), text.size()})).value_or(Quantity{});
  }
  if (value.is_int64()) return Quantity::of_units(value.get_int64());
  return Quantity::parse(to_text(value)).value_or(Quantity{});
}

// Combines each of `more` with what `all` has of it, 0 if nothing. New names are put in together:
// one by one, each would move all that come after it, and who writes a pod chooses how many.
template <typename Combine>
void combine_into(Quantities& all, const Quantities& more, Combine&& combine) {
  Quantities fresh;
  for (const auto& [name, quantity] : more) {
    const auto at = position(all, name);
    if (at != all.end() && at->first == name)
      combine(at->second, quantity);
    else
      combine(fresh.emplace_back(name, Quantity{}).second, quantity);
  }
  if (fresh.empty()) return;
  const auto known = std::ssize(all);
  all.insert(all.end(), std::make_move_iterator(fresh.begin()),
             std::make_move_iterator(fresh.end()));
  std::ranges::inplace_merge(all, all.begin() + known, {}, &Quantities::value_type::first);
}

}  // namespace

Quantities read_quantities(const JsonObject* map) {
  Quantities quantities;
  if (map == nullptr) return quantities;
  quantities.reserve(map->size());
  for (const auto& member : *map)
    quantities.emplace_back(std::string(member.key()), read_quantity(member.value()));
  std::ranges::sort(quantities, {}, &Quantities::value_type::first);
  return quantities;
}

Quantity& entry(Quantities& quantities, std::string_view name) {
  auto at = position(quantities, name);
  if (at == quantities.end() || at->first != name)
    at = quantities.emplace(at, std::string(name), Quantity{});
  return at->second;
}

const Quantity* lookup(const Quantities& quantities, std::string_view name) {
  const auto at = position(quantities, name);
  return at != quantities.end() && at->first == name ? &at->second : nullptr;
}

void add_to(Quantities& sum, const Quantities& more) {
  combine_into(sum, more, [](Quantity& all, const Quantity& one) { all += one; });
}

void raise_to(Quantities& most, const Quantities& other) {
  combine_into(most, other,
               [](Quantity& kept, const Quantity& one) { kept = std::max(kept, one); });
}

bool is_scalar_resource(std::string_view name) {
  if (name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")) return true;
  if (name.find("kubernetes.io/") != std::string_view::npos) return true;
  return name.find('/') != std::string_view::npos && !name.starts_with("requests.");
}

Amounts Amounts::of(const Quantities& quantities) {
  Amounts amounts;
  for (const auto& [name, quantity] : quantities) {
    const std::int64_t amount =
        std::min(name == "cpu" ? quantity.milli_value() : quantity.value(), kAmountMax);
    if (name == "cpu")
      amounts.cpu_milli = amount;
    else if (name == "memory")
      amounts.memory = amount;
    else if (name == "ephemeral-storage")
      amounts.ephemeral_storage = amount;
    else if (is_scalar_resource(name))
      amounts.scalars.emplace_back(name, amount);
  }
  return amounts;
}

std::int64_t Amounts::of(std::string_view resource) const {
  if (resource == "cpu") return cpu_milli;
  if (resource == "memory") return memory;
  if (resource == "ephemeral-storage") return ephemeral_storage;
  const auto at = position(scalars, resource);
  return at != scalars.end() && at->first == resource ? at->second : 0;
}

}  // namespace muster::api
