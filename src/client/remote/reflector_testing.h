#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/remote/reflector.h"
#include "client/remote/watch_testing.h"

namespace muster::client {

enum class Form : std::uint8_t { Json, Protobuf };

// A reflector of nodes and the server it asks, which answers in JSON or in protobuf.
class ReflectorFixture : public testing::Test {
 protected:
  explicit ReflectorFixture(Form form) : form_(form) {}

  // The request it makes next, as text: "stream rv=5 initial", "list rv=5 limit", "wait".
  std::string next() {
    const std::optional<api::Request> request = reflector_.next(now_);
    if (!request) return "wait";
    std::string out = request->verb == api::Verb::Watch ? "stream" : "list";
    const api::ListOptions& list = request->list;
    if (!list.resource_version.empty()) out += " rv=" + list.resource_version;
    if (list.send_initial_events) out += " initial";
    if (list.limit > 0) out += " limit";
    if (!list.continue_token.empty()) out += " from=" + list.continue_token;
    return out;
  }
  // The same after the pause that a failure causes.
  std::string next_after_pause() {
    EXPECT_EQ(next(), "wait");
    const std::optional<Time> deadline = reflector_.next_deadline();
    if (!deadline) return "never";
    EXPECT_GE(*deadline - now_, std::chrono::milliseconds{800});
    now_ = *deadline;
    return next();
  }

  static api::Json parsed(std::string_view text) { return api::parse_json(text).value().value; }
  static std::string object(std::string_view name, int revision, std::string_view uid) {
    return fmt::format(
        R"({{"kind":"Node","metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}"}}}})", name,
        uid, revision);
  }
  std::string event(std::string_view type, const std::string& text) const {
    if (form_ == Form::Protobuf) return framed(type, to_protobuf(parsed(text)));
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, text);
  }
  bool line(std::string_view type, const std::string& text) {
    return reflector_.on_bytes(event(type, text));
  }
  bool add(std::string_view name, int revision) {
    return line("ADDED", object(name, revision, name));
  }
  bool change(std::string_view name, int revision) {
    return line("MODIFIED", object(name, revision, name));
  }
  bool bookmark(int revision, bool is_end = false) {
    return line(
        "BOOKMARK",
        fmt::format(R"({{"kind":"Node","metadata":{{"resourceVersion":"{}"{}}}}})", revision,
                    is_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""));
  }
  void end(int code = 200, std::string body = "") {
    if (form_ == Form::Protobuf && !body.empty()) body = to_protobuf(parsed(body));
    reflector_.on_end(HttpReply{.code = code, .body = std::move(body)}, now_);
  }
  void end_with(int code, std::string_view reason) {
    end(code, fmt::format(R"({{"kind":"Status","reason":"{}","message":"because","code":{}}})",
                          reason, code));
  }
  void lose_connection() { reflector_.on_end(fail(Reason::ServiceUnavailable, "refused"), now_); }
  // "+a ~b -c" since the last call.
  std::string reported() {
    std::string out;
    for (const Event& event : std::exchange(events_, {})) {
      constexpr std::string_view kSigns = "+~-";
      out += (out.empty() ? "" : " ");
      out += kSigns[static_cast<std::size_t>(event.type)] + event.object->meta().name;
    }
    return out;
  }
  // Through the first listing: a and b exist, at revision 5.
  void sync() {
    ASSERT_EQ(next(), "stream initial");
    ASSERT_TRUE(add("a", 2) && add("b", 3) && bookmark(5, true));
    ASSERT_EQ(reported(), "+a +b");
    ASSERT_TRUE(reflector_.synced());
  }

  const Form form_;
  Time now_ = Time{} + std::chrono::hours{1};
  SeededEntropy entropy_{1};
  std::vector<Event> events_;
  Reflector reflector_{{&api::kinds::node(), "v1"}, entropy_, [this](Event event) {
                         events_.push_back(std::move(event));
                       }};
};

}  // namespace muster::client
