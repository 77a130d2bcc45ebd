#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/common/writing_controller.h"
#include "controllers/jobset/job_maker.h"
#include "controllers/jobset/set_groups.h"
#include "controllers/jobset/set_plan.h"
#include "workload/job.h"
#include "workload/job_set.h"

namespace muster::controllers {

// Runs JobSets: makes their Jobs in order, and decides from how these end whether the set has
// completed, has failed, or starts again.
//
//   feeds ──▶ mirrors ──▶ look at a set: SetState ──▶ plan_set() ──▶ calls
//               ▲                                                     │
//               └──────────── seen again (OwnWrites) ◀────────────────┘
//
// The Workload and the groups of a set that asks for them come before its Jobs, and go after them
// (set_groups.h). Every look starts from what is stored. What a Job's end means is stored first
// (status.restarts, the condition of the end), and acted on afterwards.
class JobSetController final : public WritingController {
 public:
  JobSetController(workload::JobOptions options, client::ComponentContext context);

 private:
  // A set as a workload, with the document that the mapping refers to, for one version of the
  // spec.
  struct Mapped {
    Mapped(const api::Object& set, const workload::JobOptions& options)
        : meta(set.meta()),
          document(set.document()),
          mapping(document, options),
          compiled(mapping) {}
    bool is_of(const api::Object& set) const {
      return meta.uid == set.meta().uid && meta.generation == set.meta().generation &&
             meta.annotations == set.meta().annotations;
    }
    const api::ObjectMeta meta;
    const api::Json document;
    const workload::JobSetMapping mapping;
    const CompiledWorkload compiled;
  };

  static std::vector<Watch> watches(JobSetController& self);
  Keys on_set(const Change& change);
  // Of what a set controls: Jobs, groups, its Workload and its Service.
  Keys on_part(const Change& change);
  Keys on_claim(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void look_at(const std::string& key, const api::ObjectPtr& set, Time now);
  std::vector<api::ObjectPtr> jobs_of(const api::Object& set) const;
  // Suspended Jobs whose pods would join the wrong groups are made again.
  static void replace_outdated(const api::JobSetView& set, const workload::JobSetMapping& mapping,
                               ChildJobs& jobs);

  std::shared_ptr<const Mapped> recall(const std::string& key, const api::Object& set);
  GroupsStep groups_step(const api::Object& set, const Mapped& mapped, const ChildJobs& jobs) const;
  void carry_out_step(const std::string& key, const api::ObjectPtr& set,
                      const std::shared_ptr<const Mapped>& mapped, GroupsStep& step);
  void create_groups(const std::string& key, const api::ObjectPtr& set,
                     const std::shared_ptr<const Mapped>& mapped, GroupsStep& step);
  void on_object_created(const std::string& key, const api::Object& set, std::string_view kind,
                         const client::Outcome& outcome, Time now);

  void carry_out(const std::string& key, const api::ObjectPtr& set,
                 const std::shared_ptr<const Mapped>& mapped, const SetPlan& plan, Time now);
  void resume_jobs(const std::string& key, const api::ObjectPtr& set, const SetPlan& plan);
  void create_jobs(const std::string& key, const api::ObjectPtr& set,
                   const std::shared_ptr<const Mapped>& mapped, const SetPlan& plan);
  std::shared_ptr<const JobMaker> make_maker(const api::Object& set) const;
  void create_claims(const std::string& key, const api::ObjectPtr& set, const api::Json& document);
  std::int64_t priority_of(std::string_view priority_class) const;
  void create_service(const std::string& key, const api::ObjectPtr& set);
  void remove_job(const std::string& key, const api::ObjectPtr& set, const ChildJob& job);
  void write_status(const std::string& key, const api::ObjectPtr& set, const SetStatus& status,
                    Time now);
  void say(const api::Object& set, const SetNote& note, Time now);

  const workload::JobOptions options_;
  client::Mirror sets_;
  client::Mirror jobs_;  // by owner
  client::Mirror services_;
  client::Mirror claims_;
  client::Mirror priority_classes_;
  client::Mirror workloads_;
  client::Mirror pod_groups_;  // these two by owner
  client::Mirror composites_;
  std::map<std::string, std::shared_ptr<const Mapped>, std::less<>> mapped_;  // by key
  // By key: why the server refuses a Workload or a group of the set.
  std::map<std::string, api::Condition, std::less<>> refusals_;
};

const api::Kind& job_set_kind();

}  // namespace muster::controllers
