#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::api {

// Why the text is not JSON, in the words of Go's encoding/json, which users of kubectl know
// ("invalid character '}' looking for beginning of value"); nullopt if its syntax is valid. Slow:
// only called once the real parser has refused.
std::optional<std::string> json_syntax_error(std::string_view text);

}  // namespace muster::api
