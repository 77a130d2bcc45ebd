#pragma once

#include <string_view>

// Sentences of our own about fields, for `kubectl explain`, where the tables have none. A line is
//
//   parallelism -- A sentence for all fields of this name that have none of their own.
//   JobSpec.parallelism -- A sentence for the field of this message.
//
// Fields with the same name in many messages mean the same and are described once.
namespace muster::api::schema {

extern const std::string_view kCommonDescriptions;
extern const std::string_view kWorkloadDescriptions;
extern const std::string_view kPodDescriptions;
extern const std::string_view kStorageDescriptions;

}  // namespace muster::api::schema
