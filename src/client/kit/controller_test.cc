#include "client/kit/controller.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

// Deletes pods that are labelled so; the least a controller can be.
class Janitor final : public Controller {
 public:
  explicit Janitor(ComponentContext context)
      : Controller("janitor", std::move(context),
                   {{.kind = &api::kinds::pod(),
                     .mirror = &pods_,
                     .keys_of = own_key,
                     .only = [](const api::Object& pod) {
                       return pod.meta().name_space != "kube-system";
                     }}}) {}

  Texts looked;

 private:
  void reconcile(const std::string& key, Time) override {
    looked.push_back(key);
    const auto [name_space, name] = split_key(key);
    const api::ObjectPtr pod = pods_.find(name_space, name);
    if (pod != nullptr && api::lookup(pod->meta().labels, "rubbish") != nullptr)
      call(key, delete_request(*pod, 0));
  }

  Mirror pods_;
};

class ControllerTest : public ::testing::Test {
 protected:
  void pod(std::string_view name, bool rubbish = false, Event::Type type = Event::Type::Modified,
           std::string_view name_space = "ns") {
    const auto document = api::parse_json(
        fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","labels":{{{}}}}}}})", name,
                    name_space, rubbish ? R"("rubbish":"")" : ""));
    janitor_.apply(Event{type, api::Object::make(api::kinds::pod(), document->value)}, now_);
  }
  void sync() { janitor_.apply(Synced{}, now_); }
  // The keys that were looked at since.
  Texts looked() {
    while (janitor_.run_once(now_, 10) > 0) {
    }
    return std::exchange(janitor_.looked, {});
  }
  void answer(Outcome outcome = api::Answer{}) {
    janitor_.apply(Called{tickets_.back(), std::move(outcome)}, now_);
  }

  Time now_{seconds{100}};
  Metrics metrics_;
  std::vector<std::uint64_t> tickets_;  // of the calls it made
  std::chrono::nanoseconds stopwatch_{};
  Janitor janitor_{
      {.send = [this](const api::Request&, std::uint64_t ticket) { tickets_.push_back(ticket); },
       .metrics = &metrics_,
       .stopwatch = [this] { return stopwatch_ += milliseconds{500}; }}};
};

TEST_F(ControllerTest, LooksAtNothingBeforeItKnowsWhatExists) {
  pod("a");
  EXPECT_EQ(looked(), Texts{});
  EXPECT_EQ(janitor_.next_deadline(), std::nullopt);
  sync();
  EXPECT_EQ(looked(), Texts{"ns/a"});
}

TEST_F(ControllerTest, LooksAtWhatChangesAndIgnoresWhatIsNotItsBusiness) {
  sync();
  pod("a");
  pod("b");
  pod("a");
  pod("kube-proxy", true, Event::Type::Added, "kube-system");
  EXPECT_EQ(looked(), (Texts{"ns/a", "ns/b"}));
  pod("b", false, Event::Type::Deleted);
  EXPECT_EQ(looked(), Texts{"ns/b"});
  pod("never-seen", false, Event::Type::Deleted);
  EXPECT_EQ(looked(), Texts{});
}

TEST_F(ControllerTest, RunOnceDoesNoMoreThanItsLimit) {
  sync();
  for (const std::string_view name : {"a", "b", "c"}) pod(name);
  EXPECT_EQ(janitor_.run_once(now_, 2), 2U);
  EXPECT_EQ(janitor_.run_once(now_, 2), 1U);
  EXPECT_EQ(janitor_.run_once(now_, 2), 0U);
}

TEST_F(ControllerTest, WhatChangesDuringACallIsLookedAtAfterwards) {
  sync();
  pod("a", true);
  EXPECT_EQ(looked(), Texts{"ns/a"});
  pod("a", true);
  EXPECT_EQ(looked(), Texts{}) << "a call is under way";
  answer();
  EXPECT_EQ(looked(), Texts{"ns/a"});
  EXPECT_EQ(tickets_.size(), 2U);
  answer();
  EXPECT_EQ(looked(), Texts{}) << "nothing changed meanwhile";
}

TEST_F(ControllerTest, FailuresAreTriedAgainLaterAndLater) {
  sync();
  pod("a", true);
  looked();
  for (const int pause_ms : {50, 100, 200}) {
    answer(fail(Reason::TooManyRequests, "busy"));
    EXPECT_EQ(looked(), Texts{});
    ASSERT_EQ(janitor_.next_deadline(), now_ + milliseconds{pause_ms});
    now_ = *janitor_.next_deadline();
    EXPECT_EQ(looked(), Texts{"ns/a"});
  }
  answer();
  pod("a", true);
  looked();
  answer(fail(Reason::TooManyRequests, "busy"));
  EXPECT_EQ(janitor_.next_deadline(), now_ + milliseconds{50}) << "a success makes it short again";
}

TEST_F(ControllerTest, WhatIsGoneIsNoFailure) {
  sync();
  pod("a", true);
  looked();
  answer(fail(Reason::NotFound, "gone"));
  EXPECT_EQ(janitor_.next_deadline(), std::nullopt);
}

