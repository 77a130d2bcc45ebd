#pragma once

#include <string>

#include "api/object.h"

namespace muster::app {

// The program that last wrote the holder of this lease, according to managedFields:
// "muster-scheduler" or "kube-scheduler". Empty if nothing is recorded.
std::string writer_of_holder(const api::Object& lease);

// Whether an election lease is Muster's, because one of its processes held it last. If nothing is
// recorded about the holder, the name of the lease decides.
bool is_lease_of_muster(const api::Object& lease);

}  // namespace muster::app
