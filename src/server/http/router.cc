#include "server/http/router.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace muster::server {
namespace {

using Segments = std::vector<std::string_view>;

// The parts between slashes; empty ones do not count, so trailing slashes are tolerated.
Segments split_path(std::string_view path) {
  Segments segments;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) segments.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return segments;
}

bool group_served(Kinds kinds, std::string_view group) {
  return std::ranges::any_of(kinds, [&](const api::Kind* kind) { return kind->group == group; });
}

bool version_served(Kinds kinds, std::string_view group, std::string_view version) {
  return std::ranges::any_of(
      kinds, [&](const api::Kind* kind) { return kind->group == group && kind->serves(version); });
}

Error resource_not_found() {
  return make_error(Reason::NotFound, "the server could not find the requested resource");
}

Error method_not_allowed() {
  return make_error(Reason::MethodNotAllowed,
                    "the server does not allow this method on the requested resource");
}

std::string_view verb_of(Method method, bool named, bool watch) {
  switch (method) {
    case Method::Get:
    case Method::Head: return named ? "get" : watch ? "watch" : "list";
    case Method::Post: return "create";
    case Method::Put: return "update";
    case Method::Patch: return "patch";
    case Method::Delete: return named ? "delete" : "deletecollection";
    case Method::Other: break;
  }
  return "";
}

struct NamedVerb {
  std::string_view name;
  api::Verb verb;
};
constexpr std::array kVerbs = {NamedVerb{"get", api::Verb::Get},
                               NamedVerb{"list", api::Verb::List},
                               NamedVerb{"watch", api::Verb::Watch},
                               NamedVerb{"create", api::Verb::Create},
                               NamedVerb{"update", api::Verb::Update},
                               NamedVerb{"patch", api::Verb::Patch},
                               NamedVerb{"delete", api::Verb::Delete},
                               NamedVerb{"deletecollection", api::Verb::DeleteCollection}};

// Whether the kind has this verb at this kind of path.
bool allows(const api::Kind& kind, const Attributes& asked, Method method) {
  if (method == Method::Head || method == Method::Other) return false;
  if (!asked.subresource.empty()) {
    const api::Subresource* sub = kind.subresource(asked.subresource);
    return sub != nullptr && std::ranges::find(sub->verbs, asked.verb) != sub->verbs.end();
  }
  if (!kind.stored && method != Method::Post) return false;
  if (!asked.name.empty()) return method != Method::Post;
  // Collections. Those of all namespaces are only read.
  if (method == Method::Get) return true;
  if (kind.namespaced && asked.name_space.empty()) return false;
  return method == Method::Post || (method == Method::Delete && kind.deletes_collections);
}

// Reads NS, R, N and SUB off the segments after the version.
void read_resource_path(const Segments& rest, Attributes& asked) {
  std::size_t at = 0;
  // namespaces/NS/status and finalize belong to the namespace itself; any other third part is a
  // resource in it.
  const bool in_namespace =
      rest.size() >= 3 && rest[0] == "namespaces" &&
      !(asked.group.empty() && (rest[2] == "status" || rest[2] == "finalize"));
  if (in_namespace) {
    asked.name_space = rest[1];
    at = 2;
  }
  asked.resource = rest[at];
  if (at + 1 < rest.size()) asked.name = rest[at + 1];
  if (at + 2 < rest.size()) asked.subresource = rest[at + 2];
}

// The request on a resource that the attributes describe, or why there is none.
void find_resource(Route& route, Kinds kinds, Method method) {
  const Attributes& asked = route.attributes;
  api::Request& request = route.request;
  const api::Kind* kind = api::find_resource(asked.group, asked.version, asked.resource);
  if (std::ranges::find(kinds, kind) == kinds.end()) kind = nullptr;
  request.kind = kind;
  const bool misplaced =
      kind != nullptr && (kind->namespaced ? !asked.name.empty() && asked.name_space.empty()
                                           : !asked.name_space.empty());
  if (kind == nullptr || misplaced ||
      (!asked.subresource.empty() && kind->subresource(asked.subresource) == nullptr)) {
    route.error = resource_not_found();
    return;
  }
  if (!allows(*kind, asked, method)) {
    route.error = method_not_allowed();
    return;
  }
  request.verb = std::ranges::find(kVerbs, asked.verb, &NamedVerb::name)->verb;
  request.version = asked.version;
  request.name_space = asked.name_space;
  request.name = asked.name;
  request.subresource = asked.subresource;
}

