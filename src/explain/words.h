#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/views/pod_view.h"
#include "explain/explanation.h"

// How explanations say things.
namespace muster::explain {

// "rack" of "topology.kubernetes.io/rack".
std::string_view word_of(std::string_view topology_key);
// For messages of others, to stand inside a sentence.
std::string_view without_full_stop(std::string_view message);
// "1 pod", "3 pods".
std::string count_of(std::int64_t count, std::string_view noun);
// "cpu 4, nvidia.com/gpu 8"; "nothing" if a pod has no requests.
std::string asks_for(const api::PodNeeds& needs);

// How many columns a terminal needs for UTF-8 text without wide letters; and the text with blanks
// up to that many.
std::size_t width_of(std::string_view text);
std::string padded(std::string text, std::size_t width);

std::string_view kind_word(scheduler::GroupKind kind);  // "PodGroup"
// "podgroup default/train": as kubectl takes it.
std::string name_of(const scheduler::GroupKey& key);
// "minCount" or "minGroupCount".
std::string_view minimum_field(scheduler::GroupKind kind);
// "unschedulable", "behind others": after "is".
std::string_view state_word(State state);
// "Unschedulable", "BehindOthers": for programs.
std::string_view state_name(State state);
std::string_view relaxation_name(RelaxationKind kind);

}  // namespace muster::explain
