#pragma once

#include <functional>

#include "app/up.h"
#include "app/verb.h"
#include "base/result.h"

namespace muster::app {

// `muster up`.
Verb add_up_verb(CLI::App& app);
// The same, but `run` gets what the flags ask for.
Verb make_up_verb(CLI::App& app, std::function<Result<void>(const UpOptions&)> run);

}  // namespace muster::app
