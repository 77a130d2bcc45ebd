#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "server/http/testing.h"
#include "server/http/testing_http2.h"

// What the attacks share: a server, those who talk to it, and what they hold of it.
namespace muster::server {

using testing::Http2Wire;
using testing::HttpReply;
using testing::Site;
using testing::Wire;

inline const std::string kMaps = "/api/v1/namespaces/default/configmaps";

inline std::int64_t held(const Site& site, Resource what) {
  return site.ledger().total().used(what);
}
inline std::int64_t bytes_held(const Site& site) { return held(site, Resource::Bytes); }

// Until the server has seen what was done to it; the test's own limit of time is the only other
// end.
inline void await(const std::function<bool()>& done) {
  while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

inline std::string map_json(const std::string& name, std::size_t bytes) {
  return R"({"metadata":{"name":")" + name + R"("},"data":{"x":")" + std::string(bytes, 'x') +
         R"("}})";
}

}  // namespace muster::server
