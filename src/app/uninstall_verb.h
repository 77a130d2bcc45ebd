#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster uninstall`: takes what Muster left on the objects of a cluster off them.
Verb add_uninstall_verb(CLI::App& app);

}  // namespace muster::app
