#include "controllers/common/writing_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "controllers/common/controller_testing.h"

namespace muster::controllers {
namespace {

constexpr std::size_t kMiB = 1UL << 20U;
// What the controller may have under way: by batches, and with what looks write themselves.
constexpr std::size_t kBatchBytes = 16 * kMiB;
constexpr std::size_t kLookBytes = 32 * kMiB;
constexpr std::size_t kSlack = 2 * kMiB;  // the last request, and what is not its text

const api::Kind& set_kind() { return apps_kind("ReplicaSet"); }

// Makes large pods for each set, once; their names begin with that of the set.
class Maker final : public WritingController {
 public:
  explicit Maker(client::ComponentContext context)
      : WritingController("maker", std::move(context),
                          {{.kind = &set_kind(), .mirror = &sets_, .keys_of = own_key}}) {}

  std::size_t count = 1;  // of each set
  std::map<std::string, std::size_t> count_of;
  bool all_after_first = false;
  bool at_once = false;  // as a call of the look itself
  std::size_t pod_bytes = kMiB;
  std::size_t made = 0;
  std::size_t looks = 0;

 private:
  api::Request request(const std::string& key) const {
    return client::create_request(
        api::kinds::pod(), "ns",
        api::JsonObject{{"metadata", api::JsonObject{{"generateName", key}}},
                        {"spec", api::JsonObject{{"hostname", std::string(pod_bytes, 'x')}}}});
  }
  void reconcile(const std::string& key, Time now) override {
    begin_look(key);
    if (waits(key, now) || done_.contains(key)) return;
    ++looks;
    if (at_once) {
      done_[key] = true;
      return write_call(key, request(key));
    }
    const auto own = count_of.find(key);
    write_in_batches(key,
                     {.count = own == count_of.end() ? count : own->second,
                      .start_making = [this, key]() -> Make {
                        return [this, key](std::size_t) {
                          ++made;
                          return request(key);
                        };
                      },
                      .all_after_first = all_after_first},
                     [this, key](std::size_t, const client::Outcome& outcome, Time) {
                       done_[key] = outcome.has_value();
                       if (!outcome) done_.erase(key);
                       return !outcome;
                     });
  }

  client::Mirror sets_;
  std::map<std::string, bool> done_;  // by key
};

class WritingControllerTest : public ControllerTest {
 protected:
  client::Component& controller() override { return maker_; }
  void show_set(const std::string& name, std::string_view name_space = "ns") {
    show(object(set_kind(), fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"{1}",
        "uid":"u-{0}"}}}})",
                                        name, name_space)));
  }
  void show_sets(int count) {
    for (int i = 0; i < count; ++i) show_set(fmt::format("s{:03}", i));
    sync();
  }
  // Looks at what is due, and hears what was asked for.
  void run() {
    asked();
    for (; heard_ < calls_.size(); ++heard_) {
      under_way_bytes_ += kMiB;
      std::string of(api::find_string(api::part_of(body(heard_), "metadata"), "generateName"));
      ++sent_for_[of];
      order_.push_back(std::move(of));
      sent_[calls_[heard_]].first.body = nullptr;  // the test has no room for all of them either
    }
    most_ = std::max(most_, under_way_bytes_);
  }
  // Answers the oldest call.
  void answer_next() {
    under_way_bytes_ -= kMiB;
    answer(answered_++, object(api::kinds::pod(), R"({"metadata":{"name":"p","namespace":"ns"}})"));
    run();
  }
  void refuse_next() {
    under_way_bytes_ -= kMiB;
    refuse(answered_++, Reason::Forbidden);
    run();
  }
  void answer_all() {
    while (answered_ < calls_.size()) answer_next();
  }

  Maker maker_{context()};
  std::size_t heard_ = 0;
  std::size_t answered_ = 0;
  std::size_t under_way_bytes_ = 0;
  std::size_t most_ = 0;                         // of those
  std::map<std::string, std::size_t> sent_for_;  // by key
  Texts order_;                                  // keys of calls
};

TEST_F(WritingControllerTest, NothingIsMadeBeforeItIsSent) {
  maker_.count = 500;
  show_sets(1);
  run();
  EXPECT_EQ(maker_.made, 1U);
  answer_next();
  EXPECT_EQ(maker_.made, 3U);
}

