#pragma once

#include <functional>

#include "api/request.h"
#include "base/result.h"

namespace muster::server {

// Where the answer to a request goes. Called exactly once, on the thread that has the answer.
using Reply = std::function<void(Result<api::Answer>)>;

}  // namespace muster::server
