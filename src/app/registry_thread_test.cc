#include "app/registry_thread.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/server.h"
#include "server/core/testing/replaced_engine.h"
#include "store/engines/memory.h"

namespace muster::app {
namespace {

class RegistryThreadTest : public ::testing::Test {
 protected:
  RegistryThreadTest() : store_(store::Store::open(store::make_memory_engine()).value()) {
    window_.start(store_->compacted());
    store_->listen([this](std::span<const store::Change> changes) { window_.append(changes); });
    reader_.emplace(*store_, window_);
    registry_.emplace(*store_, entropy_);
    server::bootstrap(*registry_, *store_, clock_.now());
    thread_.emplace(*registry_, *store_, clock_);
    server_.emplace(*reader_, thread_->post());
  }

  static api::Request about_node(api::Verb verb, const std::string& name) {
    api::Request request;
    request.verb = verb;
    request.kind = &api::kinds::node();
    request.version = "v1";
    request.name = name;
    request.body = api::JsonObject{{"metadata", api::JsonObject{{"name", name}}}};
    return request;
  }

  const SystemClock clock_;
  SystemEntropy entropy_;
  const std::unique_ptr<store::Store> store_;
  watch::Window window_;
  std::optional<server::Reader> reader_;
  std::optional<server::Registry> registry_;
  std::optional<RegistryThread> thread_;
  std::optional<server::Server> server_;
};

// A request to a registry that has ended, or is full, gets an answer: the reply is not lost with
// the refused request.
TEST_F(RegistryThreadTest, ARefusedRequestIsAnswered) {
  thread_->stop();
  std::optional<Result<api::Answer>> answer;
  server_->handle(about_node(api::Verb::Create, "n"),
                  [&](Result<api::Answer> got) { answer = std::move(got); });
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->has_value());
  EXPECT_EQ(answer->error().reason, Reason::TooManyRequests);
}

// A clock that the test moves on.
class ManualClock final : public Clock {
 public:
  Time now() const override { return Time(Duration(ticks_.load())); }
  void advance(Duration by) { ticks_ += by.count(); }

 private:
  std::atomic<Duration::rep> ticks_ = 1'000'000;
};

// What cannot be decided in time when the server stops is refused, not left without an answer.
TEST_F(RegistryThreadTest, WhatIsLateAtTheEndIsRefused) {
  thread_->stop();
  ManualClock clock;
  RegistryThread late(*registry_, *store_, clock);
  const server::Server server(*reader_, late.post());

  // This one is answered on the registry's thread, which it keeps until the time to stop is over.
  std::promise<void> release;
  server.handle(about_node(api::Verb::Delete, "missing"),
                [&](const Result<api::Answer>&) { release.get_future().wait(); });
  std::atomic<int> sent = 0;
  std::atomic<int> stopping = 0;
  std::atomic<bool> closed = false;
  const auto create = [&] {
    server.handle(about_node(api::Verb::Create, fmt::format("n{}", ++sent)),
                  [&](const Result<api::Answer>& answer) {
                    ASSERT_FALSE(answer);
                    closed = closed || answer.error().reason == Reason::TooManyRequests;
                    stopping += answer.error().reason == Reason::ServiceUnavailable ? 1 : 0;
                  });
  };
  create();
  std::thread stopper([&] { late.stop(); });
  while (!closed) {
    create();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});  // not to fill the mailbox
  }
  clock.advance(std::chrono::seconds{10});
  release.set_value();
  stopper.join();
  EXPECT_EQ(stopping, sent - 1) << "all but the one that found the mailbox closed";
  EXPECT_EQ(store_->get("nodes/n1"), nullptr);
}

// S-H7: a crowd of one user's requests delays others by one of them.
TEST_F(RegistryThreadTest, UsersTakeTurns) {
  std::promise<void> begun;
  std::promise<void> release;
  std::promise<void> done;
  std::string order;  // written by the registry's thread
  // Answered on the registry's thread at once, as there is no such node.
  const auto ask = [&](const std::string& user, std::function<void()> answered) {
    api::Request request = about_node(api::Verb::Delete, "missing");
    request.user.name = user;
    server_->handle(std::move(request),
                    [answered = std::move(answered)](const Result<api::Answer>&) { answered(); });
  };
  ask("crowd", [&] {
    begun.set_value();
    release.get_future().wait();
  });
  begun.get_future().wait();
  for (int i = 0; i < 200; ++i) ask("crowd", [&] { order += 'c'; });
  ask("late", [&] { order += 'L'; });
  ask("other", [&] { order += 'O'; });
  ask("late", [&] { order += 'M'; });
  ask("crowd", [&] { done.set_value(); });
  release.set_value();
  done.get_future().wait();
  EXPECT_EQ(order.substr(0, 6), "cLOcMc");
  EXPECT_EQ(order.size(), 203U);
}

