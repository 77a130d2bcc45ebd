#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster up`.
Verb add_up_verb(CLI::App& app);

}  // namespace muster::app
