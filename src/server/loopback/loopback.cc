#include "server/loopback/loopback.h"

#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "client/known_objects.h"
#include "server/core/request/decode_body.h"

namespace muster::server {
namespace {

using client::Event;

// A watch that heals itself.
//
//   watching ──(Expired)──▶ comparing: a fresh listing against `known_` ──▶ watching
class LoopbackFeed final : public client::Feed {
 public:
  LoopbackFeed(const Server& server, api::Request request, std::function<void()> wake)
      : server_(server), request_(std::move(request)), wake_(std::move(wake)) {
    reopen();
  }

  Poll poll(std::vector<Event>& out, std::size_t max) override {
    for (std::size_t count = 0; count < max;) {
      if (!pending_.empty()) {
        out.push_back(std::move(pending_.front()));
        pending_.pop_front();
        ++count;
        continue;
      }
      Watcher::Next next = open_.watcher->next(max - count);
      if (next.messages.empty() && !next.more) return {.synced = synced_, .more = false};
      for (Watcher::Message& message : next.messages) on_message(std::move(message));
    }
    return {.synced = synced_ && pending_.empty(), .more = true};
  }

 private:
  void reopen() {
    known_.begin_listing();
    open_ = {};
    auto opened = server_.watch(request_, wake_);
    CHECK_THAT(opened.has_value(), "watching {}: {}", request_.kind->plural,
               opened.error().message);
    open_ = std::move(*opened);
  }

  void on_message(Watcher::Message message) {
    if (auto* item = std::get_if<Watcher::Item>(&message)) {
      on_item(std::move(*item));
    } else if (const auto* bookmark = std::get_if<Watcher::Bookmark>(&message)) {
      if (bookmark->initial_events_end) end_listing();
    } else {
      log(LogLevel::Warning, "the feed of {} starts again: {}", request_.kind->plural,
          std::get<Error>(message).message);
      reopen();
    }
  }

  void on_item(Watcher::Item item) {
    if (item.type == store::Change::Type::Deleted)
      known_.remove(std::move(item.object));
    else
      known_.put(std::move(item.object));
  }

  void end_listing() {
    synced_ = true;
    known_.end_listing();
  }

  const Server& server_;
  const api::Request request_;
  const std::function<void()> wake_;
  Server::OpenWatch open_;
  std::deque<Event> pending_;  // found, not yet polled
  client::KnownObjects known_{[this](Event event) { pending_.push_back(std::move(event)); }};
  bool synced_ = false;  // the first listing is complete
};

int code_of(const Result<api::Answer>& answer) {
  if (!answer) return http_code(answer.error().reason);
  if (const auto* status = std::get_if<api::StatusAnswer>(&answer->what)) return status->code;
  if (const auto* document = std::get_if<api::DocumentAnswer>(&answer->what)) return document->code;
  const auto* object = std::get_if<api::ObjectAnswer>(&answer->what);
  return object != nullptr && object->created ? 201 : 200;
}

// The time is real, not the world's: it is measured and decides nothing.
client::Done counted(std::shared_ptr<RequestMeter> meter, const RequestMeter::Labels& labels,
                     client::Done done) {
  return [meter = std::move(meter), labels, done = std::move(done),
          start = std::chrono::steady_clock::now()](Result<api::Answer> answer) {
    meter->count(labels, code_of(answer),
                 std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start));
    done(std::move(answer));
  };
}

}  // namespace

void LoopbackClient::send(api::Request request, client::Done done) {
  request.user = user_;
  if (meter_ != nullptr) done = counted(meter_, RequestMeter::labels_of(request), std::move(done));
  // A body from a component is no better than one from the network: typed and pruned the same way.
  if (request.verb == api::Verb::Create || request.verb == api::Verb::Update) {
    api::ParsedJson parsed{.value = std::exchange(request.body, nullptr), .duplicates = {}};
    if (Result<void> decoded = decode_into(request, std::move(parsed)); !decoded) {
      done(fail(std::move(decoded).error()));
      return;
    }
  }
  server_.handle(std::move(request), std::move(done));
}

std::unique_ptr<client::Feed> LoopbackClient::watch(const api::Kind& kind,
                                                    std::function<void()> wake) {
  api::Request request;
  request.verb = api::Verb::Watch;
  request.kind = &kind;
  request.version = kind.stored_version;
  request.user = user_;
  request.list.allow_bookmarks = true;
  return std::make_unique<LoopbackFeed>(server_, std::move(request), std::move(wake));
}

}  // namespace muster::server