// Everybody writes to everything at once: batches are decided and committed side by side, and no
// change is lost.
TEST_F(RegistryThreadTest, NoWriteIsLostBetweenDecidingAndCommitting) {
  constexpr int kWriters = 4;
  constexpr int kNodes = 8;
  constexpr int kRounds = 25;
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  const auto count = [&](const Result<api::Answer>& answer) {
    if (!answer) ++failed;
    ++answered;
  };
  for (int node = 0; node < kNodes; ++node)
    server_->handle(about_node(api::Verb::Create, fmt::format("n{}", node)), count);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([&, writer] {
      for (int round = 0; round < kRounds; ++round)
        for (int node = 0; node < kNodes; ++node) {
          api::Request patch = about_node(api::Verb::Patch, fmt::format("n{}", node));
          patch.patch_type = api::PatchType::Merge;
          const std::string label = fmt::format("w{}-{}", writer, round);
          patch.body = api::JsonObject{
              {"metadata", api::JsonObject{{"labels", api::JsonObject{{label, "1"}}}}}};
          server_->handle(std::move(patch), count);
        }
    });
  for (std::thread& writer : writers) writer.join();
  // stop() has little patience, and a busy machine takes its time.
  while (answered < kNodes + kWriters * kRounds * kNodes)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  thread_->stop();
  EXPECT_EQ(answered, kNodes + kWriters * kRounds * kNodes);
  EXPECT_EQ(failed, 0);
  for (int node = 0; node < kNodes; ++node)
    EXPECT_EQ(store_->get(fmt::format("nodes/n{}", node))->meta().labels.size(),
              kWriters * kRounds);
}

// An engine whose disk is full while `full` says so.
class FillingEngine final : public store::Engine {
 public:
  explicit FillingEngine(const std::atomic<bool>& full) : full_(full) {}
  Result<store::Contents> load() override { return inner_->load(); }
  Result<std::vector<Result<api::Revision>>> commit(std::span<store::Transaction> batch) override {
    TRY(probe());
    return inner_->commit(batch);
  }
  void set_sink(Sink sink) override { inner_->set_sink(std::move(sink)); }
  Result<api::Revision> compact(api::Revision revision) override {
    TRY(probe());
    return inner_->compact(revision);
  }
  Result<void> remember(store::Waypoint waypoint) override {
    TRY(probe());
    return inner_->remember(waypoint);
  }
  Result<void> copy_to(const std::string& directory) override { return inner_->copy_to(directory); }
  Result<void> probe() override {
    if (full_) return fail(Reason::InternalError, "no space left on device");
    return {};
  }

 private:
  const std::atomic<bool>& full_;
  std::unique_ptr<store::Engine> inner_ = store::make_memory_engine();
};

// An engine whose disk gives nothing back.
class SlowDisk final : public server::ReplacedEngine {
 public:
  std::size_t unreclaimed() const override { return SIZE_MAX; }
};

TEST(RegistryThreadPace, WhoWritesMuchWaitsWhileTheDiskCannotKeepUp) {
  const auto store = store::Store::open(std::make_unique<SlowDisk>()).value();
  watch::Window window;
  window.start(store->compacted());
  store->listen([&](std::span<const store::Change> changes) { window.append(changes); });
  const ManualClock clock;  // it is always the same second
  SystemEntropy entropy;
  server::Registry registry(*store, entropy);
  server::bootstrap(registry, *store, clock.now());
  RegistryThread thread(registry, *store, clock);
  const std::string megabyte(1'000'000, 'x');
  const auto write = [&](const std::string& user, const std::string& name) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = api::find_kind("", "ConfigMap");
    request.version = "v1";
    request.name_space = "default";
    request.name = name;
    request.user.name = user;
    request.body = api::JsonObject{{"metadata", api::JsonObject{{"name", name}}},
                                   {"data", api::JsonObject{{"text", megabyte}}}};
    std::promise<Result<api::Answer>> promise;
    server::Reply reply = [&](Result<api::Answer> got) { promise.set_value(std::move(got)); };
    EXPECT_TRUE(thread.post()(request, reply));
    return promise.get_future().get();
  };
  std::size_t written = 0;
  Result<api::Answer> answer = write("greedy", "greedy-0");
  for (; answer && written < 100; answer = write("greedy", fmt::format("greedy-{}", written)))
    ++written;
  ASSERT_FALSE(answer) << "all of " << written << " MB was written";
  EXPECT_EQ(answer.error().reason, Reason::TooManyRequests);
  EXPECT_EQ(answer.error().retry_after_s, 1);
  EXPECT_EQ(written, WritePace::kBytes / 2 / megabyte.size() + 1);
  EXPECT_TRUE(write("modest", "modest"));
}

// S-M5: who is not ready gets no writes, so somebody else must find out that the disk has room.
TEST(RegistryThreadHealth, RecoversWithoutAWrite) {
  std::atomic<bool> full = false;
  const auto store = store::Store::open(std::make_unique<FillingEngine>(full)).value();
  watch::Window window;
  window.start(store->compacted());
  store->listen([&](std::span<const store::Change> changes) { window.append(changes); });
  const SystemClock clock;
  SystemEntropy entropy;
  server::Registry registry(*store, entropy);
  RegistryThread thread(registry, *store, clock);
  full = true;
  const auto wait_until = [&](bool writable) {
    for (int tries = 0; tries < 3'000; ++tries) {
      if (store->health().why_not_writable().has_value() != writable) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
  };
  api::Request request;
  request.verb = api::Verb::Create;
  request.kind = &api::kinds::node();
  request.version = "v1";
  request.name = "n";
  request.body = api::JsonObject{{"metadata", api::JsonObject{{"name", "n"}}}};
  std::promise<std::string> answer;
  server::Reply reply = [&](const Result<api::Answer>& got) {
    answer.set_value(got ? "created" : got.error().message);
  };
  ASSERT_TRUE(thread.post()(request, reply));
  EXPECT_NE(answer.get_future().get().find("no space left"), std::string::npos);
  EXPECT_TRUE(wait_until(false)) << "the write that failed shows";
  full = false;
  EXPECT_TRUE(wait_until(true));
}

}  // namespace
}  // namespace muster::app
