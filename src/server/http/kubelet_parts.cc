#include "server/http/kubelet_parts.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "api/kinds/kind.h"
#include "api/values/pretend.h"
#include "api/views/pod_view.h"

namespace muster::server {
namespace {

constexpr std::array<std::string_view, 4> kParts = {"attach", "exec", "log", "portforward"};

// Null if there is none that can be read.
Result<api::ObjectPtr> read_object(const Server& server, const api::Kind& kind,
                                   std::string_view name_space, std::string_view name) {
  api::Request request;
  request.verb = api::Verb::Get;
  request.kind = &kind;
  request.version = kind.stored_version;
  request.name_space = name_space;
  request.name = name;
  return std::get<api::ObjectAnswer>(TRY(server.read(request)).what).object;
}

}  // namespace

bool needs_kubelet(const api::Request& request) {
  return request.kind == &api::kinds::pod() &&
         std::ranges::find(kParts, request.subresource) != kParts.end();
}

Error refuse_kubelet_part(const Server& server, const api::Request& request) {
  Result<api::ObjectPtr> pod = read_object(server, *request.kind, request.name_space, request.name);
  if (!pod) return std::move(pod.error());
  const std::string& name = (*pod)->view<api::PodView>().node_name;
  if (name.empty())
    return make_error(Reason::BadRequest, "pod {} does not have a host assigned", request.name);
  const Result<api::ObjectPtr> node = read_object(server, api::kinds::node(), "", name);
  if (node && api::is_pretend((*node)->meta().annotations))
    return make_error(Reason::BadRequest, "pretend node {}: no containers to attach to", name);
  return make_error(Reason::BadRequest, "node {}: its kubelet cannot be reached from this server",
                    name);
}

}  // namespace muster::server
