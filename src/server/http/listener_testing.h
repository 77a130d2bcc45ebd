#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "api/json.h"
#include "server/http/testing.h"

// What the tests of a whole listener share: a site with an administrator, and pods to send.
namespace muster::server::testing {

inline const std::string kPods = "/api/v1/namespaces/default/pods";
inline const std::string kTableAccept =
    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

inline std::string pod_json(const std::string& name, const std::string& extra_metadata = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + "\"" + extra_metadata +
         R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})";
}

inline api::Json parse(const std::string& text) {
  auto parsed = api::parse_json(text);
  return parsed ? std::move(parsed->value) : api::Json();
}
// The string that stands there, or the JSON of what else does; empty if nothing does.
inline std::string text_at(const std::string& json, std::string_view path) {
  const api::Json document = parse(json);
  const api::Json* at = api::find_path(document, path);
  if (at == nullptr) return "";
  return at->is_string() ? std::string(at->get_string()) : api::to_text(*at);
}

class ListenerTest : public ::testing::Test {
 protected:
  Wire::Options as_admin() const { return {.client = &site_.admin}; }
  HttpReply create_pod(Wire& wire, const std::string& name) {
    return wire.ask({.method = "POST",
                     .target = kPods,
                     .headers = {"Content-Type: application/json"},
                     .body = pod_json(name)});
  }

  Site site_;
};

}  // namespace muster::server::testing
