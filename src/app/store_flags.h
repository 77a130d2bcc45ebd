#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster store check|backup|restore`.
Verb add_store_verb(CLI::App& app);

}  // namespace muster::app
