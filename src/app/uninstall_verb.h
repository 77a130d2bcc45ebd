#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster uninstall`: removes what Muster left on the objects of a cluster.
Verb add_uninstall_verb(CLI::App& app);

}  // namespace muster::app