TEST_F(ControllerTest, CountsItsWorkAndItsCalls) {
  sync();
  pod("a", true);
  looked();
  answer();
  const std::string text = metrics_.text();
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"janitor\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("muster_controller_objects_read_total{name=\"janitor\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_work_duration_seconds_sum{name=\"janitor\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr(R"(rest_client_requests_total{code="200",host="loopback",)"
                              R"(method="DELETE"} 1)"));
}

TEST_F(ControllerTest, LooksAtNothingWhileTooManyCallsAreUnderWay) {
  sync();
  for (std::size_t i = 0; i < Controller::kCallsMax + 10; ++i) pod(fmt::format("p{}", i), true);
  EXPECT_EQ(looked().size(), Controller::kCallsMax);
  EXPECT_EQ(janitor_.next_deadline(), std::nullopt) << "an answer leads to the next look";
  answer();
  EXPECT_EQ(looked().size(), 1U);
}

TEST_F(ControllerTest, ATenantsManyKeysDelayOthersByOne) {
  sync();
  for (int i = 0; i < 1000; ++i) pod(fmt::format("p{}", i), false, Event::Type::Added, "crowd");
  pod("a", false, Event::Type::Added, "quiet");
  janitor_.run_once(now_, 2);
  EXPECT_EQ(janitor_.looked, (Texts{"crowd/p0", "quiet/a"}));
}

// Reads as many pods of its namespace as there are, at each look.
class Reader final : public Controller {
 public:
  explicit Reader(ComponentContext context)
      : Controller("reader", std::move(context),
                   {{.kind = &api::kinds::pod(), .mirror = &pods_, .keys_of = own_key}}),
        pods_({.namespaces = true}) {}

  Texts looked;

 private:
  void reconcile(const std::string& key, Time /*now*/) override {
    looked.push_back(key);
    pods_.in_namespace(split_key(key).name_space);
  }

  Mirror pods_;
};

TEST(Controller, ALookAtManyObjectsCountsAsManyTurns) {
  Reader reader({.send = [](const api::Request&, std::uint64_t) {}});
  const Time now{seconds{100}};
  const auto add = [&](std::string_view name_space, int count) {
    for (int i = 0; i < count; ++i) {
      const auto document = api::parse_json(
          fmt::format(R"({{"metadata":{{"name":"p{}","namespace":"{}"}}}})", i, name_space));
      reader.apply(Event{Event::Type::Added, api::Object::make(api::kinds::pod(), document->value)},
                   now);
    }
  };
  reader.apply(Synced{}, now);
  add("large", 5 * WorkQueue::kChargeUnit);
  add("small", 20);
  reader.run_once(now, 9);
  EXPECT_EQ(reader.looked, (Texts{"large/p0", "small/p0", "small/p1", "small/p2", "small/p3",
                                  "small/p4", "small/p5", "large/p1", "small/p6"}));
}

TEST(SplitKeyTest, GivesNamespaceAndName) {
  EXPECT_EQ(split_key("ns/a").name_space, "ns");
  EXPECT_EQ(split_key("ns/a").name, "a");
  EXPECT_EQ(split_key("a").name_space, "");
  EXPECT_EQ(split_key("a").name, "a");
}

// Says of every pod that it saw it.
class Herald final : public Controller {
 public:
  explicit Herald(ComponentContext context)
      : Controller("herald", std::move(context),
                   {{.kind = &api::kinds::pod(), .mirror = &pods_, .keys_of = own_key}}) {}

 private:
  void reconcile(const std::string& key, Time now) override {
    const auto [name_space, name] = split_key(key);
    record(*pods_.find(name_space, name), {"Normal", "Seen", "Seeing", "Saw " + key}, now);
  }

  Mirror pods_;
};

TEST(Controller, SendsTheEventsItRecordsAndTriesAgain) {
  std::vector<std::pair<api::Request, std::uint64_t>> sent;
  Herald herald({.send = [&](api::Request request, std::uint64_t ticket) {
    sent.emplace_back(std::move(request), ticket);
  }});
  const Time now{seconds{100}};
  const auto document = api::parse_json(R"({"metadata":{"name":"a","namespace":"ns"}})");
  herald.apply(Event{Event::Type::Added, api::Object::make(api::kinds::pod(), document->value)},
               now);
  herald.apply(Synced{}, now);
  herald.run_once(now, 10);
  ASSERT_EQ(sent.size(), 1U);
  const std::string text = api::to_text(sent[0].first.body);
  EXPECT_THAT(text, HasSubstr(R"("message":"Saw ns/a")"));
  EXPECT_THAT(text, HasSubstr(R"("source":{"component":"herald-controller"})"));

  EXPECT_EQ(herald.next_deadline(), std::nullopt);
  herald.apply(Called{sent[0].second, fail(Reason::ServiceUnavailable, "later")}, now);
  const std::optional<Time> again = herald.next_deadline();
  ASSERT_TRUE(again);
  herald.run_once(*again, 10);
  EXPECT_EQ(sent.size(), 2U);
}

}  // namespace
}  // namespace muster::client
