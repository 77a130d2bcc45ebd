#include "controllers/deployment/deployment_plan.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster::controllers {
namespace {

using api::DeploymentView;
using api::ObjectPtr;
using api::ReplicaSetView;

class Planner {
 public:
  Planner(const api::Object& deployment, std::vector<ObjectPtr> sets, Time now)
      : deployment_(deployment),
        view_(deployment.view<DeploymentView>()),
        now_(now),
        before_(view_.status),
        sets_(split_sets(view_, std::move(sets))) {}

  DeploymentPlan plan() {
    if (deployment_.meta().deletion_time) {
      plan_.status = count_sets(deployment_, before_, sets_, now_);
      return std::move(plan_);
    }
    say_paused(view_, before_, now_);
    if (sets_.newest) keep_newest_up_to_date();
    const bool follows_size = view_.paused || was_resized();
    if (follows_size)
      scale_in_proportion(view_, sets_);
    else if (view_.recreates)
      recreate();
    else
      roll_on();
    if (view_.paused || (!follows_size && is_complete(deployment_, view_.status))) forget_history();
    collect_changes();
    plan_.status = count_sets(deployment_, before_, sets_, now_);
    if (!follows_size) judge_progress(deployment_, view_.status, sets_, plan_.status, now_);
    plan_.again = progress_due(deployment_, plan_.status);
    return std::move(plan_);
  }

 private:
  std::int64_t newest_revision() const {
    std::int64_t greatest = 0;
    for (const RolloutSet& set : sets_.old) greatest = std::max(greatest, revision_of(*set.object));
    return greatest + 1;
  }

  void keep_newest_up_to_date() {
    RolloutSet& newest = *sets_.newest;
    newest.annotations =
        newest_set_annotations(deployment_, newest.object.get(), newest_revision());
    want_revision(std::max(revision_of(*newest.object), newest_revision()));
  }

  void want_revision(std::int64_t revision) {
    if (annotated_number(deployment_, kRevision) != revision) plan_.revision = revision;
  }

  // Some set was scaled for another size of the Deployment.
  bool was_resized() {
    return std::ranges::any_of(sets_.active(), [&](const RolloutSet* set) {
      const auto desired = annotated_number(*set->object, kDesiredReplicas);
      return desired && *desired != view_.replicas;
    });
  }

  void make_newest() {
    if (sets_.newest) return;
    sets_.newest = RolloutSet{};
    sets_.newest->replicas = newest_size(view_, sets_);
    plan_.create = DeploymentPlan::NewSet{
        .replicas = sets_.newest->replicas,
        .annotations = newest_set_annotations(deployment_, nullptr, newest_revision())};
    plan_.create->annotations.merge(
        size_annotations(nullptr, view_.replicas, view_.replicas + max_surge(view_)));
  }

  void roll_on() {
    make_newest();
    roll(view_, sets_);
  }

  // All old pods go before a new one comes.
  void recreate() {
    bool gone = true;
    for (RolloutSet& set : sets_.old) {
      if (set.replicas > 0) set.sized = true;
      set.replicas = 0;
      const auto& status = set.status();
      gone &= !set.is_changed() && status.replicas == 0 && status.terminating.value_or(0) == 0 &&
              status.observed_generation >= set.object->meta().generation;
    }
    if (!gone) return;
    make_newest();
    RolloutSet& newest = *sets_.newest;
    newest.sized |= newest.replicas != view_.replicas;
    newest.replicas = view_.replicas;
  }

  // Old sets without pods, beyond the limit, the oldest revisions first.
  void forget_history() {
    if (!view_.history_limit) return;
    std::vector<ObjectPtr> old;
    for (const RolloutSet& set : sets_.old)
      if (!set.object->meta().deletion_time) old.push_back(set.object);
    const std::int64_t surplus = std::ssize(old) - *view_.history_limit;
    if (surplus <= 0) return;
    std::ranges::sort(old, {}, [](const ObjectPtr& set) {
      return std::make_tuple(revision_of(*set), set->meta().creation_time.value_or(Time{}),
                             std::string_view(set->meta().name));
    });
    for (const ObjectPtr& set : std::span(old).first(static_cast<std::size_t>(surplus))) {
      const auto& view = set->view<ReplicaSetView>();
      if (view.status.replicas == 0 && view.replicas == 0 &&
          view.status.observed_generation >= set->meta().generation)
        plan_.remove.push_back(set);
    }
  }

  void collect_changes() {
    for (RolloutSet* set : sets_.all()) {
      if (set->object == nullptr) continue;
      DeploymentPlan::Change change{.set = set->object,
                                    .replicas = set->replicas,
                                    .annotations = std::move(set->annotations)};
      if (set->sized || set->is_changed())
        change.annotations.merge(
            size_annotations(set->object.get(), view_.replicas, view_.replicas + max_surge(view_)));
      change.min_ready = sets_.newest && set == &*sets_.newest &&
                         set->object->view<ReplicaSetView>().min_ready != view_.min_ready;
      if (set->is_changed() || !change.annotations.empty() || change.min_ready)
        plan_.changes.push_back(std::move(change));
    }
  }

  const api::Object& deployment_;
  const DeploymentView& view_;
  const Time now_;
  DeploymentStatus before_;  // what is stored, and whether it is paused
  RolloutSets sets_;
  DeploymentPlan plan_;
};

}  // namespace

DeploymentPlan plan_deployment(const api::Object& deployment, std::vector<ObjectPtr> sets,
                               Time now) {
  return Planner(deployment, std::move(sets), now).plan();
}

}  // namespace muster::controllers
