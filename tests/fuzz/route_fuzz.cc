#include <array>

#include "api/request.h"
#include "fuzzing.h"
#include "server/http/negotiate.h"
#include "server/http/options.h"
#include "server/http/router.h"

// Any method, target and headers find a route or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  using namespace muster;
  std::string_view rest = fuzz::text(data, size);
  constexpr std::array kMethods = {server::Method::Get,   server::Method::Head,
                                   server::Method::Post,  server::Method::Put,
                                   server::Method::Patch, server::Method::Delete};
  server::HttpRequest request;
  if (!rest.empty()) {
    request.method = kMethods[static_cast<unsigned char>(rest.front()) % kMethods.size()];
    rest.remove_prefix(1);
  }
  request.target = fuzz::cut(rest);
  request.accept = fuzz::cut(rest);
  request.content_type = fuzz::cut(rest);
  auto routed = server::route(request);
  for (const bool list : {false, true})
    (void)server::negotiate_form(request.accept, {.list = list});
  (void)server::negotiate_aggregated_discovery(request.accept);
  (void)server::negotiate_openapi_v2(request.accept);
  (void)server::accepts_gzip(request.accept);
  (void)server::body_format(request.content_type);
  (void)server::patch_type(request.content_type);
  if (routed && routed->endpoint == server::Endpoint::Resource && !routed->error)
    if (server::read_options(routed->query, rest, routed->request))
      (void)server::read_delete_options(routed->query, routed->request);
  return 0;
}
