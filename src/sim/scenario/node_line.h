#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster_shape.h"
#include "sim/scenario/line.h"

namespace muster::sim {

// The label key behind a word for a level of the topology: zone, block, rack, host. Any other word
// is a label key itself.
std::string label_key(std::string_view word);
// The word for a label key, or the key if there is none.
std::string level_word(std::string_view key);
// The resource behind a word: gpu is nvidia.com/gpu. Empty if it names none.
std::string resource_name(std::string_view word);

// "a1-[1..4]" is a1-1, a1-2, a1-3, a1-4.
Result<std::vector<std::string>> expand_range(const Line& line, std::string_view pattern);

// "zone a  rack a1  nodes a1-[1..4]  gpu=8  taint=spot:NoSchedule  label=disk=ssd  cordoned".
Result<void> read_nodes(const Line& line, Words words, ClusterShape& shape);

// "dedicated=infra:NoSchedule" as a taint of a Node's spec.
Result<api::Json> read_taint(const Line& line, std::string_view text);

}  // namespace muster::sim
