#pragma once

#include <string>

#include "api/object.h"

namespace muster::app {

// Who wrote last who holds this lease, by the server's record of who owns which field: the program
// as its requests name it, "muster-scheduler" or "kube-scheduler". Empty if there is no record.
std::string writer_of_holder(const api::Object& lease);

// Whether a lease by which processes are elected is Muster's: one of its processes held it last. A
// lease that nobody has on record is Muster's if its name says so.
bool is_lease_of_muster(const api::Object& lease);

}  // namespace muster::app
