#pragma once

#include <string>

#include "app/data_dir.h"
#include "base/result.h"

namespace muster::app {

// For a data directory whose store holds something: its keys are all there and can be used. They
// are made before the first write, so one that is missing or damaged was lost, and is not replaced
// silently: everything that was signed with it would end. The error says what to do.
Result<void> check_keys(const DataDir& data_dir);

// What is wrong with the keys in `data_dir`, as the rest of a sentence ("pki/ca.key is missing");
// empty if they are all there and can be used. Writes nothing.
std::string fault_of_keys(const std::string& data_dir);

}  // namespace muster::app
