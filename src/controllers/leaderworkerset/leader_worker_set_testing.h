#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "controllers/common/controller_testing.h"
#include "controllers/leaderworkerset/leader_worker_set_controller.h"
#include "controllers/leaderworkerset/lws_objects.h"

// Shorthands of this room's tests.
namespace muster::controllers {

// A set "llm" whose template is large.
class LeaderWorkerSetControllerTest : public ControllerTest {
 protected:
  explicit LeaderWorkerSetControllerTest(api::Gates gates = {}) : controller_(gates, context()) {}
  client::Component& controller() override { return controller_; }

  void start(int replicas, int size, std::string_view more = "", std::size_t bytes = 64UL << 10U) {
    show(object(leader_worker_set_kind(),
                fmt::format(R"({{"metadata":{{"name":"llm","namespace":"ns","uid":"us",
        "generation":1}},"spec":{{"replicas":{},"leaderWorkerTemplate":{{"size":{},
        "workerTemplate":{{"spec":{{"nodeName":"{}"}}}}}}{}}}}})",
                            replicas, size, std::string(bytes, 'x'), more)));
    sync();
  }
  // Shows each object that was asked for, as it would be once its own controller has seen it; then
  // what is asked for next.
  Texts step() {
    return step_but([](const api::Request&) { return false; });
  }
  // The same, but for what `exists` says that it has shown something else of that name.
  Texts step_but(const std::function<bool(const api::Request&)>& exists) {
    for (; answered_ < calls_.size(); ++answered_) {
      const api::Request request = sent_[calls_[answered_]].first;
      if (exists(request)) {
        refuse(answered_, Reason::AlreadyExists);
        continue;
      }
      if (request.verb != api::Verb::Create) {
        refuse(answered_, Reason::NotFound);  // of a status: nobody reads it here
        continue;
      }
      api::Json document = request.body;
      api::JsonObject& metadata = api::ensure_object(document.as_object(), "metadata");
      metadata["uid"] = fmt::format("u{}", answered_);
      metadata["generation"] = 1;
      const api::Kind& kind = *request.kind;
      const api::ObjectPtr made = object(kind, api::to_text(document));
      answer(answered_, made);
      show(made, Type::Added);
      made_[kind.plural + "/" + made->meta().name] = made;
      if (&kind != &apps_kind("StatefulSet")) continue;
      document.as_object()["status"] =
          parsed(R"({"observedGeneration":1,"currentRevision":"r","updateRevision":"r"})");
      show(object(kind, api::to_text(document)));
    }
    now_ += std::chrono::seconds{1};
    return asked();
  }

  std::size_t answered_ = 0;
  std::map<std::string, api::ObjectPtr> made_;  // by plural and name, as they were shown
  LeaderWorkerSetController controller_;
};

}  // namespace muster::controllers
