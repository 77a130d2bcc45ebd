#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "client/component.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A kind as kinds.cc would have it, as far as controllers care.
inline api::Kind test_kind(std::string name, std::string plural, std::string_view package) {
  api::Kind kind;
  kind.group = "scheduling.k8s.io";
  kind.versions = {std::string(package.substr(package.find('/') + 1))};
  kind.stored_version = kind.versions.front();
  kind.plural = std::move(plural);
  kind.message = &api::schema::message(package, name);
  kind.kind = std::move(name);
  return kind;
}

inline api::ObjectPtr object(const api::Kind& kind, std::string_view json) {
  Result<api::ParsedJson> parsed = api::parse_json(json);
  EXPECT_TRUE(parsed) << json;
  return api::Object::make(kind, parsed->value);
}

// Keeps what a component sends.
struct Sent {
  std::vector<std::pair<api::Request, std::uint64_t>> requests;

  client::Send sink() {
    return [this](api::Request request, std::uint64_t ticket) {
      requests.emplace_back(std::move(request), ticket);
    };
  }
  // "namespace/name body" of each request since the last call.
  std::vector<std::string> take() {
    std::vector<std::string> out;
    for (; told < requests.size(); ++told) {
      const api::Request& request = requests[told].first;
      out.push_back(request.name_space + "/" + request.name + " " + api::to_text(request.body));
    }
    return out;
  }
  std::size_t told = 0;
};

using Type = client::Event::Type;
using Texts = std::vector<std::string>;

}  // namespace muster::controllers
