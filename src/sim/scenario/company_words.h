#pragma once

#include <string_view>

#include "api/json.h"
#include "sim/scenario/line.h"

namespace muster::sim {

inline constexpr std::string_view kCompanyWords =
    "label=KEY=VALUE, near=KEY=VALUE@LEVEL, away-from=…, prefers-near=…, prefers-away-from=…, "
    "spread=KEY=VALUE@LEVEL:SKEW, spread-softly=…";

// The labels of pods, and what they want of others with certain labels.
struct Company {
  api::JsonObject labels = {};
  api::JsonObject affinity = {};  // podAffinity and podAntiAffinity
  api::JsonArray spread = {};
};

// One word about company; false if it is another word. The other pods are selected by one label,
// e.g. `away-from=app=web@zone`.
Result<bool> read_company_word(const Line& line, std::string_view word, Company& company);

}  // namespace muster::sim
