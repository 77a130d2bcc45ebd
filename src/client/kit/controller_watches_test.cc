#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "client/kit/controller.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

bool is_foreign(const api::Object& object) {
  return api::lookup(object.meta().labels, "foreign") != nullptr;
}

// Watches pods without a mirror and nodes with one; adds what the test says.
class Watcher final : public Controller {
 public:
  explicit Watcher(ComponentContext context)
      : Controller("watcher", std::move(context),
                   {{.kind = &api::kinds::pod(),
                     .keys_of =
                         [this](const Change& change) {
                           changes += change.before ? "-" : "";
                           changes += change.after ? "+" : "";
                           return own_key(change);
                         },
                     .only = [](const api::Object& pod) { return !is_foreign(pod); }},
                    {.kind = &api::kinds::node(),
                     .mirror = &nodes_,
                     .keys_of = own_key,
                     .only = [](const api::Object& node) { return !is_foreign(node); }}}) {}

  using Controller::finish;
  using Controller::mirror_of;
  const Mirror& nodes() const { return nodes_; }

  Texts looked;
  std::string changes;               // of pods
  std::uint64_t cost = 0;            // of each look
  std::optional<api::Request> make;  // at each look

 private:
  void reconcile(const std::string& key, Time /*now*/) override {
    looked.push_back(key);
    charge(cost);
    if (make) call(key, *make);
  }

  Mirror nodes_;
};

class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() { watcher_.apply(Synced{}, now_); }

  void happen(const api::Kind& kind, std::string_view name, bool foreign = false,
              Event::Type type = Event::Type::Added) {
    const auto document = api::parse_json(
        fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","labels":{{{}}}}}}})", name,
                    kind.namespaced ? "ns" : "", foreign ? R"("foreign":"")" : ""));
    watcher_.apply(Event{type, api::Object::make(kind, document->value)}, now_);
  }
  Texts looked() {
    while (watcher_.run_once(now_, 10) > 0) {
    }
    return std::exchange(watcher_.looked, {});
  }

  Time now_{seconds{100}};
  std::size_t sent_ = 0;
  Watcher watcher_{{.send = [this](const api::Request&, std::uint64_t) { ++sent_; }}};
};

TEST_F(WatcherTest, SaysWhatItWatchesAndWhereItKeepsIt) {
  EXPECT_EQ(watcher_.watched_kinds(),
            (std::vector<const api::Kind*>{&api::kinds::pod(), &api::kinds::node()}));
  EXPECT_EQ(watcher_.mirror_of(api::kinds::node()), &watcher_.nodes());
  EXPECT_EQ(watcher_.mirror_of(api::kinds::pod()), nullptr);
  EXPECT_EQ(watcher_.mirror_of(api::kinds::lease()), nullptr);
}

TEST_F(WatcherTest, WithoutAMirrorEveryChangeIsTold) {
  happen(api::kinds::pod(), "a");
  happen(api::kinds::pod(), "a", false, Event::Type::Modified);
  happen(api::kinds::pod(), "a", false, Event::Type::Deleted);
  happen(api::kinds::pod(), "b", true);
  happen(api::kinds::pod(), "b", true, Event::Type::Deleted);
  EXPECT_EQ(watcher_.changes, "++-");
  EXPECT_EQ(looked(), Texts{"ns/a"});
}

TEST_F(WatcherTest, WhatBecomesForeignIsGone) {
  happen(api::kinds::node(), "n");
  EXPECT_EQ(looked(), Texts{"n"});
  EXPECT_NE(watcher_.nodes().find("", "n"), nullptr);
  happen(api::kinds::node(), "n", true, Event::Type::Modified);
  EXPECT_EQ(looked(), Texts{"n"});
  EXPECT_EQ(watcher_.nodes().find("", "n"), nullptr);
  happen(api::kinds::node(), "n", true, Event::Type::Deleted);
  EXPECT_EQ(looked(), Texts{});
}

TEST_F(WatcherTest, WhatALookSaysItCostCountsAsTurns) {
  for (const char* name : {"a", "b"}) happen(api::kinds::pod(), name);
  for (const char* name : {"x", "y", "z"}) happen(api::kinds::node(), name);
  watcher_.cost = 2 * WorkQueue::kChargeUnit;
  watcher_.run_once(now_, 1);
  watcher_.cost = 0;
  EXPECT_EQ(looked(), (Texts{"ns/a", "x", "y", "z", "ns/b"}));
}

TEST_F(WatcherTest, LooksAtNothingWhileRequestsUnderWayAreTooLarge) {
  api::Request large;
  large.verb = api::Verb::Create;
  large.body = std::string(Controller::kCallBytesMax / 2, 'x');
  watcher_.make = large;
  for (const char* name : {"a", "b", "c"}) happen(api::kinds::pod(), name);
  EXPECT_EQ(looked(), (Texts{"ns/a", "ns/b"}));
  EXPECT_EQ(watcher_.next_deadline(), std::nullopt);
  watcher_.apply(Called{1, api::Answer{}}, now_);
  EXPECT_EQ(looked(), Texts{"ns/c"});
  EXPECT_EQ(sent_, 3U);
}

// The pauses of a key that keeps failing are for looks that fail.
TEST_F(WatcherTest, ALookThatFindsNothingToDoForgetsEarlierFailures) {
  for (int i = 0; i < 3; ++i) watcher_.finish("k", fail(Reason::InternalError, "no"), now_);
  EXPECT_EQ(watcher_.next_deadline(), now_ + milliseconds{50}) << "the earliest";
  now_ += seconds{1};
  EXPECT_EQ(looked(), Texts{"k"});
  watcher_.finish("k", fail(Reason::InternalError, "no"), now_);
  EXPECT_EQ(watcher_.next_deadline(), now_ + milliseconds{50});
}

}  // namespace
}  // namespace muster::client
