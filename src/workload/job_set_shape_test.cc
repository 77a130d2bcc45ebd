#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "workload/job_set.h"
#include "workload/workload_testing.h"

namespace muster::workload {
namespace {

// Of three Jobs of four workers that are scheduled as this says.
std::string shape_of(std::string_view scheduling, std::string_view annotations = "{}") {
  const api::Json set = yaml(fmt::format(R"(
metadata: {{name: js, namespace: ml, uid: u, annotations: {}}}
spec:
  scheduling: {}
  replicatedJobs:
  - {{name: workers, replicas: 3, template: {{spec: {{parallelism: 4, completions: 4}}}}}}
)",
                                         annotations, scheduling));
  const JobOptions options;
  return JobSetMapping(set, options).shape();
}

// A Workload that was made for another shape is made again, so each must tell.
TEST(JobSetShape, IsDifferentForWhateverElseIsAskedFor) {
  std::set<std::string> shapes;
  for (const std::string_view scheduling : {
           "{schedulingPolicy: {gang: {}}}",
           "{schedulingPolicy: {basic: {}}}",
           "{schedulingPolicy: {gang: {}}, schedulingConstraints: {topology: [{key: rack}]}}",
           "{schedulingPolicy: {gang: {}}, schedulingConstraints: {topology: [{key: zone}]}}",
           "{schedulingPolicy: {gang: {}}, disruptionMode: {all: {}}}",
           "{schedulingPolicy: {gang: {}}, disruptionMode: {single: {}}}",
           "{schedulingPolicy: {gang: {}}, resourceClaims: [{name: c, resourceClaimName: x}]}",
           "{schedulingPolicy: {gang: {}}, resourceClaims: [{name: c, resourceClaimName: y}]}",
           "{schedulingPolicy: {gang: {}}, resourceClaims: [{name: d, resourceClaimName: x}]}",
           "{schedulingPolicy: {gang: {minGroupCount: 1}}}",
           "{schedulingPolicy: {gang: {minGroupCount: 2}}}",
       })
    EXPECT_TRUE(shapes.insert(shape_of(scheduling)).second) << scheduling;
  const std::string of_template =
      "{schedulingPolicy: {gang: {}}, resourceClaims: [{name: c, resourceClaimTemplateName: "
      "x}]}";
  EXPECT_TRUE(shapes.insert(shape_of(of_template)).second);
  EXPECT_TRUE(shapes
                  .insert(shape_of("{schedulingPolicy: {gang: {}}}",
                                   "{scheduling.muster.dev/group-management: delegated}"))
                  .second);
  EXPECT_TRUE(shapes.contains(shape_of("{schedulingPolicy: {gang: {minCount: 5}}}")))
      << "a minimum of pods follows their number";
}

}  // namespace
}  // namespace muster::workload
