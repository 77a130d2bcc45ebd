#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// The line of a YAML or JSON text, from 1, where the member at `path` is
// ("profiles[0].plugins.score"), or the deepest of its parents that is there. Nullopt if the text
// cannot be read. Slow, for messages: reads the text again.
std::optional<std::size_t> yaml_line_of(std::string_view text, std::string_view path);
// The lines of several paths, in their order; reads the text once.
std::vector<std::optional<std::size_t>> yaml_lines_of(std::string_view text,
                                                      std::span<const std::string> paths);

}  // namespace muster::api
