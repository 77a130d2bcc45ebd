#include "api/views/amounts.h"

#include <algorithm>

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

}  // namespace

Quantities read_quantities(const JsonObject* map) {
  Quantities quantities;
  if (map == nullptr) return quantities;
  quantities.reserve(map->size());
  for (const auto& member : *map)
    entry(quantities, {member.key().data(), member.key().size()}) = read_quantity(member.value());
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
  for (const auto& [name, quantity] : more) entry(sum, name) += quantity;
}

void raise_to(Quantities& most, const Quantities& other) {
  for (const auto& [name, quantity] : other) {
    Quantity& kept = entry(most, name);
    if (kept < quantity) kept = quantity;
  }
}

bool is_scalar_resource(std::string_view name) {
  if (name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")) return true;
  if (name.find("kubernetes.io/") != std::string_view::npos) return true;
  return name.find('/') != std::string_view::npos && !name.starts_with("requests.");
}

Amounts Amounts::of(const Quantities& quantities) {
  Amounts amounts;
  for (const auto& [name, quantity] : quantities) {
    if (name == "cpu")
      amounts.cpu_milli = quantity.milli_value();
    else if (name == "memory")
      amounts.memory = quantity.value();
    else if (name == "ephemeral-storage")
      amounts.ephemeral_storage = quantity.value();
    else if (is_scalar_resource(name))
      amounts.scalars.emplace_back(name, quantity.value());
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
