#pragma once

#include "scheduler/framework/profile.h"

namespace muster::scheduler {

// Upstream's default plugins with their default arguments and weights.
Profile default_profile();

}  // namespace muster::scheduler
