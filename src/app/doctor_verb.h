#pragma once

#include "app/verb.h"

namespace muster::app {

// `muster doctor`: what a cluster offers Muster, what is missing and what that costs. Only
// reads.
Verb add_doctor_verb(CLI::App& app);

}  // namespace muster::app
