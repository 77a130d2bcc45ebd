#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster build`.
Verb add_build_verb(CLI::App& app);

}  // namespace muster::app
