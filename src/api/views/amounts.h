#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/values/quantity.h"

namespace muster::api {

// Quantities by resource name, sorted by name, each name once.
using Quantities = std::vector<std::pair<std::string, Quantity>>;

// Reads a map of quantities; what does not parse counts as 0, since validation has refused it
// before.
Quantities read_quantities(const JsonObject* map);

// Per resource: the sum, and the greater of two. A resource that only one side names is taken as it
// is.
void add_to(Quantities& sum, const Quantities& more);
void raise_to(Quantities& most, const Quantities& other);
// The entry of `name`, made as 0 if missing; null if missing.
Quantity& entry(Quantities& quantities, std::string_view name);
const Quantity* lookup(const Quantities& quantities, std::string_view name);

// Amounts of resources as the scheduler counts them: cpu in thousandths, everything else in whole
// units, both rounded up. Scalars (extended resources, huge pages, attachable volumes) are sorted
// by name; names the scheduler does not track are left out.
struct Amounts {
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  std::vector<std::pair<std::string, std::int64_t>> scalars;

  static Amounts of(const Quantities& quantities);
  // The amount of a tracked resource by its API name; 0 if absent.
  std::int64_t of(std::string_view resource) const;
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

// Whether the scheduler tracks a resource of this name as a scalar.
bool is_scalar_resource(std::string_view name);

}  // namespace muster::api
