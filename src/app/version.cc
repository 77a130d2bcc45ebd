#include "app/version.h"

namespace muster::app {

std::string_view version() { return MUSTER_VERSION; }

}  // namespace muster::app
