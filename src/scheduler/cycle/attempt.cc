#include "scheduler/cycle/attempt.h"

#include "base/check.h"

namespace muster::scheduler {

Plan attempt(ClusterModel& model, const GroupKey& root) {
  CHECK(model.runnable(root));
  const Group tree = model.build(root);
  return attempt_group(tree, model.cluster(), model.profile_of(tree));
}

Plan attempt(ClusterModel& model, const api::ObjectPtr& lone_pod) {
  const Time created = lone_pod->meta().creation_time.value_or(Time{});
  return attempt_pod({.pod = lone_pod, .attempts = 0, .queued_at = created}, model.cluster(),
                     model.profile_of(*lone_pod));
}

}  // namespace muster::scheduler
