#include "server/loopback/loopback.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "server/core/request/decode_body.h"

namespace muster::server {
namespace {

using client::Event;

// A watch that heals itself. It knows what it has reported, so that after a gap it can report the
// differences.
//
//   watching ──(Expired)──▶ comparing: a fresh listing against `reported_` ──▶ watching
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
  struct Reported {
    api::ObjectPtr object;
    std::uint64_t round = 0;  // of the listing that last showed it
  };

  void reopen() {
    ++round_;
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
    const std::string key = api::key_text(item.object->meta());
    if (item.type == store::Change::Type::Deleted) {
      if (reported_.erase(key) > 0) report(Event::Type::Deleted, std::move(item.object));
      return;
    }
    Reported& reported = reported_[key];
    const api::ObjectPtr before = std::exchange(reported.object, item.object);
    reported.round = round_;
    if (before && before->revision() == item.object->revision()) return;
    // Deleted and made again while we were not looking: two lives, not one.
    const bool reborn = before && before->meta().uid != item.object->meta().uid;
    if (reborn) report(Event::Type::Deleted, before);
    report(before && !reborn ? Event::Type::Modified : Event::Type::Added, std::move(item.object));
  }

  // A listing is complete: what it did not show is gone, and reported so in the order of the keys.
  void end_listing() {
    synced_ = true;
    std::vector<std::string> gone;
    for (const auto& [key, reported] : reported_)
      if (reported.round != round_) gone.push_back(key);
    std::ranges::sort(gone);
    for (const std::string& key : gone) {
      const auto at = reported_.find(key);
      report(Event::Type::Deleted, std::move(at->second.object));
      reported_.erase(at);
    }
  }

  void report(Event::Type type, api::ObjectPtr object) {
    pending_.push_back({.type = type, .object = std::move(object)});
  }

  const Server& server_;
  const api::Request request_;
  const std::function<void()> wake_;
  Server::OpenWatch open_;
  boost::unordered_flat_map<std::string, Reported> reported_;  // by namespace/name
  std::deque<Event> pending_;                                  // found, not yet polled
  std::uint64_t round_ = 0;                                    // counts listings
  bool synced_ = false;                                        // the first listing is complete
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
