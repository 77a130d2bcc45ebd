#include "controllers/common/writing_controller.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace muster::controllers {
namespace {

// How many bytes of requests may be under way before batches, and then looks, have to wait. Looks
// have as much again for themselves: batches that always want more cannot keep them out.
constexpr std::size_t kBatchBytesMax = 16UL << 20U;
constexpr std::size_t kLookBytesMax = 2 * kBatchBytesMax;
// The same in calls. The last in line waits for what was sent before.
constexpr std::size_t kBatchCallsMax = client::Controller::kCallsMax / 2;
// What a batch sends before it is another's turn.
constexpr std::size_t kTurnBytes = 1UL << 20U;
constexpr std::size_t kTurnCalls = 100;
constexpr Duration kRoomPause = std::chrono::milliseconds{100};

}  // namespace

void WritingController::begin_look(const std::string& key) {
  failing_.erase(key);
  own_writes_.begin_look(key);
}

bool WritingController::waits(const std::string& key, Time now) {
  std::optional<Time> until = own_writes_.wait_until(key, now);
  if (!until && bytes_under_way_ >= kLookBytesMax) until = now + kRoomPause;
  if (until) work().add_at(*until, key);
  return until.has_value();
}

void WritingController::showed(const std::string& key, const Change& change) {
  if (own_writes_.showed(key, change.newest(),
                         {.gone = change.after == nullptr, .under_way = work().is_held(key)}))
    work().add(key, change.at);
}

WritingController::Keys WritingController::showed_itself(const Change& change) {
  std::string key = api::key_text(change.newest().meta());
  showed(key, change);
  return {std::move(key)};
}

void WritingController::write_call(const std::string& key, api::Request request, Also also) {
  write_counted(key, std::move(request), std::move(also));
}

std::size_t WritingController::write_counted(const std::string& key, api::Request request,
                                             Also also) {
  const std::size_t bytes = client::bytes_of(request.body);
  bytes_under_way_ += bytes;
  ++writes_under_way_;
  call(key, std::move(request),
       [this, key, bytes, also = std::move(also)](const client::Outcome& outcome, Time now) {
         bytes_under_way_ -= bytes;
         --writes_under_way_;
         on_written(key, outcome, now);
         if (also) also(outcome, now);
         send_waiting();
       });
  return bytes;
}

struct WritingController::Batch {
  std::string key;
  Writes writes;
  OnEach on_each;
  std::size_t next = 0;  // not sent yet
  std::size_t size = 1;  // of the batch that is under way
  std::size_t end = 1;   // where it ends
  std::size_t under_way = 0;
  bool failed = false;
};

void WritingController::write_in_batches(const std::string& key, Writes writes, OnEach on_each) {
  if (writes.count == 0) return;
  const auto batch = std::make_shared<Batch>();
  batch->key = key;
  batch->writes = std::move(writes);
  batch->on_each = std::move(on_each);
  // Until the end: it may have to wait for its turn with no call under way.
  work().hold(key);
  wait_for_turn(batch);
  send_waiting();
}

void WritingController::write_later(const std::string& key, std::function<api::Request()> make,
                                    Also also) {
  write_in_batches(key,
                   {.count = 1,
                    .start_making = [make = std::move(make)]() -> Make {
                      return [&make](std::size_t) { return make(); };
                    }},
                   [also = std::move(also)](std::size_t, const client::Outcome& outcome, Time now) {
                     if (also) also(outcome, now);
                     return false;  // on_written() has decided whether to try again
                   });
}

bool WritingController::has_room() const {
  return bytes_under_way_ < kBatchBytesMax && writes_under_way_ < kBatchCallsMax;
}

void WritingController::wait_for_turn(const BatchPtr& batch) {
  waiting_.push(std::string(client::split_key(batch->key).name_space), batch);
}

// If there are some, calls are under way: the next answer brings us back.
void WritingController::send_waiting() {
  if (std::exchange(sending_, true)) return;  // an answer that came at once
  while (!waiting_.empty() && has_room()) send_some(waiting_.pop());
  sending_ = false;
}

void WritingController::send_some(const BatchPtr& batch) {
  if (batch->failed) return;
  // Answers may come before the last call is made, and move the end.
  const std::size_t end = batch->end;
  const Make make = batch->writes.start_making();
  const std::size_t turn_end = std::min(end, batch->next + kTurnCalls);
  std::size_t bytes = 0;
  while (batch->next < turn_end && bytes < kTurnBytes && has_room()) {
    const std::size_t at = batch->next++;
    ++batch->under_way;
    bytes += write_counted(batch->key, make(at),
                           [this, batch, at](const client::Outcome& outcome, Time now) {
                             on_batched(batch, at, outcome, now);
                           });
    if (batch->failed) return;
  }
  if (batch->next < end) wait_for_turn(batch);
}

void WritingController::on_batched(const BatchPtr& batch, std::size_t index,
                                   const client::Outcome& outcome, Time now) {
  if (batch->on_each(index, outcome, now)) batch->failed = true;
  if (--batch->under_way > 0) return;
  if (batch->failed) retry_once(batch->key, now);
  if (batch->failed || batch->next == batch->writes.count) return work().release(batch->key, now);
  if (batch->next < batch->end) return;  // it waits for its turn
  batch->size = batch->writes.all_after_first ? batch->writes.count : batch->size * 2;
  batch->end = std::min(batch->writes.count, batch->next + batch->size);
  wait_for_turn(batch);
}

void WritingController::on_written(const std::string& key, const client::Outcome& outcome,
                                   Time now) {
  if (!outcome) {
    // What is gone needs nothing more: the feed will show it.
    if (outcome.error().reason != Reason::NotFound) retry_once(key, now);
    return;
  }
  if (const auto* answer = std::get_if<api::ObjectAnswer>(&outcome->what)) {
    const api::Object& object = *answer->object;
    const client::Mirror* mirror = mirror_of(object.kind());
    const api::ObjectPtr shown =
        mirror == nullptr ? nullptr : mirror->find(object.meta().name_space, object.meta().name);
    const bool seen = shown != nullptr && shown->meta().uid == object.meta().uid &&
                      shown->revision() >= answer->revision;
    if (mirror != nullptr && !seen)
      own_writes_.wrote(key, object.meta().uid, answer->revision, now);
  }
  // If the feeds were faster than the answer, nothing else would lead to the next look.
  if (!waits(key, now)) work().add(key, now);
}

void WritingController::retry_once(const std::string& key, Time now) {
  if (failing_.insert(key).second) work().retry(key, now);
}

bool is_name_space_ending(const Error& error) {
  return std::ranges::any_of(
      error.causes, [](const Cause& cause) { return cause.type == "NamespaceTerminating"; });
}

}  // namespace muster::controllers
