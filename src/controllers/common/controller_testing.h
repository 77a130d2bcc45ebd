#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/reading.h"
#include "client/component.h"
#include "controllers/common/testing_texts.h"

// Shorthands for tests of controllers.
namespace muster::controllers {

// Plays the API to one controller, step by step.
class ControllerTest : public ::testing::Test {
 protected:
  using Type = client::Event::Type;

  // Each has a newer revision than all before.
  api::ObjectPtr object(const api::Kind& kind, std::string_view json) {
    auto made = api::Object::make(kind, parsed(json));
    made->assign_revision({++revision_});
    return made;
  }
  client::ComponentContext context() {
    return {.send = [this](api::Request request, std::uint64_t ticket) {
      sent_.emplace_back(std::move(request), ticket);
    }};
  }
  virtual client::Component& controller() = 0;

  void show(api::ObjectPtr object, Type type = Type::Modified) {
    controller().apply(client::Event{type, std::move(object)}, now_);
  }
  void sync() { controller().apply(client::Synced{}, now_); }
  // What it asks for now, without events: "create pods", "patch pods/a".
  Texts asked() {
    while (controller().run_once(now_, 10) > 0) {
    }
    Texts out;
    for (; shown_ < sent_.size(); ++shown_) {
      const api::Request& request = sent_[shown_].first;
      if (request.kind == &api::kinds::event()) {
        events_.push_back(fmt::format("{} {}", api::find_string(request.body, "reason"),
                                      api::find_string(request.body, "message")));
        continue;
      }
      calls_.push_back(shown_);
      std::string text = request.verb == api::Verb::Create   ? "create "
                         : request.verb == api::Verb::Delete ? "delete "
                                                             : "patch ";
      text += request.kind->plural;
      if (!request.name.empty()) text += "/" + request.name;
      if (!request.subresource.empty()) text += "/" + request.subresource;
      out.push_back(std::move(text));
    }
    return out;
  }
  // Calls are counted from 0, without events.
  void answer(std::size_t call, const api::ObjectPtr& with) {
    api::Answer answer;
    answer.what = api::ObjectAnswer{.object = with, .revision = with->revision(), .created = true};
    controller().apply(client::Called{sent_[calls_.at(call)].second, std::move(answer)}, now_);
  }
  void refuse(std::size_t call, Reason reason) {
    controller().apply(client::Called{sent_[calls_.at(call)].second, fail(reason, "no")}, now_);
  }
  const api::Json& body(std::size_t call) const { return sent_[calls_.at(call)].first.body; }

  Time now_ = kNow;
  std::int64_t revision_ = 0;
  std::vector<std::pair<api::Request, std::uint64_t>> sent_;
  std::size_t shown_ = 0;
  std::vector<std::size_t> calls_;  // of sent_, without events
  Texts events_;                    // "reason message"
};

}  // namespace muster::controllers
