#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/object.h"
#include "client/kit/calls.h"

namespace muster::client {

inline api::ObjectPtr make_pod(const std::string& name, const std::string& status = "{}") {
  const auto document =
      api::parse_json(R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-)" +
                      name + R"(","generation":3},"spec":{},"status":)" + status + "}");
  EXPECT_TRUE(document.has_value());
  return api::Object::make(api::kinds::pod(), document->value);
}

// An API that answers when the test says so.
struct FakeApi {
  struct Call {
    api::Request request;
    std::uint64_t ticket;
  };
  std::vector<Call> sent;
  Calls calls{[this](api::Request request, std::uint64_t ticket) {
    sent.push_back({std::move(request), ticket});
  }};

  void accept(std::size_t call, Time now) {
    calls.complete(sent.at(call).ticket, api::Answer{}, now);
  }
  void show(std::size_t call, const api::ObjectPtr& object, Time now) {
    calls.complete(sent.at(call).ticket, api::Answer{api::ObjectAnswer{object, {}, false}, {}},
                   now);
  }
  void refuse(std::size_t call, Reason reason, Time now, int retry_after_s = 0) {
    Error error = make_error(reason, "no: {}", reason_name(reason));
    error.retry_after_s = retry_after_s;
    calls.complete(sent.at(call).ticket, fail(std::move(error)), now);
  }
  std::string body(std::size_t call) const { return api::to_text(sent.at(call).request.body); }
};

}  // namespace muster::client
