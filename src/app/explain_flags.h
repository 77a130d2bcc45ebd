#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster explain`.
Verb add_explain_verb(CLI::App& app);

}  // namespace muster::app
