#pragma once

#include <cstddef>
#include <cstdint>

#include "api/json.h"
#include "api/schema/schema.h"
#include "base/entropy.h"

namespace muster::api::schema {

struct SampleOptions {
  std::size_t depth_max = 5;      // messages below this depth stay empty
  std::size_t nodes_max = 5'000;  // once there are this many values, only required members follow
  std::uint64_t presence_percent = 70;  // how likely a member is there
  std::size_t items_max = 2;            // of lists and maps
};

// A random document of the message, made to find members that get lost on the way: every member may
// occur, every value is one that decode() accepts, in canonical form or not. Same entropy, same
// document.
Json sample(const Message& message, Entropy& entropy, const SampleOptions& options = {});

}  // namespace muster::api::schema
