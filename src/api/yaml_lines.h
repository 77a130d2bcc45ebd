#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace muster::api {

// The line of a YAML or JSON text, from 1, where the member at `path` stands
// ("profiles[0].plugins.score"), or the deepest of its parents that is there. Nullopt if the text
// cannot be read. Slow, for messages: reads the text again.
std::optional<std::size_t> yaml_line_of(std::string_view text, std::string_view path);

}  // namespace muster::api
