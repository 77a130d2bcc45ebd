#pragma once

#include <string>

#include "app/data_dir.h"
#include "base/result.h"

namespace muster::app {

// For a data directory with a non-empty store: checks that its keys are all there and usable. They
// are made before the first write, so a missing or damaged one was lost, and is not replaced
// silently: everything signed with it would become invalid. The error says what to do.
Result<void> check_keys(const DataDir& data_dir);

// What is wrong with the keys in `data_dir`, as the rest of a sentence ("pki/ca.key is missing");
// empty if they are all there and usable. Writes nothing.
std::string fault_of_keys(const std::string& data_dir);

}  // namespace muster::app
