#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::app {

// The whole text of a file; `what` names the file in errors: "the cluster file". An empty
// file is empty text.
Result<std::string> read_text_file(const std::string& path, std::string_view what);

}  // namespace muster::app
