#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/inert/inert.h"
#include "api/request.h"
#include "client/component.h"
#include "scheduler/scheduler.h"
#include "workload/job.h"

// The one list of components that every driver reads: `muster up` gives each entry a thread, the
// simulator steps them in this order. A new component is a new line in components.cc.
namespace muster::components {

// What the components of one process are made with.
struct Settings {
  std::string ca_certificate;  // of the server, PEM; empty where nothing is served over TLS
  scheduler::SchedulerOptions scheduler;
  api::Absent absent = {};         // components that do not run
  workload::JobOptions jobs = {};  // except its gates: those are the scheduler's
};

struct Entry {
  std::string_view name;  // upstream's, without "-controller"; also in metrics
  api::User user;         // who it is to the server
  std::function<std::unique_ptr<client::Component>(const Settings& settings,
                                                   client::ComponentContext context)>
      make;
  // Whether it makes sense on clusters other than our own server.
  bool runs_elsewhere = true;
  std::string_view alias = {};  // what users call it, too; empty: nothing else
};

const std::vector<Entry>& all();
// By its name or its alias; null if there is none.
const Entry* find(std::string_view name);
// "; lws is leaderworkerset", for help.
std::string aliases_text();

inline constexpr std::string_view kScheduler = "scheduler";

}  // namespace muster::components
