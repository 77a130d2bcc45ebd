#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/schema/schema.h"

// Documents with one large list or map, for each there is in the API.
namespace muster::cost {

// A list or map and where it stands in the documents of a kind.
struct Target {
  const api::Kind* kind = nullptr;
  std::vector<const api::schema::Field*> path;  // from the root; the last one is the list or map

  const api::schema::Field& field() const { return *path.back(); }
  std::string text() const;  // "Pod spec.containers.env"
};

// Every list and map of every kind, or each description of one only once: a pod's containers stand
// in ten kinds.
std::vector<Target> targets(bool of_every_kind);

// What the entries are like, and in which order they come.
enum class Order : std::uint8_t {
  Rising,    // distinct keys
  Falling,   // the same, from the last to the first
  Equal,     // one key for all; of a map, a member that stands many times
  Empty,     // items that say nothing
  Null,      // nothing but nulls
  Unknown,   // members that no schema knows
  LongFirst  // one key as long as all the others together
};
inline constexpr Order kOrders[] = {Order::Rising, Order::Falling, Order::Equal,    Order::Empty,
                                    Order::Null,   Order::Unknown, Order::LongFirst};
std::string_view order_name(Order order);

// The value of the target's list or map, with `count` entries.
api::Json entries(const Target& target, std::size_t count, Order order);

// A document that holds the value at the target's place and is else as small as can be.
api::Json document_with(const Target& target, api::Json value);
// A patch that sets these members where the target stands.
api::Json patch_with(const Target& target, api::JsonObject members);

// The JSON text of a document; a member kManyTimes stands for `count` members of one name.
inline constexpr std::string_view kManyTimes = "@many@";
std::string text_of(const api::Json& document, std::size_t count);

}  // namespace muster::cost
