#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "workload/builder.h"
#include "workload/names.h"
#include "workload/stamper.h"

// The example of docs/controller-guide.md, compiled and run by guide_test.cc. The text between the
// marks is quoted there word for word.
namespace muster::workload::guide {

// NOLINTBEGIN(misc-definitions-in-headers): the test alone includes it
// guide: begin
// A TrainingRun has a trainer (one pod) and a number of workers, and its own API for scheduling.
Item training_run(const api::Json& run) {
  const api::Json& spec = api::part_of(run, "spec");
  const api::Json& scheduling = api::part_of(spec, "scheduling");

  Item trainer{
      .name = "trainer", .defaults = {.policy = Gang{}}, .callbacks = {default_minimum(1)}};
  Item workers{
      .name = "workers",
      .defaults = {.policy = Gang{}},
      .user = map_pod_group_config(pod_group_blocks(api::part_of(spec, "workerScheduling"))),
      .callbacks = {default_minimum(api::find_integer(spec, "workers").value_or(1))},
      .path = "spec.workerScheduling"};
  return {.name = "run",
          .defaults = {.policy = Gang{}, .disruption = Disruption::All},
          .user = map_composite_group_config(composite_group_blocks(scheduling)),
          .callbacks = {default_minimum(2)},
          .children = {std::move(trainer), std::move(workers)},
          .path = "spec.scheduling"};
}

Owner owner_of(const api::Json& run) {
  const api::Json& metadata = api::part_of(run, "metadata");
  return {.api_version = "example.dev/v1",
          .kind = "TrainingRun",
          .name = std::string(api::find_string(metadata, "name")),
          .uid = std::string(api::find_string(metadata, "uid"))};
}

// The objects to create before any pod, in this order.
struct Objects {
  api::Json workload;
  std::vector<StampedGroup> groups;
};
Result<Objects> objects_for(const api::Json& run) {
  const Owner owner = owner_of(run);
  Objects objects;
  objects.workload = TRY(build(
      training_run(run),
      {.name = workload_name(owner.name, owner.uid),
       .name_space = std::string(api::find_string(api::part_of(run, "metadata"), "namespace")),
       .owner = owner,
       .allowed = {.policies = {PolicyKind::Basic, PolicyKind::Gang},
                   .disruption_modes = {Disruption::Single, Disruption::All}}}));
  objects.groups = stamp_each(objects.workload, {owner});
  return objects;
}
// guide: end
// NOLINTEND(misc-definitions-in-headers)

}  // namespace muster::workload::guide
