#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/views/controller_revision_view.h"
#include "controllers/common/controller_testing.h"
#include "controllers/common/revisions.h"
#include "controllers/statefulset/stateful_set_controller.h"
#include "controllers/statefulset/stateful_testing.h"

// For tests of the controller of StatefulSets only.
namespace muster::controllers {

class StatefulSetControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return controller_; }

  api::ObjectPtr set(std::string_view spec, std::string_view status = "",
                     std::int64_t generation = 1) {
    return object(stateful_set_kind(),
                  fmt::format(
                      R"({{"metadata":{{"name":"web","namespace":"ns","uid":"us","generation":{2}}},
        "spec":{{{0},"serviceName":"svc","selector":{{"matchLabels":{{"app":"web"}}}},
        "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c",
        "image":"i"}}]}}}}}},"status":{{{1}}}}})",
                      spec, status, generation));
  }
  // The revision that the last call asks for.
  api::ObjectPtr revision_of(std::size_t call) {
    api::Json document = body(call);
    api::ensure_object(document.get_object(), "metadata")["uid"] = "ur";
    return object(controller_revision_kind(), api::to_text(document));
  }
  // Shows what was made, and answers the call.
  void made(std::size_t call, const api::ObjectPtr& with) {
    answer(call, with);
    show(with, Type::Added);
    now_ += std::chrono::milliseconds{100};
  }
  // Everything up to the revision of the template.
  void start(const api::ObjectPtr& with) {
    show(with, Type::Added);
    sync();
    ASSERT_EQ(asked(), Texts{"create controllerrevisions"});
    revision_ptr_ = revision_of(0);
    made(0, revision_ptr_);
  }
  const std::string& revision_name() const { return revision_ptr_->meta().name; }
  api::ObjectPtr pod(PodText text) {
    if (text.revision == "web-a") text.revision = revision_name();
    return object(api::kinds::pod(), pod_json(text));
  }

  StatefulSetController controller_{context()};
  api::ObjectPtr revision_ptr_;
};

}  // namespace muster::controllers
