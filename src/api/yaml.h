#pragma once

#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/result.h"

namespace muster::api {

// Reads one YAML document the way kubectl and kube-apiserver do: YAML 1.1 scalars (an unquoted y is
// true, 0644 is octal), keys become text, whole floats become integers. JSON is YAML too. Aliases
// are expanded within a bound. BadRequest if the text is not YAML or holds several documents.
Result<ParsedJson> parse_yaml(std::string_view text);

// The documents of a file, separated by lines that begin with "---"; blank ones are left out.
std::vector<std::string_view> split_yaml_documents(std::string_view text);

}  // namespace muster::api
