#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "controllers/jobset/job_set_controller.h"

// The Workload and the groups of a JobSet.
namespace muster::controllers {
namespace {

using workload::JobSetMapping;

std::string annotation_of(const ChildJob& job, std::string_view key) {
  const std::string* value = api::lookup(job.object->meta().annotations, key);
  return value == nullptr ? std::string() : *value;
}

// Whether the pods of a Job would come into the group that they should be in now. What a user says
// in a set that asks for no groups stays as it is.
bool is_linked(const ChildJob& job, const JobSetMapping::Link& wanted,
               std::string_view workload_name) {
  if (!wanted.pod_group.empty()) return job.view->pod_group == wanted.pod_group;
  if (job.view->pod_group.starts_with(workload_name)) return false;
  return wanted.template_name.empty() ||
         (annotation_of(job, workload::kGroupTemplateAnnotation) == wanted.template_name &&
          annotation_of(job, workload::kParentCompositeAnnotation) == wanted.parent);
}

}  // namespace

void JobSetController::replace_outdated(const api::JobSetView& set, const JobSetMapping& mapping,
                                        ChildJobs& jobs) {
  const std::string workload_name = mapping.workload_name();
  const auto fits = [&](const ChildJob& job) {
    return !job.view->suspend || job.view->status.active > 0 ||
           is_linked(job, mapping.link(job.entry, job.index, set.status.restarts), workload_name);
  };
  const auto outdated = std::ranges::stable_partition(jobs.active, fits);
  std::ranges::move(outdated, std::back_inserter(jobs.previous));
  jobs.active.erase(outdated.begin(), outdated.end());
}

std::shared_ptr<const JobSetController::Mapped> JobSetController::recall(const std::string& key,
                                                                         const api::Object& set) {
  std::shared_ptr<const Mapped>& mapped = mapped_[key];
  if (mapped == nullptr || !mapped->is_of(set))
    mapped = std::make_shared<const Mapped>(set, options_);
  return mapped;
}

GroupsStep JobSetController::groups_step(const api::Object& set, const Mapped& mapped,
                                         const ChildJobs& jobs) const {
  GroupsState state{.mapping = mapped.mapping,
                    .compiled = mapped.compiled,
                    .set = set.view<api::JobSetView>(),
                    .uid = set.meta().uid,
                    .jobs = jobs};
  for (const client::Mirror* mirror : {&composites_, &pod_groups_})
    for (const auto* entry : mirror->owned_by(set.meta().uid))
      if (is_controlled_by(*entry->object, set.meta().uid)) state.groups.push_back(entry->object);
  state.find = [&](const api::Kind& kind, std::string_view name) {
    const client::Mirror& mirror = &kind == &api::kinds::workload()    ? workloads_
                                   : &kind == &api::kinds::pod_group() ? pod_groups_
                                                                       : composites_;
    return mirror.find(set.meta().name_space, name);
  };
  return next_groups_step(state);
}

void JobSetController::carry_out_step(const std::string& key, const api::ObjectPtr& set,
                                      const std::shared_ptr<const Mapped>& mapped,
                                      GroupsStep& step) {
  if (step.ready) refusals_.erase(key);
  if (step.workload)
    write_call(key,
               client::create_request(api::kinds::workload(), set->meta().name_space,
                                      *std::move(step.workload)),
               [this, key, set](const client::Outcome& outcome, Time now) {
                 on_object_created(key, *set, "Workload", outcome, now);
               });
  create_groups(key, set, mapped, step);
  for (const GroupsStep::Resize& resize : step.resize)
    write_call(key, client::patch_request(resize.object->kind(), set->meta().name_space,
                                          resize.object->meta().name, "",
                                          api::PatchType::StrategicMerge, resize.patch));
  for (const api::ObjectPtr& object : step.remove)
    write_call(key, client::delete_request(*object, std::nullopt));
}

void JobSetController::create_groups(const std::string& key, const api::ObjectPtr& set,
                                     const std::shared_ptr<const Mapped>& mapped,
                                     GroupsStep& step) {
  if (step.create.empty()) return;
  const api::ObjectPtr workload =
      workloads_.find(set->meta().name_space, mapped->mapping.workload_name());
  const api::Json document = workload->document();
  const JobSetMapping::GroupMaker checker(mapped->mapping, document);
  std::erase_if(step.create, [&](const JobSetMapping::Group& group) {
    const std::optional<Error> fault = checker.fault(group);
    if (fault)
      step.blocked = {"SchedulingBlocked", "True", "FailedWorkloadCompilation", fault->message, 0};
    return fault.has_value();
  });
  const auto groups =
      std::make_shared<const std::vector<JobSetMapping::Group>>(std::move(step.create));
  // What the groups of a turn are made from.
  struct Making {
    Making(const Mapped& from, const api::Object& of)
        : workload(of.document()), maker(from.mapping, workload) {}
    const api::Json workload;
    const JobSetMapping::GroupMaker maker;
  };
  write_in_batches(
      key,
      {.count = groups->size(),
       .start_making = [set, mapped, workload, groups]() -> Make {
         return [&, making = std::make_shared<const Making>(*mapped, *workload)](std::size_t at) {
           const JobSetMapping::Group& group = (*groups)[at];
           Result<api::Json> made = making->maker.make(group);
           CHECK(made.has_value());  // there was no fault
           return client::create_request(*group.kind, set->meta().name_space, *std::move(made));
         };
       }},
      [this, key, set, groups](std::size_t at, const client::Outcome& outcome, Time now) {
        on_object_created(key, *set, (*groups)[at].kind->kind, outcome, now);
        return !outcome && !is_name_space_ending(outcome.error());
      });
}

void JobSetController::on_object_created(const std::string& key, const api::Object& set,
                                         std::string_view kind, const client::Outcome& outcome,
                                         Time now) {
  if (outcome) {
    const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what);
    return say(
        set,
        {"Normal", fmt::format("{}Created", kind),
         fmt::format("Created {} {}", kind, answer == nullptr ? "" : answer->object->meta().name)},
        now);
  }
  const Error& error = outcome.error();
  if (is_name_space_ending(error)) return;
  const std::string reason = fmt::format("Failed{}Create", kind);
  say(set, {"Warning", reason, fmt::format("Error creating {}: {}", kind, error.message)}, now);
  // Trying again will not help with a server that has looked at it and refused; the set says so.
  if (error.reason == Reason::Invalid || error.reason == Reason::Forbidden)
    refusals_.insert_or_assign(
        key, api::Condition{"SchedulingBlocked", "True", reason, error.message, 0});
}

}  // namespace muster::controllers
