#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "app/commit_thread.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/thread_name.h"
#include "base/time.h"
#include "server/core/server.h"
#include "server/core/write/batch.h"
#include "server/core/write/registry.h"
#include "store/store.h"

namespace muster::app {

// The one thread that decides about writes: it takes the requests that have arrived and decides
// them in order. A second thread commits what was decided with one sync and answers; meanwhile the
// next batch gathers and is decided.
class RegistryThread {
 public:
  RegistryThread(server::Registry& registry, store::Store& store, const Clock& clock)
      : registry_(registry),
        store_(store),
        clock_(clock),
        mailbox_(kMailboxCapacity),
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

  // Answers what has arrived, then ends the threads; later requests are refused.
  void stop() {
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
  static constexpr Duration kCompactEvery = std::chrono::minutes{5};

  // A full mailbox wakes by itself.
  void wake() { static_cast<void>(mailbox_.try_push()); }

  void run() {
    name_this_thread("registry");
    std::vector<Message> messages;
    expire_at_ = clock_.now() + kExpireEvery;
    compact_at_ = clock_.now() + kCompactEvery;
    compact_to_ = store_.revision();
    while (mailbox_.pop_all(messages, std::chrono::seconds{1})) {
      const Time now = clock_.now();
      for (Message& message : messages)
        if (message) registry_.submit(std::move(message->request), now, std::move(message->reply));
      if (!commits_.busy()) begin_commit();
      if (now >= expire_at_ || now >= compact_at_) keep_house(now);
    }
    finish_commit();
    registry_.flush();
  }

  void begin_commit() {
    finish_commit();
    std::shared_ptr<server::Batch> batch = registry_.take_batch();
    if (batch) commits_.begin(std::move(batch));
  }
  void finish_commit() {
    commits_.await();
    registry_.committed();
  }

  void keep_house(Time now) {
    finish_commit();
    if (now >= expire_at_) {
      registry_.expire(now);
      expire_at_ = now + kExpireEvery;
    }
    if (now < compact_at_) return;
    // Watchers have five minutes to come back to where they were.
    if (const Result<void> compacted = store_.compact(compact_to_); !compacted)
      log(LogLevel::Warning, "cannot compact the store: {}", compacted.error().message);
    compact_at_ = now + kCompactEvery;
    compact_to_ = store_.revision();
  }

  server::Registry& registry_;
  store::Store& store_;
  const Clock& clock_;
  Mailbox<Message> mailbox_;
  Time expire_at_;
  Time compact_at_;
  api::Revision compact_to_;
  CommitThread commits_;
  std::thread thread_;
};

}  // namespace muster::app
