#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/values/cron_schedule.h"
#include "api/values/time_zone.h"
#include "api/views/cron_job_view.h"
#include "client/kit/controller.h"

namespace muster::controllers {

// Starts a Job at each time that a CronJob names, and keeps its history and status. However many
// times passed unnoticed, only the latest is made up for. The name of a Job follows from its time,
// so a second attempt, also by another process, finds the first.
class CronJobController final : public client::Controller {
 public:
  CronJobController(api::FindTimeZone find_zone, client::ComponentContext context);

 private:
  using Jobs = std::vector<api::ObjectPtr>;
  // What is known about a CronJob before the watch shows it, and what was already reported.
  struct Memory {
    std::string uid;
    std::optional<Time> last_schedule;
    std::optional<api::CronJobView::ActiveJob> created;  // not seen in the watch yet
    Time created_at{};
    std::set<std::string> deleted;  // uids of Jobs that we deleted
    std::optional<Time> said;       // the run that waits for one that is active, by an event
    std::optional<Time> missed;     // the run that came too late, by an event
  };
  // When it runs; nothing if its schedule or zone cannot be read, which an event says.
  struct Timing {
    api::CronSchedule schedule;
    const api::TimeZone* zone;
  };

  Keys on_job(const Change& change);
  void reconcile(const std::string& key, Time now) override;

  Jobs jobs_of(const api::Object& cron_job) const;
  void delete_surplus(const std::string& key, const api::ObjectPtr& cron_job, const Jobs& jobs);
  // Brings the status up to date; true if it was not and is being written.
  bool write_status(const std::string& key, const api::Object& cron_job, const Jobs& jobs,
                    Memory& memory, Time now);
  std::optional<Timing> timing_of(const api::Object& cron_job, Time now);
  void start_what_is_due(const std::string& key, const api::ObjectPtr& cron_job, const Jobs& jobs,
                         Memory& memory, Time now);
  // Whether the Jobs that run let another one start; deletes them if they are to be replaced.
  bool may_start(const std::string& key, const api::ObjectPtr& cron_job, const Jobs& jobs, Time run,
                 Memory& memory, Time now);
  void start(const std::string& key, const api::ObjectPtr& cron_job, Time run,
             const api::TimeZone& zone);
  void on_started(const std::string& key, const api::ObjectPtr& cron_job, Time run,
                  const client::Outcome& outcome, Time now);
  void delete_jobs(const std::string& key, const api::ObjectPtr& cron_job, const Jobs& jobs);

  const api::FindTimeZone find_zone_;
  client::Mirror cron_jobs_;
  client::Mirror jobs_;                         // indexed by owner
  std::map<std::string, Memory> memory_;        // by key; of CronJobs that exist
  std::map<std::string, api::TimeZone> zones_;  // that were found; as many as there are zones
};

}  // namespace muster::controllers
