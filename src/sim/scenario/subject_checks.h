#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/scenario/line.h"
#include "sim/scenario/stage.h"

// Expectations about somebody of the cast: "placed in rack a2", "waits: …", "condition Scheduled".
namespace muster::sim {

// What is true instead; nullopt if it is as expected.
using Unmet = std::optional<std::string>;
using Check = std::function<Unmet(const Stage& stage, const Cast::Subject& subject)>;

// Reads the words after the name of the one it is about.
Result<Check> read_predicate(const Line& line, Words words);
// Gone: neither pods nor, if it is a group, the object.
Unmet check_gone(const Stage& stage, const Cast::Subject& subject);

// "3", "at most 3", "at least 3".
struct Bound {
  enum class Kind : std::uint8_t { Exactly, AtMost, AtLeast } kind = Kind::Exactly;
  std::uint64_t number = 0;

  bool holds(std::uint64_t seen) const {
    return kind == Kind::Exactly  ? seen == number
           : kind == Kind::AtMost ? seen <= number
                                  : seen >= number;
  }
};
Result<Bound> read_bound(Words& words);

}  // namespace muster::sim
