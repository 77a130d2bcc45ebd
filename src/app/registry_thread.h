#pragma once

#include <thread>
#include <vector>

#include "base/log.h"
#include "base/mailbox.h"
#include "base/time.h"
#include "server/core/registry.h"
#include "server/core/server.h"
#include "store/store.h"

namespace muster::app {

// The one thread that writes: it takes the requests that have arrived, decides them in order,
// commits them with one sync, answers. While it waits for the disk the next batch gathers.
class RegistryThread {
 public:
  RegistryThread(server::Registry& registry, store::Store& store, const Clock& clock)
      : registry_(registry), store_(store), clock_(clock), mailbox_(kMailboxCapacity) {
    thread_ = std::thread([this] { run(); });
  }
  ~RegistryThread() { stop(); }

  // How requests come in, from any thread.
  server::Server::Post post() {
    return [this](api::Request&& request, server::Reply&& reply) {
      Message message{std::move(request), std::move(reply)};
      if (mailbox_.push(std::move(message))) return true;
      // A refused message is untouched; its parts go back to whoever has to answer now.
      request = std::move(message.request);
      reply = std::move(message.reply);
      return false;
    };
  }

  // Answers what has arrived, then ends the thread; later requests are refused.
  void stop() {
    mailbox_.close();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Message {
    api::Request request;
    server::Reply reply;
  };

  // A full mailbox makes clients wait (429); it holds a few seconds of work.
  static constexpr std::size_t kMailboxCapacity = 20'000;
  static constexpr Duration kExpireEvery = std::chrono::minutes{1};
  static constexpr Duration kCompactEvery = std::chrono::minutes{5};

  void run() {
    std::vector<Message> messages;
    Time expire_at = clock_.now() + kExpireEvery;
    Time compact_at = clock_.now() + kCompactEvery;
    api::Revision compact_to = store_.revision();
    while (mailbox_.take(messages, std::chrono::seconds{1})) {
      const Time now = clock_.now();
      for (Message& message : messages)
        registry_.submit(std::move(message.request), now, std::move(message.reply));
      registry_.flush();
      if (now >= expire_at) {
        registry_.expire(now);
        expire_at = now + kExpireEvery;
      }
      if (now < compact_at) continue;
      // Watchers have five minutes to come back to where they were.
      if (const Result<void> compacted = store_.compact(compact_to); !compacted)
        log(LogLevel::Warning, "cannot compact the store: {}", compacted.error().message);
      compact_at = now + kCompactEvery;
      compact_to = store_.revision();
    }
  }

  server::Registry& registry_;
  store::Store& store_;
  const Clock& clock_;
  Mailbox<Message> mailbox_;
  std::thread thread_;
};

}  // namespace muster::app