TEST_F(WritingControllerTest, WhatIsUnderWayIsBoundedHoweverManyKeysAreDue) {
  maker_.count = 3;
  show_sets(40);
  run();
  EXPECT_LE(maker_.made * kMiB, kBatchBytes + kSlack);
  EXPECT_EQ(maker_.looks, 40U) << "a look costs nothing until its turn has come";
  answer_all();
  EXPECT_LE(most_, kBatchBytes + kSlack);
  EXPECT_EQ(sent_for_.size(), 40U);
  for (const auto& [key, sent] : sent_for_) EXPECT_EQ(sent, 3U) << key;
  EXPECT_EQ(maker_.looks, 40U);
}

TEST_F(WritingControllerTest, KeysTakeTurns) {
  maker_.count_of["ns/a"] = 200;
  maker_.all_after_first = true;
  show_set("a");
  sync();
  run();
  answer_next();
  EXPECT_LT(sent_for_["ns/a"], 20U);
  show_set("b");
  run();
  EXPECT_EQ(sent_for_.count("ns/b"), 0U);
  answer_next();
  answer_next();
  EXPECT_EQ(sent_for_["ns/b"], 1U) << "it does not wait for all the others of the first";
}

// However many sets of the one wait, the other's is the next but one.
TEST_F(WritingControllerTest, NamespacesTakeTurns) {
  show_sets(200);
  run();
  show_set("b", "quiet");
  run();
  EXPECT_EQ(sent_for_.count("quiet/b"), 0U);
  answer_next();
  answer_next();
  EXPECT_EQ(sent_for_["quiet/b"], 1U);
}

TEST_F(WritingControllerTest, SmallRequestsAreBoundedByTheirNumber) {
  maker_.pod_bytes = 1;
  maker_.count = 200;
  maker_.all_after_first = true;
  show_sets(20);
  run();
  for (int i = 0; i < 20; ++i) answer_next();
  EXPECT_EQ(calls_.size() - answered_, client::Controller::kCallsMax / 2);
  EXPECT_EQ(sent_for_.size(), 20U);
  show_set("b", "quiet");
  run();
  answer_next();
  answer_next();
  EXPECT_EQ(sent_for_["quiet/b"], 1U) << "it waits for one of the others";
  answer_all();
  for (const auto& [key, sent] : sent_for_) EXPECT_EQ(sent, 200U) << key;
}

TEST_F(WritingControllerTest, AKeyIsNotLookedAtWhileItWaitsForItsTurn) {
  show_sets(20);
  run();
  ASSERT_EQ(sent_for_.count("ns/s019"), 0U);
  show_set("s019");
  now_ += std::chrono::seconds{1};
  run();
  EXPECT_EQ(maker_.looks, 20U);
  answer_all();
  EXPECT_EQ(sent_for_["ns/s019"], 1U);
}

TEST_F(WritingControllerTest, AFailureEndsWhatWaitsForItsTurn) {
  maker_.count = 200;
  maker_.all_after_first = true;
  show_sets(1);
  run();
  answer_next();
  const std::size_t sent = calls_.size();
  refuse_next();
  answer_all();
  EXPECT_EQ(calls_.size(), sent);
  EXPECT_EQ(maker_.looks, 1U);
}

TEST_F(WritingControllerTest, LooksWaitIfTheyHaveWrittenTooMuchThemselves) {
  maker_.at_once = true;
  show_sets(50);
  run();
  EXPECT_LE(most_, kLookBytes + kSlack);
  EXPECT_LT(maker_.looks, 40U);
  while (answered_ < calls_.size()) {
    answer_next();
    now_ += std::chrono::milliseconds{100};
    run();
  }
  EXPECT_LE(most_, kLookBytes + kSlack);
  EXPECT_EQ(maker_.looks, 50U);
  EXPECT_EQ(sent_for_.size(), 50U);
}

TEST_F(WritingControllerTest, BatchesDoNotKeepLooksOut) {
  maker_.count = 200;
  maker_.all_after_first = true;
  show_sets(1);
  run();
  answer_next();
  maker_.at_once = true;
  show_set("other");
  run();
  EXPECT_EQ(order_.back(), "ns/other");
}

}  // namespace
}  // namespace muster::controllers