// /api/V/… and /apis/G/V/…; `rest` is what follows the version.
void route_group_version(Route& route, Kinds kinds, const Segments& rest, Method method) {
  Attributes& asked = route.attributes;
  const bool served = version_served(kinds, asked.group, asked.version);
  if (rest.empty()) {
    if (served) route.endpoint = Endpoint::GroupVersion;
    return;
  }
  asked.is_resource = true;
  read_resource_path(rest, asked);
  asked.verb = verb_of(method, !asked.name.empty(), route.query.flag("watch"));
  if (!served) return;
  route.endpoint = Endpoint::Resource;
  find_resource(route, kinds, method);
}

void route_apis(Route& route, Kinds kinds, const Segments& segments, Method method) {
  Attributes& asked = route.attributes;
  if (segments[0] == "api") {
    if (segments.size() == 1) {
      route.endpoint = Endpoint::CoreVersions;
      return;
    }
    asked.version = segments[1];
    route_group_version(route, kinds, Segments(segments.begin() + 2, segments.end()), method);
    return;
  }
  if (segments.size() == 1) {
    route.endpoint = Endpoint::Groups;
    return;
  }
  asked.group = segments[1];
  if (segments.size() == 2) {
    if (!asked.group.empty() && group_served(kinds, asked.group)) route.endpoint = Endpoint::Group;
    return;
  }
  asked.version = segments[2];
  route_group_version(route, kinds, Segments(segments.begin() + 3, segments.end()), method);
}

// The part of `path` after `count` segments, without slashes at its ends.
std::string path_after(const Segments& segments, std::size_t count) {
  std::string out;
  for (std::size_t i = count; i < segments.size(); ++i) {
    if (!out.empty()) out += '/';
    out += segments[i];
  }
  return out;
}

void route_other(Route& route, const Segments& segments) {
  const std::string_view first = segments[0];
  if (first == "version" && segments.size() == 1) {
    route.endpoint = Endpoint::Version;
  } else if (first == "metrics" && segments.size() == 1) {
    route.endpoint = Endpoint::Metrics;
  } else if (first == "healthz" || first == "livez" || first == "readyz") {
    route.endpoint = Endpoint::Health;
    route.key = first;
    route.check = path_after(segments, 1);
  } else if (first == ".well-known" && segments.size() == 2 &&
             segments[1] == "openid-configuration") {
    route.endpoint = Endpoint::OpenIdConfiguration;
  } else if (first == "openid" && segments.size() == 3 && segments[1] == "v1" &&
             segments[2] == "jwks") {
    route.endpoint = Endpoint::OpenIdKeys;
  } else if (first == "openapi" && segments.size() == 2 && segments[1] == "v2") {
    route.endpoint = Endpoint::OpenApiV2;
  } else if (first == "openapi" && segments.size() >= 2 && segments[1] == "v3") {
    route.endpoint = Endpoint::OpenApiV3;
    route.key = path_after(segments, 2);
  }
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

Result<Route> route(const HttpRequest& request, Kinds kinds) {
  std::string_view target = request.target;
  // Proxies may send the absolute form.
  if (const std::size_t scheme = target.find("://");
      !target.starts_with('/') && scheme != std::string_view::npos) {
    const std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  auto path = percent_decode(target.substr(0, question), false);
  if (!path || !path->starts_with('/'))
    return fail(Reason::BadRequest, "invalid URL escape or path in the request");

  Route route;
  route.query = Query(target.substr(std::min(question + 1, target.size())));
  route.attributes.path = *std::move(path);
  route.attributes.verb = lower_case(request.method_name);
  const Segments segments = split_path(route.attributes.path);
  if (segments.empty())
    route.endpoint = Endpoint::Index;
  else if (segments[0] == "api" || segments[0] == "apis")
    route_apis(route, kinds, segments, request.method);
  else
    route_other(route, segments);

  const bool reads = request.method == Method::Get ||
                     (request.method == Method::Head && route.endpoint == Endpoint::Health);
  if (route.endpoint != Endpoint::Resource && route.endpoint != Endpoint::Unknown && !reads)
    route.error = method_not_allowed();
  return route;
}

}  // namespace muster::server
