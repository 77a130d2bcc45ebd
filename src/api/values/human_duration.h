#pragma once

#include <string>

#include "base/time.h"

namespace muster::api {

// How kubectl shows ages: "90s", "5m30s", "3h", "2d4h", "3y"; coarser as it grows, always rounded
// down. More than a second below zero is "<invalid>".
std::string human_duration(Duration duration);

}  // namespace muster::api
