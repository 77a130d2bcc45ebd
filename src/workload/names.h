#pragma once

#include <string>
#include <string_view>

// Names of the objects a controller makes for a workload: the same from the same input, so that a
// second attempt finds what the first one made.
namespace muster::workload {

// A short hash of a text: FNV-1a with 32 bits, in letters that spell no words.
std::string short_hash(std::string_view text);

// <owner>-<hash of uid>, at most 253 characters; the owner's name is cut if need be.
std::string workload_name(std::string_view owner, std::string_view owner_uid);

// <owner>-pgt-0. A name that would not be a DNS label is shortened and its hash appended.
std::string template_name(std::string_view owner);

// <workload>-<template>-<hash of both>, at most 253 characters; the longer of the two is cut first.
std::string group_name(std::string_view workload, std::string_view template_name);

// The same for a template with several groups: one for each owner.
std::string group_name(std::string_view workload, std::string_view template_name,
                       std::string_view owner_uid);

}  // namespace muster::workload
