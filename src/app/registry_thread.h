#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/commit_thread.h"
#include "app/write_pace.h"
#include "base/fair_queue.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/thread_name.h"
#include "base/time.h"
#include "server/core/server.h"
#include "server/core/write/batch.h"
#include "server/core/write/registry.h"
#include "store/compactor.h"
#include "store/store.h"

namespace muster::app {

// The one thread that decides about writes. Users take turns, a request each: a crowd of one user's
// requests, or of a component's, delays others by one of them. A second thread commits what was
// decided with one sync and answers; meanwhile the next batch is decided, up to kBatchBytes, since
// every request waits for its whole batch. A request about many objects is decided in slices, one
// between any two looks into the mailbox, so nobody waits for more than a few milliseconds of
// somebody else's work.
class RegistryThread {
 public:
  RegistryThread(server::Registry& registry, store::Store& store, const Clock& clock,
                 const store::HistorySize& history_max = store::kHistoryMax)
      : registry_(registry),
        store_(store),
        clock_(clock),
        mailbox_(kMailboxCapacity),
        compactor_(store, history_max),
        commits_(store, [this] { wake(); }) {
    registry_.set_await([this] { commits_.await(); });
    thread_ = std::thread([this] { run(); });
  }
  ~RegistryThread() { stop(); }

  // How requests come in, from any thread.
  server::Server::Post post() {
    return [this](api::Request& request, server::Reply& reply) {
      return mailbox_.try_push(std::in_place, std::move(request), std::move(reply));
    };
  }

  // Answers what has arrived, then ends the threads; later requests are refused, and so are those
  // not decided within kStopPatience.
  void stop() {
    stop_by_.store((clock_.now() + kStopPatience).time_since_epoch().count());
    mailbox_.close();
    if (thread_.joinable()) thread_.join();
    commits_.stop();
  }

 private:
  struct Write {
    api::Request request;
    server::Reply reply;
  };
  // A message is a write, or nothing: a batch has been committed.
  using Message = std::optional<Write>;

  // A full mailbox makes clients wait (429); it holds a few seconds of work.
  static constexpr std::size_t kMailboxCapacity = 20'000;
  static constexpr Duration kExpireEvery = std::chrono::minutes{1};
  static constexpr Duration kProbeEvery = std::chrono::seconds{1};
  static constexpr Duration kStopPatience = std::chrono::seconds{2};
  // This many requests, or for this long, are decided before looking into the mailbox again and
  // offering the commit thread what there is.
  static constexpr std::size_t kDecideAtOnce = 64;
  static constexpr Duration kDecideFor = std::chrono::milliseconds{1};
  // A commit of this size takes about 20 ms.
  static constexpr std::size_t kBatchBytes = 4U << 20U;

  // A full mailbox wakes by itself.
  void wake() { static_cast<void>(mailbox_.try_push()); }

  void run() {
    name_this_thread("registry");
    expire_at_ = clock_.now() + kExpireEvery;
    while (receive()) {
      const Time now = clock_.now();
      decide(now);
      if (is_late())
        registry_.refuse_unfinished();
      else
        registry_.work();
      if (!commits_.busy() || registry_.staged_bytes() >= kBatchBytes) begin_commit();
      run_maintenance(now);
    }
    while (registry_.unfinished() && !is_late()) registry_.work();
    registry_.refuse_unfinished();
    // Not flush(): that would also empty every namespace that is being deleted, to the end.
    begin_commit();
    finish_commit();
  }

  // Zero if there is more work to do.
  Duration patience() const {
    const bool busy = !waiting_.empty() || registry_.unfinished() || compactor_.due(clock_.now());
    return busy ? Duration{0} : Duration{std::chrono::seconds{1}};
  }

  // The time to stop has passed.
  bool is_late() const {
    const auto stop_by = stop_by_.load();
    return stop_by != 0 && clock_.now().time_since_epoch().count() >= stop_by;
  }

  // Takes in what has arrived. False once nothing more can come, and nothing waits.
  bool receive() {
    if (waiting_.size() >= kMailboxCapacity) return true;  // the mailbox fills up and refuses
    const bool is_open = mailbox_.pop_all(arrived_, patience());
    for (Message& message : arrived_) {
      if (!message) continue;
      const std::string user = message->request.user.name;
      waiting_.push(user, *std::move(message));
    }
    return is_open || !waiting_.empty();
  }

  void decide(Time now) {
    const Time until = now + kDecideFor;
    for (std::size_t i = 0; i < kDecideAtOnce && !waiting_.empty(); ++i) {
      Write write = waiting_.pop();
      if (is_late()) {
        if (write.reply) write.reply(fail(Reason::ServiceUnavailable, "the server is stopping"));
        continue;
      }
      submit(std::move(write), now);
      if (registry_.staged_bytes() >= kBatchBytes || clock_.now() >= until) return;
    }
  }

  void submit(Write write, Time now) {
    if (!compactor_.is_behind())
      return registry_.submit(std::move(write.request), now, std::move(write.reply));
    const std::string user = write.request.user.name;
    if (!pace_.admits(user, now)) {
      Error error = make_error(Reason::TooManyRequests,
                               "the disk does not keep up with what is written: try again later");
      error.retry_after_s = 1;
      if (write.reply) write.reply(fail(std::move(error)));
      return;
    }
    const std::size_t before = registry_.staged_bytes();
    registry_.submit(std::move(write.request), now, std::move(write.reply));
    const std::size_t after = registry_.staged_bytes();
    pace_.charge(user, after > before ? after - before : 0, now);
  }

  void begin_commit() {
    finish_commit();
    std::shared_ptr<server::Batch> batch = registry_.begin_commit();
    if (batch) commits_.begin(std::move(batch));
  }
  void finish_commit() {
    commits_.await();
    registry_.end_commit();
  }

  // Each call does a few milliseconds of it at most.
  void run_maintenance(Time now) {
    if (now >= expire_at_) {
      registry_.expire(now);
      expire_at_ = now + kExpireEvery;
    }
    const bool probes = now >= probe_at_ && store_.health().why_not_writable().has_value();
    if (!probes && !compactor_.due(now)) return;
    finish_commit();
    if (probes) {
      probe_at_ = now + kProbeEvery;
      static_cast<void>(store_.probe());  // its health says how it went
    }
    if (const Result<void> compacted = compactor_.run_once(now); !compacted)
      log(LogLevel::Warning, "cannot compact the store: {}", compacted.error().message);
  }

  server::Registry& registry_;
  store::Store& store_;
  const Clock& clock_;
  Mailbox<Message> mailbox_;
  std::vector<Message> arrived_;
  FairQueue<std::string, Write> waiting_;  // by user
  std::atomic<Time::rep> stop_by_ = 0;     // 0: not asked to stop
  Time expire_at_;
  Time probe_at_ = Time::min();
  store::Compactor compactor_;
  WritePace pace_;
  CommitThread commits_;
  std::thread thread_;
};

}  // namespace muster::app
