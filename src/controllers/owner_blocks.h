#pragma once

#include <vector>

#include "api/object.h"

namespace muster::controllers {

// Whether the object wants its owners to wait for it when they are deleted in the foreground:
// blockOwnerDeletion of each reference, in the order of meta().owners. Reads the object's metadata
// only up to its references: what follows may be a megabyte.
std::vector<bool> blocked_owners(const api::Object& object);
// Whether both have the same references, byte for byte: an object may have thousands.
bool same_references(const api::Object& a, const api::Object& b);

}  // namespace muster::controllers
