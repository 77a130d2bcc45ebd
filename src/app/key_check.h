#pragma once

#include "app/data_dir.h"
#include "base/result.h"

namespace muster::app {

// For a data directory whose store holds something: its keys are all there. They are made before
// the first write, so one that is missing was lost, and is not replaced silently: everything that
// was signed with it would end. The error says what to do.
Result<void> check_keys(const DataDir& data_dir);

}  // namespace muster::app
