#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/pod_view.h"
#include "base/count_of.h"
#include "explain/explanation.h"

// How explanations say things.
namespace muster::explain {

// "rack" of "topology.kubernetes.io/rack".
std::string_view word_of(std::string_view topology_key);
// What a domain of the group is called: the word of its topology key, or "placement".
std::string_view domain_word(const Level& level);
// For messages of others, to be used inside a sentence.
std::string_view without_full_stop(std::string_view message);
// "cpu 4, nvidia.com/gpu 8"; "nothing" if a pod has no requests.
std::string asks_for(const api::PodNeeds& needs);

// How many columns a terminal needs for UTF-8 text without wide letters; and the text with blanks
// up to that many.
std::size_t width_of(std::string_view text);
std::string padded(std::string text, std::size_t width);

// The text with lines of at most `width` columns, broken between words; later lines are indented
// like the first. Commands to copy and rows of trees stay as they are; 0: all does.
std::string wrapped(std::string_view text, std::size_t width);

// The lines that draw a tree, by the depth of each of its nodes, parents before children: "│  ├─ ".
std::vector<std::string> branches(std::span<const std::size_t> depths);

// The order of names in which numbers count as such: "a-2" comes before "a-10".
bool counts_before(std::string_view a, std::string_view b);

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
