#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster map`.
Verb add_map_verb(CLI::App& app);

}  // namespace muster::app
