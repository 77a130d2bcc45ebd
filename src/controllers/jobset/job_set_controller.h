#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/common/writing_controller.h"
#include "controllers/jobset/job_maker.h"
#include "controllers/jobset/set_plan.h"
#include "workload/job.h"

namespace muster::controllers {

// Runs JobSets: makes their Jobs in their order, and says from how these end whether the set has
// completed, has failed, or starts again.
//
//   feeds ──▶ mirrors ──▶ look at a set: SetState ──▶ plan_set() ──▶ calls
//               ▲                                                     │
//               └──────────── seen again (OwnWrites) ◀────────────────┘
//
// Every look starts from what is stored. What a Job's end means is stored first (status.restarts,
// the condition of the end), and acted upon afterwards.
class JobSetController final : public WritingController {
 public:
  JobSetController(workload::JobOptions options, client::ComponentContext context);

 private:
  Keys on_set(const Change& change);
  // Of what a set controls: Jobs, its Service.
  Keys on_part(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void look_at(const std::string& key, const api::ObjectPtr& set, Time now);
  std::vector<api::ObjectPtr> jobs_of(const api::Object& set) const;

  void carry_out(const std::string& key, const api::ObjectPtr& set, const SetPlan& plan, Time now);
  void create_jobs(const std::string& key, const api::ObjectPtr& set, const SetPlan& plan);
  void create_service(const std::string& key, const api::ObjectPtr& set);
  void remove_job(const std::string& key, const api::ObjectPtr& set, const ChildJob& job);
  void write_status(const std::string& key, const api::ObjectPtr& set, const SetStatus& status,
                    Time now);
  void say(const api::Object& set, const SetNote& note, Time now);

  const workload::JobOptions options_;
  client::Mirror sets_;
  client::Mirror jobs_;  // by owner
  client::Mirror services_;
};

const api::Kind& job_set_kind();

}  // namespace muster::controllers
