#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The formats of names. Each check answers with upstream's messages, one per rule that is broken;
// an empty answer means the name is fine.
namespace muster::api {

using Messages = std::vector<std::string>;

// Older checks of Kubernetes count "characters", declarative ones and labels "bytes". Both mean
// bytes.
enum class LengthWord : std::uint8_t { Characters, Bytes };

Messages check_dns_label(std::string_view name, LengthWord word = LengthWord::Characters);
Messages check_dns_subdomain(std::string_view name, LengthWord word = LengthWord::Characters);
Messages check_dns_1035_label(std::string_view name);
// A label key, a finalizer, a taint key: an optional DNS subdomain and '/', then a name.
Messages check_qualified_name(std::string_view name);
Messages check_label_value(std::string_view value);
// What every object name must be: one segment of a URL's path.
Messages check_path_segment(std::string_view name);
// A named port of a container.
Messages check_port_name(std::string_view name);
Messages check_environment_name(std::string_view name);
// A key of a ConfigMap or Secret.
Messages check_config_key(std::string_view key);

// A generateName is followed by a suffix, so it may end with '-': the name as it is checked.
std::string as_generated(std::string_view prefix);

// "must be between 1 and 65535, inclusive".
std::string inclusive_range(std::int64_t least, std::int64_t most);

}  // namespace muster::api
