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

inline api::ObjectPtr object(const api::Kind& kind, std::string_view json) {
  Result<api::ParsedJson> parsed = api::parse_json(json);
  EXPECT_TRUE(parsed) << json;
  return api::Object::make(kind, parsed->value);
}

// Keeps what a component sends.
struct Sent {
  std::vector<std::pair<api::Request, std::uint64_t>> requests;

  client::ComponentContext context() {
    return {.send = [this](api::Request request, std::uint64_t ticket) {
      requests.emplace_back(std::move(request), ticket);
    }};
  }
  // "namespace/name body" of each request since the last call.
  std::vector<std::string> new_texts() {
    std::vector<std::string> out;
    for (; shown < requests.size(); ++shown) {
      const api::Request& request = requests[shown].first;
      out.push_back(request.name_space + "/" + request.name + " " + api::to_text(request.body));
    }
    return out;
  }
  std::size_t shown = 0;
};

using Type = client::Event::Type;
using Texts = std::vector<std::string>;

}  // namespace muster::controllers
