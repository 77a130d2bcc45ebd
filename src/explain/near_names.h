#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "explain/objects.h"

namespace muster::explain {

// NotFound for a subject that is not among the objects, with names that were perhaps meant: similar
// ones, the same name as another kind or in another namespace.
Error unknown_group(const Objects& objects, const scheduler::GroupKey& key);
Error unknown_pod(const Objects& objects, std::string_view name_space, std::string_view name);

// The word that was perhaps meant: the closest known word, if any is close enough; otherwise empty.
std::string nearest(std::string_view word, const std::set<std::string>& known);

}  // namespace muster::explain
