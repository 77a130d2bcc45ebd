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
  bool is_first = true;  // no target before this one has the same description

  const api::schema::Field& field() const { return *path.back(); }
  std::string text() const;  // "Pod spec.containers.env"
};

// Every list and map of every kind, or each description of one only once: a pod's containers stand
// in ten kinds.
std::vector<Target> targets(bool of_every_kind);
// Those of one kind, each description once.
std::vector<Target> targets_of(const api::Kind& kind);
// One of each form that a parser can tell from others: list or map, what its entries are like, how
// deep it stands.
std::vector<Target> one_of_each_form();

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
// Those that a document can still be in once it is decoded: it has neither nulls nor unknown
// members then.
inline constexpr Order kDecodedOrders[] = {Order::Rising, Order::Falling, Order::Equal,
                                           Order::Empty, Order::LongFirst};
std::string_view order_name(Order order);

// The value of the target's list or map, with `count` entries.
api::Json entries(const Target& target, std::size_t count, Order order);

// A document that holds the value at the target's place and is else as small as can be.
api::Json document_with(const Target& target, api::Json value);
// Two of them in one document. One may stand in the entries of the other: it is in the first entry
// then.
api::Json document_with(const Target& one, api::Json value, const Target& other,
                        api::Json other_value);
// A patch that sets these members where the target stands.
api::Json patch_with(const Target& target, api::JsonObject members);

// The JSON text of a document; a member kManyTimes stands for `count` members of one name.
inline constexpr std::string_view kManyTimes = "@many@";
std::string text_of(const api::Json& document, std::size_t count);

}  // namespace muster::cost
