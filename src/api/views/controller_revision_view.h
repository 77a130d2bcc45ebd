#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/json.h"
#include "api/object.h"

namespace muster::api {

// The fields of a ControllerRevision that controllers read.
struct ControllerRevisionView : View {
  static std::unique_ptr<ControllerRevisionView> read(const Object& revision);

  std::int64_t number = 0;  // `revision`: the newest has the highest
  std::string data;         // as sorted_text()
};

// A document as Go writes a map of it: members sorted by name at every depth, with its escapes.
// Equal documents have equal texts.
std::string sorted_text(const Json& value);

}  // namespace muster::api
