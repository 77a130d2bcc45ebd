#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster controllers`: runs the named controllers on a cluster that is not ours.
Verb add_controllers_verb(CLI::App& app);

}  // namespace muster::app
