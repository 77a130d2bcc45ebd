#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster scheduler`: schedules pods of a cluster that is not ours until SIGINT or SIGTERM.
Verb add_scheduler_verb(CLI::App& app);

}  // namespace muster::app
