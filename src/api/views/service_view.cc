#include "api/views/service_view.h"

#include "api/reading.h"

namespace muster::api {

std::unique_ptr<ServiceView> ServiceView::read(const Object& service) {
  auto view = std::make_unique<ServiceView>();
  const Json document = service.document();
  const Json& spec = part_of(document, "spec");
  view->cluster_ip = find_string(spec, "clusterIP");
  for (const Json& port : elements(spec, "ports"))
    if (const std::int64_t number = find_integer(port, "nodePort").value_or(0); number != 0)
      view->node_ports.push_back(number);
  return view;
}

}  // namespace muster::api
