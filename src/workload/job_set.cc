#include "workload/job_set.h"

#include "api/reading.h"

namespace muster::workload {
namespace {

using api::Json;

std::string_view annotation(const Json& holder, std::string_view key) {
  const Json& annotations = api::part_of(api::part_of(holder, "metadata"), "annotations");
  return api::find_string(annotations, key);
}

}  // namespace

std::string exclusive_topology(const Json& set, const Json& job_template) {
  const std::string_view own = annotation(job_template, kExclusiveTopologyAnnotation);
  return std::string(own.empty() ? annotation(set, kExclusiveTopologyAnnotation) : own);
}

}  // namespace muster::workload
