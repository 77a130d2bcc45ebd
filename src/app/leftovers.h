#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/request.h"

namespace muster::app {

// Something of Muster's that an object still carries, and the request that removes it.
struct Leftover {
  std::string sentence;  // "pod default/a: nomination for node n1"
  api::Request request;
};

// Everything on this object that only Muster reads: finalizers, annotations and conditions whose
// names are in muster.dev, and, on pods that these schedulers serve and that have no node yet, the
// nomination. In the order in which the requests must be sent.
std::vector<Leftover> leftovers_on(const api::Object& object,
                                   std::span<const std::string> scheduler_names);

}  // namespace muster::app
