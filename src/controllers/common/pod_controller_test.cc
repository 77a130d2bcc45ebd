#include "controllers/common/pod_controller.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "controllers/common/controller_testing.h"
#include "controllers/common/owners.h"
#include "controllers/common/pod_template.h"

namespace muster::controllers {
namespace {

const api::Kind& set_kind() { return apps_kind("ReplicaSet"); }

// Wants as many pods as there are annotations on its object.
class Counting final : public PodController {
 public:
  explicit Counting(client::ComponentContext context)
      : PodController("counting", std::move(context),
                      {{.kind = &set_kind(), .mirror = &sets_, .keys_of = own_key},
                       {.kind = &api::kinds::pod(),
                        .mirror = &pods_,
                        .keys_of =
                            [this](const Change& change) {
                              showed("ns/s", change);
                              return Keys{"ns/s"};
                            }}}),
        pods_({.owners = true}) {}

  bool whole = false;

 private:
  void reconcile(const std::string& key, Time now) override {
    begin_look(key);
    if (waits(key, now)) return;
    const api::ObjectPtr set = sets_.find("ns", "s");
    if (set == nullptr) return forget_writes(key);
    const std::size_t pods = pods_.owned_by(set->meta().uid).size();
    const std::size_t wanted = set->meta().annotations.size();
    PodBatch batch{.key = key,
                   .owner = set,
                   .count = wanted > pods ? wanted - pods : 0,
                   .start_making =
                       [set] {
                         return [pod = api::Json(pod_from_template(*set))](std::size_t) {
                           return pod;
                         };
                       },
                   .whole = whole};
    create_pods(std::move(batch));
  }

  client::Mirror sets_;
  client::Mirror pods_;
};

class PodControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return counting_; }
  api::ObjectPtr set(int pods) {
    std::string annotations;
    for (int i = 0; i < pods; ++i)
      annotations += fmt::format(R"({}"a{}":"")", i == 0 ? "" : ",", i);
    return object(
        set_kind(),
        fmt::format(R"({{"metadata":{{"name":"s","namespace":"ns","uid":"us","annotations":{{{}}}}},
        "spec":{{"template":{{"metadata":{{"labels":{{"a":"b"}},"finalizers":["x/y"]}},"spec":{{"hostname":"h"}}}}}}}})",
                    annotations));
  }
  api::ObjectPtr pod(std::string_view name) {
    return object(api::kinds::pod(),
                  fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}",
        "ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"us","controller":true}}]}}}})",
                              name));
  }
  Counting counting_{context()};
};

TEST_F(PodControllerTest, PodsComeFromTheTemplate) {
  show(set(1));
  sync();
  EXPECT_EQ(asked(), Texts{"create pods"});
  EXPECT_EQ(
      api::to_text(body(0)),
      R"({"metadata":{"generateName":"s-","namespace":"ns","labels":{"a":"b"},"annotations":{},"finalizers":["x/y"],)"
      R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s","uid":"us","controller":true,)"
      R"("blockOwnerDeletion":true}]},"spec":{"hostname":"h"}})");
}

TEST_F(PodControllerTest, BatchesDoubleWhileAllGoesWell) {
  show(set(6));
  sync();
  EXPECT_EQ(asked().size(), 1U);
  answer(0, pod("a"));
  EXPECT_EQ(asked().size(), 2U);
  answer(1, pod("b"));
  EXPECT_EQ(asked().size(), 0U) << "the batch is not whole";
  answer(2, pod("c"));
  EXPECT_EQ(asked().size(), 3U) << "the rest";
  answer(3, pod("d"));
  refuse(4, Reason::Forbidden);
  refuse(5, Reason::Forbidden);
  asked();
  EXPECT_EQ(events_, (Texts{"SuccessfulCreate Created pod: a", "SuccessfulCreate Created pod: b",
                            "SuccessfulCreate Created pod: c", "SuccessfulCreate Created pod: d",
                            "FailedCreate Error creating: no"}));
}

TEST_F(PodControllerTest, AfterAFailureTheNextLookStartsSlowly) {
  show(set(3));
  sync();
  asked();
  refuse(0, Reason::Forbidden);
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{10};
  EXPECT_EQ(asked(), Texts{"create pods"});
}

TEST_F(PodControllerTest, WhatIsUselessUnlessWholeIsMadeAtOnceAfterTheFirst) {
  counting_.whole = true;
  show(set(6));
  sync();
  EXPECT_EQ(asked().size(), 1U);
  answer(0, pod("a"));
  EXPECT_EQ(asked().size(), 5U);
}

TEST_F(PodControllerTest, LooksAgainOnlyWhenTheFeedsShowItsWrites) {
  show(set(1));
  sync();
  asked();
  const api::ObjectPtr made = pod("a");
  answer(0, made);
  now_ += std::chrono::seconds{10};
  EXPECT_EQ(asked(), Texts{}) << "otherwise it would make a second pod";
  show(made, Type::Added);
  EXPECT_EQ(asked(), Texts{});
  show(made, Type::Deleted);
  EXPECT_EQ(asked(), Texts{"create pods"});
}

TEST_F(PodControllerTest, AnOlderVersionIsNotWhatItWrote) {
  show(set(1));
  sync();
  asked();
  const api::ObjectPtr older = pod("a");
  const api::ObjectPtr written = pod("a");
  answer(0, written);
  show(older, Type::Added);
  show(set(2));
  EXPECT_EQ(asked(), Texts{}) << "the feeds lag behind";
  show(written);
  EXPECT_EQ(asked(), Texts{"create pods"});
}

TEST_F(PodControllerTest, DoesNotWaitForEverForWhatTheFeedsNeverShow) {
  show(set(1));
  sync();
  asked();
  answer(0, pod("a"));
  now_ += OwnWrites::kPatience - std::chrono::seconds{1};
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(asked(), Texts{"create pods"});
}

}  // namespace
}  // namespace muster::controllers
